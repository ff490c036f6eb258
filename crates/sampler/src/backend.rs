//! Where chains are moved.

use crate::gpu::GpuConfig;
use octopus_cuda::Context;

/// Where chains are moved: on the CPU or on GPUs. In f64 both give the same bits.
#[derive(Clone, Copy, Debug, Default)]
pub enum Backend<'a> {
    /// The CPU: the threads of the current rayon pool.
    #[default]
    Cpu,
    /// GPUs, over which chains or data sets are divided by their multiprocessors, with settings for each of them.
    Gpus(&'a [Context], &'a GpuConfig),
}

impl<'a> Backend<'a> {
    /// One GPU.
    pub fn gpu(context: &'a Context, config: &'a GpuConfig) -> Self {
        Self::Gpus(std::slice::from_ref(context), config)
    }
}
