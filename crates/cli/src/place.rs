//! Where a run's chains are: on the CPU's threads, or on a GPU.

use crate::exit::HardwareError;
use anyhow::Result;
use octopus_density::HierarchicalNormal;
use octopus_density::gpu::GpuDensity;
use octopus_device::{CudaError, Device, fallback::Failure, fallback::FallbackError, fallback::FallbackStep};
use octopus_sampler::{BatchSampler, DataSet, GpuConfig, Sampler, SamplerConfig, SamplerError};

/// A place that can be asked for chains.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// The CPU.
    Cpu,
    /// A GPU.
    Gpu(Gpu),
}

/// A GPU that is ready.
#[derive(Clone, Debug)]
pub(crate) struct Gpu {
    device: Device,
    context: octopus_device::CudaContext,
    config: GpuConfig,
}

impl Place {
    /// Makes a device ready.
    ///
    /// # Errors
    /// [`HardwareError`] when it cannot be had.
    pub(crate) fn open(device: Device) -> Result<Self> {
        let failed = |error: CudaError| HardwareError(format!("{device}: {error}; see `octopus verify`"));
        let context = device.context().map_err(failed)?;
        Ok(context.map_or(Self::Cpu, |context| Self::Gpu(Gpu { device, context, config: GpuConfig::default() })))
    }

    /// Chains at their starting points. Where the device's memory is too small for all at once, they take turns, and
    /// `say` is told.
    ///
    /// # Errors
    /// When a setting is out of range, or the density or the device fails.
    pub(crate) fn start<'d>(
        &self,
        model: &'d HierarchicalNormal,
        config: &SamplerConfig,
        say: &mut dyn FnMut(&FallbackStep),
    ) -> Result<Sampler<'d, HierarchicalNormal>, SamplerError> {
        match self {
            Self::Cpu => Sampler::new(model, config.clone()),
            Self::Gpu(gpu) => {
                gpu.in_turns(config.chains, say, |context, gpu| Sampler::on_gpu(model, config.clone(), context, gpu))
            }
        }
    }

    /// Runs of many data sets, of which the CPU moves at most `on_cpu` at once. Where a GPU's memory is too small for all,
    /// they take turns, and `say` is told.
    ///
    /// # Errors
    /// When the device fails.
    pub(crate) fn batch<'d, D: GpuDensity>(
        &self,
        sets: &[DataSet<'d, D>],
        on_cpu: usize,
        say: &mut dyn FnMut(&FallbackStep),
    ) -> Result<BatchSampler<'d, D>, SamplerError> {
        let Self::Gpu(Gpu { device, context, config }) = self else { return Ok(BatchSampler::new(sets, on_cpu)) };
        let mut at_once = sets.len();
        loop {
            let error = match BatchSampler::on_gpu(sets, at_once, context, config) {
                Err(SamplerError::Device(error)) if error.failure() == Failure::TooLarge && at_once > 1 => error,
                other => return other,
            };
            let (from, to) = (at_once as u64, at_once as u64 / 2);
            say(&FallbackStep::SmallerBatches { device: *device, from, to, cause: error.to_string() });
            at_once /= 2;
        }
    }

    /// Chains where a checkpoint of `chains` chains has left them; else as [`start`](Self::start).
    ///
    /// # Errors
    /// When the checkpoint is damaged or of another density, or the device fails.
    pub(crate) fn resume<'d>(
        &self,
        model: &'d HierarchicalNormal,
        state: &[u8],
        chains: usize,
        say: &mut dyn FnMut(&FallbackStep),
    ) -> Result<Sampler<'d, HierarchicalNormal>, SamplerError> {
        match self {
            Self::Cpu => Sampler::resume(model, state),
            Self::Gpu(gpu) => {
                gpu.in_turns(chains, say, |context, gpu| Sampler::resume_on_gpu(model, state, context, gpu))
            }
        }
    }
}

impl Gpu {
    /// Half as many chains at once, as long as memory is what is missing.
    fn in_turns<R>(
        &self,
        chains: usize,
        say: &mut dyn FnMut(&FallbackStep),
        mut attempt: impl FnMut(&octopus_device::CudaContext, &GpuConfig) -> Result<R, SamplerError>,
    ) -> Result<R, SamplerError> {
        let mut config = first_turn(&self.config, chains);
        loop {
            let error = match attempt(&self.context, &config) {
                Err(SamplerError::Device(error)) if error.failure() == Failure::TooLarge => error,
                other => return other,
            };
            let Some(next) = shorter_turn(&config) else { return Err(error.into()) };
            let (from, to) = (config.chains_at_once as u64, next.chains_at_once as u64);
            say(&FallbackStep::SmallerBatches { device: self.device, from, to, cause: error.to_string() });
            config = next;
        }
    }
}

/// What is tried one after the other when memory does not suffice.
pub(crate) fn turns(config: &GpuConfig, chains: usize) -> impl Iterator<Item = GpuConfig> {
    std::iter::successors(Some(first_turn(config, chains)), shorter_turn)
}

fn first_turn(config: &GpuConfig, chains: usize) -> GpuConfig {
    GpuConfig { chains_at_once: config.chains_at_once.min(chains), ..config.clone() }
}

/// Half as many of the chains at once, and half the buffers for draws.
fn shorter_turn(last: &GpuConfig) -> Option<GpuConfig> {
    let (chains_at_once, slot_bytes) = (last.chains_at_once / 2, last.slot_bytes / 2);
    (chains_at_once > 0).then(|| GpuConfig { chains_at_once, slot_bytes, ..last.clone() })
}
