//! Where chains are moved.

use crate::gpu::GpuConfig;
use octopus_cuda::Context;

/// Where chains are moved: on the CPU or on GPUs. In f64 both give the same bits.
#[derive(Clone, Copy, Debug, Default)]
pub enum Backend<'a> {
    /// The CPU: the threads of the current rayon pool.
    #[default]
    Cpu,
    /// The GPUs that share the chains or data sets in proportion to their multiprocessors, and the settings of each
    /// GPU.
    Gpus(&'a [Context], &'a GpuConfig),
}

impl<'a> Backend<'a> {
    /// Returns the backend of one GPU.
    pub fn gpu(context: &'a Context, config: &'a GpuConfig) -> Self {
        Self::Gpus(std::slice::from_ref(context), config)
    }
}
