//! Where a run's chains are: on the CPU's threads, or on GPUs.

use crate::RunError;
use octopus_density::LogDensity;
use octopus_device::{CudaError, Device};
use octopus_sampler::{
    Backend, BatchSampler, Begin, DataSet, GpuConfig, GpuNote, Sampler, SamplerConfig, SamplerError,
};

/// A place that can be asked for chains.
#[derive(Clone, Debug)]
pub enum Placement {
    /// The CPU.
    Cpu,
    /// GPUs that are ready, over which chains or data sets are divided.
    Gpus(Vec<octopus_device::CudaContext>, GpuConfig),
}

impl Placement {
    /// Makes devices ready.
    ///
    /// # Errors
    /// [`RunError::NoDevice`] when one cannot be had.
    pub fn open(devices: &[Device]) -> Result<Self, RunError> {
        let contexts = devices.iter().filter_map(|&device| context_on(device).transpose());
        let contexts = contexts.collect::<Result<Vec<_>, RunError>>()?;
        Ok(if contexts.is_empty() { Self::Cpu } else { Self::Gpus(contexts, GpuConfig::default()) })
    }

    /// Whether the chains are on the CPU.
    pub fn is_cpu(&self) -> bool {
        matches!(self, Self::Cpu)
    }

    fn backend(&self) -> Backend<'_> {
        match self {
            Self::Cpu => Backend::Cpu,
            Self::Gpus(contexts, config) => Backend::Gpus(contexts, config),
        }
    }

    /// Makes the chains of a run here, new or from a checkpoint: [`Sampler::begin`] on this place.
    ///
    /// # Errors
    /// When [`Sampler::begin`] fails: the configuration is invalid, the checkpoint does not fit, or a device fails.
    pub fn begin<'d, D: LogDensity + ?Sized>(
        &self,
        density: &'d D,
        begin: Begin,
    ) -> Result<Sampler<'d, D>, SamplerError> {
        Sampler::begin(density, begin, self.backend())
    }

    /// Chains at their starting points. What becomes of the devices until then is a warning.
    ///
    /// # Errors
    /// When [`Sampler::begin`] fails: the configuration is invalid, the checkpoint does not fit, or a device fails.
    pub fn start<'d, D: LogDensity + ?Sized>(
        &self,
        density: &'d D,
        config: &SamplerConfig,
    ) -> Result<Sampler<'d, D>, SamplerError> {
        let mut sampler = self.begin(density, Begin::Anew(config.clone()))?;
        warn("", sampler.take_notes());
        Ok(sampler)
    }

    /// Runs of many data sets, of which the CPU moves at most `on_cpu` at once. What becomes of the devices until then is a
    /// warning.
    ///
    /// # Errors
    /// When the device fails.
    pub fn batch<'d, D: LogDensity + ?Sized>(
        &self,
        sets: &[DataSet<'d, D>],
        on_cpu: usize,
    ) -> Result<BatchSampler<'d, D>, SamplerError> {
        let at_once = if self.is_cpu() { on_cpu } else { sets.len() };
        let mut batch = BatchSampler::begin(sets, at_once, self.backend())?;
        warn("data sets: ", batch.take_notes());
        Ok(batch)
    }
}

/// Says what became of devices; `what` is there.
pub fn warn(what: &str, notes: Vec<GpuNote>) {
    notes.into_iter().for_each(|note| tracing::warn!("{what}{note}"));
}

/// What is tried one after the other when memory does not suffice.
pub fn turns(config: &GpuConfig, chains: usize) -> impl Iterator<Item = GpuConfig> {
    std::iter::successors(Some(config.first_turn(chains)), GpuConfig::shorter_turn)
}

fn context_on(device: Device) -> Result<Option<octopus_device::CudaContext>, RunError> {
    device.context().map_err(|error: CudaError| RunError::NoDevice(format!("{device}: {error}; see `octopus verify`")))
}
