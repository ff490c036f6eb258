//! Where a run's chains are: on the CPU's threads, on a GPU, or on several.

use crate::exit::HardwareError;
use anyhow::Result;
use octopus_density::HierarchicalNormal;
use octopus_density::gpu::GpuDensity;
use octopus_device::{CudaError, Device, fallback::Failure, fallback::FallbackError, fallback::FallbackStep};
use octopus_sampler::{BatchSampler, DataSet, GpuConfig, GpuNote, Sampler, SamplerConfig, SamplerError};

/// A place that can be asked for chains.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// The CPU.
    Cpu,
    /// A GPU.
    Gpu(Gpu),
    /// Several GPUs, over which chains or data sets are divided.
    Gpus(Vec<octopus_device::CudaContext>, GpuConfig),
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
        let context = context_on(device)?;
        Ok(context.map_or(Self::Cpu, |context| Self::Gpu(Gpu { device, context, config: GpuConfig::default() })))
    }

    /// Makes several GPUs ready.
    ///
    /// # Errors
    /// [`HardwareError`] when one cannot be had.
    pub(crate) fn open_all(devices: &[Device]) -> Result<Self> {
        let contexts = devices.iter().filter_map(|&device| context_on(device).transpose()).collect::<Result<_>>()?;
        Ok(Self::Gpus(contexts, GpuConfig::default()))
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
            Self::Gpus(contexts, gpu) => Sampler::on_gpus(model, config.clone(), contexts, gpu),
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
        let Gpu { device, context, config } = match self {
            Self::Cpu => return Ok(BatchSampler::new(sets, on_cpu)),
            Self::Gpus(contexts, gpu) => return BatchSampler::on_gpus(sets, sets.len(), contexts, gpu),
            Self::Gpu(gpu) => gpu,
        };
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
            Self::Gpus(contexts, gpu) => Sampler::resume_on_gpus(model, state, contexts, gpu),
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
        let mut config = self.config.first_turn(chains);
        loop {
            let error = match attempt(&self.context, &config) {
                Err(SamplerError::Device(error)) if error.failure() == Failure::TooLarge => error,
                other => return other,
            };
            let Some(next) = config.shorter_turn() else { return Err(error.into()) };
            let (from, to) = (config.chains_at_once as u64, next.chains_at_once as u64);
            say(&FallbackStep::SmallerBatches { device: self.device, from, to, cause: error.to_string() });
            config = next;
        }
    }
}

/// What is tried one after the other when memory does not suffice.
pub(crate) fn turns(config: &GpuConfig, chains: usize) -> impl Iterator<Item = GpuConfig> {
    std::iter::successors(Some(config.first_turn(chains)), GpuConfig::shorter_turn)
}

fn context_on(device: Device) -> Result<Option<octopus_device::CudaContext>> {
    Ok(device
        .context()
        .map_err(|error: CudaError| HardwareError(format!("{device}: {error}; see `octopus verify`")))?)
}

/// What became of one of several devices, in words that other steps away from a plan have too.
pub(crate) fn step(note: GpuNote) -> FallbackStep {
    match note {
        GpuNote::Turns { device, from, to, cause } => FallbackStep::SmallerBatches {
            device: Device::Cuda(device),
            from: from as u64,
            to: to as u64,
            cause: cause.to_string(),
        },
        GpuNote::GivenUp { device, cause } => {
            FallbackStep::OtherDevices { from: Device::Cuda(device), cause: cause.to_string() }
        }
    }
}
