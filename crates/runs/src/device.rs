//! The choice of the device that samples, with its reason, and when the CPU takes the place of a GPU (fallback).

use crate::RunError;
use crate::{Placement, RunCost};
use octopus_density::gpu::Precision;
use octopus_device::{
    Accelerators, CostsCache, CostsMiss, Device, DeviceChoice, DeviceCosts, DeviceRequest, Overall, Probe,
    SystemProvider, VerifyReport, device_names, resolve,
};

/// The decision on the device that samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceDecision {
    /// The device; of several devices, the first.
    pub device: Device,
    /// The further devices, if several were asked for.
    pub others: Vec<Device>,
    /// The reason for the decision, in one line.
    pub reason: String,
    /// Lines for the user. A device that the user named, and that is there and sound, needs no line.
    pub notes: Vec<String>,
    /// Whether the user named the device.
    pub is_asked_for: bool,
    /// Whether the CPU goes on with the work when the last GPU fails: it can, and the user did not forbid it.
    pub falls_back: bool,
}

impl DeviceDecision {
    /// Returns the name of the devices in records: `cpu`, `cuda:0`, `cuda:0,1`.
    pub fn name(&self) -> String {
        device_names(&self.devices())
    }

    fn devices(&self) -> Vec<Device> {
        std::iter::once(self.device).chain(self.others.iter().copied()).collect()
    }

    /// Makes the devices ready. The CPU takes the place of a GPU that cannot be opened, where the user has not named
    /// the GPU; the decision is changed then.
    ///
    /// # Errors
    /// [`RunError::NoDevice`] when a device cannot be opened.
    pub fn open(&mut self) -> Result<Placement, RunError> {
        match Placement::open(&self.devices()) {
            Ok(place) if self.falls_back => Ok(place.with_cpu_fallback()),
            Err(RunError::NoDevice(why)) if self.falls_back && !self.is_asked_for => {
                let notes = vec![format!("device: cpu ({why})")];
                *self = Self { device: Device::Cpu, others: vec![], reason: why, notes, ..*self };
                Ok(Placement::Cpu)
            }
            other => other,
        }
    }
}

/// The devices among which a choice is made.
pub struct DeviceInventory {
    asked: DeviceRequest,
    pub(crate) accelerators: Accelerators,
    driver_version: Option<String>,
}

impl DeviceInventory {
    /// Looks for devices, as far as they matter for the device that is asked for.
    pub fn look(asked: DeviceRequest) -> Self {
        // Asking a driver takes time and starts the device, so it is asked only where the answer matters.
        let probe = (asked.choice != DeviceChoice::Cpu).then(|| Probe::new(&SystemProvider::new()));
        let accelerators = probe.as_ref().map_or(Accelerators { devices: 0, unusable: None }, Accelerators::of);
        let driver_version = probe.and_then(|probe| probe.nvml.ok()?.driver_version);
        Self { asked, accelerators, driver_version }
    }

    /// Returns the device that is asked for.
    pub fn asked(&self) -> DeviceChoice {
        self.asked.choice
    }

    /// Returns the measured costs of a device.
    ///
    /// # Errors
    /// When the costs have not been measured with this driver, or their file is damaged.
    pub fn device_costs(&self, ordinal: u32) -> Result<DeviceCosts, CostsMiss> {
        match CostsCache::of_user() {
            Ok(cache) => cache.load_for_device(ordinal, self.driver_version.as_deref()),
            Err(error) => Err(CostsMiss::Missing { path: error.to_string().into() }),
        }
    }

    /// Chooses the device for a run.
    ///
    /// # Errors
    /// [`RunError::NoDevice`] when a GPU is asked for and cannot be used, or with `no_fallback` when a GPU is there and
    /// fails its checks; [`RunError::CannotRun`] when the device cannot do the run.
    pub fn choose(&self, cost: &RunCost, no_fallback: bool) -> Result<DeviceDecision, RunError> {
        let mut device_costs = |ordinal| self.device_costs(ordinal);
        let Self { asked: DeviceRequest { choice, note, .. }, accelerators, .. } = self;
        let mut sampling =
            decide(*choice, accelerators, cost, no_fallback, &mut device_costs).map_err(RunError::NoDevice)?;
        cost.fits(sampling.device)?;
        sampling.notes.splice(0..0, note.clone());
        tracing::info!(device = %sampling.name(), "the device is chosen: {}", sampling.reason);
        Ok(sampling)
    }
}

/// Decides on the device, or returns the reason why the device that is asked for cannot sample.
fn decide(
    choice: DeviceChoice,
    accelerators: &Accelerators,
    cost: &RunCost,
    no_fallback: bool,
    device_costs: &mut dyn FnMut(u32) -> Result<DeviceCosts, CostsMiss>,
) -> Result<DeviceDecision, String> {
    if let (DeviceChoice::Auto, true, 1.., Some(unusable)) =
        (choice, no_fallback, accelerators.devices, &accelerators.unusable)
    {
        return Err(format!("--no-fallback: a GPU is there and cannot be used: {unusable}; or use --device cpu"));
    }
    let falls_back = !no_fallback && cost.precision == Precision::F64;
    if let (DeviceChoice::Auto, 1.., None) = (choice, accelerators.devices, &accelerators.unusable) {
        // Where only the CPU or only a GPU can do the run, costs do not matter.
        let only = match (&cost.no_gpu, cost.precision) {
            (Some(why), _) => Some((Device::Cpu, why.clone())),
            (None, Precision::F64) => None,
            (None, precision) => Some((Device::Cuda(0), format!("only GPUs compute in {precision}"))),
        };
        if let Some((device, reason)) = only {
            let notes = vec![format!("device: {device} ({reason})")];
            return Ok(DeviceDecision { device, others: vec![], reason, notes, is_asked_for: false, falls_back });
        }
    }
    let selection = resolve(choice, accelerators, &cost.work, device_costs).map_err(|error| match choice {
        DeviceChoice::Auto | DeviceChoice::Cpu => error.to_string(),
        DeviceChoice::Cuda(_) | DeviceChoice::Several(_) | DeviceChoice::All => {
            format!("{error}, and see `octopus verify`")
        }
    })?;
    // A device that was asked for and is there needs no words.
    let quiet = choice != DeviceChoice::Auto;
    // The reason begins with the device, or the work and the device, which are cut off here.
    let reason = selection.reason.splitn(2, ": ").last().unwrap_or_default().to_owned();
    let named = (!quiet).then(|| format!("device: {} ({reason})", selection.device));
    let notes = named.into_iter().chain(selection.notes).collect();
    let (device, others) = (selection.device, selection.others);
    Ok(DeviceDecision { device, others, reason, notes, is_asked_for: quiet, falls_back })
}

/// Returns the reason why no GPU samples on this machine, as a clause.
pub fn no_gpu(report: &VerifyReport) -> String {
    match report.overall {
        Overall::Absent => report.summary.split(';').next().unwrap_or_default().to_owned(),
        Overall::Broken | Overall::Fit => report.summary.clone(),
    }
}

/// Functions that read and write a [`DeviceChoice`] as text in files of settings, for `#[serde(with = ...)]`.
pub mod choice_text {
    use octopus_device::DeviceChoice;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes a choice.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn serialize<S: Serializer>(choice: &DeviceChoice, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(choice)
    }

    /// Reads a choice.
    ///
    /// # Errors
    /// When the text names no device.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DeviceChoice, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::{NoProvider, ScriptedProvider, Work, verify};

    #[test]
    fn what_is_asked_for_is_told() {
        for choice in [DeviceChoice::Auto, DeviceChoice::Cpu] {
            let asked = DeviceRequest { choice, source: octopus_device::Source::Flag, note: None };
            assert_eq!(DeviceInventory { asked, accelerators: absent(), driver_version: None }.asked(), choice);
        }
    }

    fn absent() -> Accelerators {
        Accelerators::of(&Probe::new(&NoProvider))
    }

    fn present() -> Accelerators {
        Accelerators::of(&Probe::new(&ScriptedProvider::healthy()))
    }

    fn broken() -> Accelerators {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml.as_mut().unwrap().devices[0].compute_mode = Some(octopus_device::ComputeMode::Prohibited);
        Accelerators::of(&Probe::new(&machine))
    }

    fn decided(choice: &str, accelerators: &Accelerators, no_fallback: bool) -> Result<DeviceDecision, String> {
        let mut none = |_| Err(CostsMiss::Missing { path: "c.json".into() });
        decide(choice.parse().unwrap(), accelerators, &cost(), no_fallback, &mut none)
    }

    fn cost() -> RunCost {
        RunCost { work: Work::new("a run"), no_gpu: None, precision: Precision::F64 }
    }

    #[test]
    fn auto_takes_the_only_device_that_can_do_the_run() {
        let mut none = |_| Err(CostsMiss::Missing { path: "c.json".into() });
        let mut of = |run| decide(DeviceChoice::Auto, &present(), &run, false, &mut none).unwrap();
        let single = of(RunCost { precision: Precision::F32, ..cost() });
        assert_eq!((single.name().as_str(), single.reason.as_str()), ("cuda:0", "only GPUs compute in f32"));
        let large = of(RunCost { no_gpu: Some("too large".into()), ..cost() });
        assert_eq!((large.name().as_str(), large.reason.as_str()), ("cpu", "too large"));
        assert_eq!(large.notes, ["device: cpu (too large)"]);
    }

    #[test]
    fn auto_is_the_cpu_where_no_gpu_was_measured_and_says_why() {
        for (accelerators, words) in [
            (absent(), "no NVIDIA device"),
            (present(), "no GPU's costs were measured on this machine"),
            (broken(), "prohibited"),
        ] {
            let sampling = decided("auto", &accelerators, false).unwrap();
            assert_eq!(sampling.name(), "cpu");
            assert!(sampling.reason.contains(words), "{sampling:?}");
            assert_eq!(sampling.notes[0], format!("device: cpu ({})", sampling.reason));
        }
        let asked = decided("cpu", &present(), true).unwrap();
        assert_eq!((asked.reason.as_str(), asked.notes.len()), ("asked for", 0));
    }

    #[test]
    fn cuda_is_taken_or_refused_with_what_to_do() {
        let asked = decided("cuda", &present(), false).unwrap();
        assert_eq!((asked.name().as_str(), asked.reason.as_str(), asked.notes.len()), ("cuda:0", "asked for", 0));
        let message = decided("cuda", &absent(), false).unwrap_err();
        assert!(message.contains("no NVIDIA device") && message.contains("octopus verify"), "{message}");
        assert!(decided("cuda:3", &present(), false).unwrap_err().contains("the last is cuda:0"));
        // A GPU that fails its checks is used all the same where it is asked for: the user may know why.
        let notes = decided("cuda", &broken(), false).unwrap().notes;
        assert!(notes[0].contains("prohibited"), "{notes:?}");
    }

    #[test]
    fn without_fall_back_a_broken_gpu_is_the_end_and_an_absent_one_is_not() {
        let message = decided("auto", &broken(), true).unwrap_err();
        assert!(message.starts_with("--no-fallback: ") && message.contains("prohibited"), "{message}");
        assert!(decided("auto", &absent(), true).is_ok());
        assert!(decided("auto", &present(), true).is_ok());
    }

    #[test]
    fn an_absent_device_has_its_reason() {
        assert!(no_gpu(&verify(&NoProvider)).contains("no NVIDIA GPU"));
    }
}
