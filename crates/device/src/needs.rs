//! The needs of a program (CUDA version, compute capability, free memory), against which devices are checked.
//!
//! Octopus's own kernels have their needs (`MINIMUM_FREE_MEMORY`, ...) as constants of `lib.rs`.

use crate::{MINIMUM_COMPUTE_CAPABILITY, MINIMUM_CUDA, MINIMUM_FREE_MEMORY, Version};

/// What a program needs of a device; [`Default`] is what Octopus's own kernels need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The oldest CUDA version of the driver.
    pub cuda: Version,
    /// The oldest compute capability.
    pub compute_capability: Version,
    /// The version of the PTX that the driver must compile.
    pub ptx: Version,
    /// Free device memory in bytes.
    pub free_memory: u64,
    /// The one device to judge, by NVML's index; `None` judges all that this process may use.
    pub device: Option<u32>,
    /// Whether other processes on the device spoil the purpose, as they do for timings.
    pub quiet: bool,
}

impl Default for Needs {
    fn default() -> Self {
        Self {
            cuda: MINIMUM_CUDA,
            compute_capability: MINIMUM_COMPUTE_CAPABILITY,
            ptx: Version { major: 8, minor: 4 },
            free_memory: MINIMUM_FREE_MEMORY,
            device: None,
            quiet: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::cuda_for_ptx;

    #[test]
    fn the_defaults_agree_with_each_other() {
        let needs = Needs::default();
        assert_eq!(cuda_for_ptx(needs.ptx), Some(needs.cuda));
    }
}
