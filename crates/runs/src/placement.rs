//! The place where a run's chains are: the CPU's threads, or GPUs, with fewer chains at once where memory is short.

use crate::RunError;
use octopus_density::LogDensity;
use octopus_device::{CudaError, Device};
use octopus_sampler::{
    Backend, BatchSampler, Begin, DataSet, GpuConfig, GpuNote, Sampler, SamplerConfig, SamplerError,
};

/// A place on which chains can run.
#[derive(Clone, Debug)]
pub enum Placement {
    /// The CPU.
    Cpu,
    /// GPUs that are ready; chains or data sets are divided among them.
    Gpus(Vec<octopus_device::CudaContext>, GpuConfig),
}

impl Placement {
    /// Makes devices ready. Without a GPU among them, the place is the CPU.
    ///
    /// # Errors
    /// [`RunError::NoDevice`] when a device cannot be opened.
    pub fn open(devices: &[Device]) -> Result<Self, RunError> {
        let _span = tracing::debug_span!("open the devices").entered();
        let contexts = devices.iter().filter_map(|&device| context_on(device).transpose());
        let contexts = contexts.collect::<Result<Vec<_>, RunError>>()?;
        Ok(if contexts.is_empty() { Self::Cpu } else { Self::Gpus(contexts, GpuConfig::default()) })
    }

    /// Returns the place from which a run in f64 goes on on the CPU when the last GPU fails.
    #[must_use]
    pub fn with_cpu_fallback(self) -> Self {
        match self {
            Self::Cpu => Self::Cpu,
            Self::Gpus(contexts, config) => Self::Gpus(contexts, GpuConfig { cpu_fallback: true, ..config }),
        }
    }

    /// Returns whether the place is the CPU.
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
    pub fn begin<'d>(&self, density: &'d dyn LogDensity, begin: Begin) -> Result<Sampler<'d>, SamplerError> {
        Sampler::begin(density, begin, self.backend())
    }

    /// Makes the chains of a new run at their starting points. Notes on the devices, e.g. that memory is short, are
    /// logged as warnings.
    ///
    /// # Errors
    /// When [`Sampler::begin`] fails: the configuration is invalid, the checkpoint does not fit, or a device fails.
    pub fn start<'d>(&self, density: &'d dyn LogDensity, config: &SamplerConfig) -> Result<Sampler<'d>, SamplerError> {
        let mut sampler = self.begin(density, Begin::Anew(config.clone()))?;
        warn("", sampler.take_notes());
        Ok(sampler)
    }

    /// Makes the runs of many data sets; the CPU moves at most `on_cpu` of them at once.
    ///
    /// # Errors
    /// When [`BatchSampler::begin`] fails, e.g. because the device does.
    pub fn batch<'d>(&self, sets: &[DataSet<'d>], on_cpu: usize) -> Result<BatchSampler<'d>, SamplerError> {
        let at_once = if self.is_cpu() { on_cpu } else { sets.len() };
        BatchSampler::begin(sets, at_once, self.backend())
    }
}

/// Logs notes on devices as warnings; `what` is the text before each note.
pub fn warn(what: &str, notes: Vec<GpuNote>) {
    notes.into_iter().for_each(|note| tracing::warn!("{what}{note}"));
}

/// Returns what a run's record says of a note, after the reason for its device; `None` for notes that change no device.
pub fn recorded(note: &GpuNote) -> Option<String> {
    match note {
        GpuNote::Turns { .. } => None,
        GpuNote::GivenUp { device, .. } => Some(format!("; cuda:{device} was given up")),
        GpuNote::LeftToCpu { .. } => Some("; no GPU was left, and the CPU went on".to_owned()),
    }
}

/// Returns the settings that are tried one after the other while the device's memory does not suffice.
pub fn turns(config: &GpuConfig, chains: usize) -> impl Iterator<Item = GpuConfig> + use<> {
    std::iter::successors(Some(config.first_turn(chains)), GpuConfig::shorter_turn)
}

fn context_on(device: Device) -> Result<Option<octopus_device::CudaContext>, RunError> {
    device.context().map_err(|error: CudaError| RunError::NoDevice(format!("{device}: {error}; see `octopus verify`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_begin_with_all_chains_and_are_halved() {
        let config = GpuConfig { slot_bytes: 1000, ..GpuConfig::default() };
        let tried: Vec<_> = turns(&config, 5).map(|turn| (turn.chains_at_once, turn.slot_bytes)).collect();
        assert_eq!(tried, [(5, 1000), (2, 500), (1, 250)]);
    }

    #[test]
    fn chains_are_where_the_place_is() {
        let cpu = Placement::open(&[Device::Cpu]).unwrap();
        assert!(cpu.is_cpu() && matches!(cpu.backend(), Backend::Cpu));
        let gpus = Placement::Gpus(Vec::new(), GpuConfig::default());
        assert!(!gpus.is_cpu() && matches!(gpus.backend(), Backend::Gpus([], _)));
        assert!(cpu.with_cpu_fallback().is_cpu());
    }

    #[test]
    fn what_falls_back_keeps_its_other_settings() {
        let config = GpuConfig { slot_bytes: 1000, chains_at_once: 7, cpu_fallback: false, ..GpuConfig::default() };
        let Placement::Gpus(_, found) = Placement::Gpus(Vec::new(), config.clone()).with_cpu_fallback() else {
            panic!()
        };
        assert!(found.cpu_fallback && (found.slot_bytes, found.chains_at_once) == (1000, 7), "{found:?}");
    }
}
