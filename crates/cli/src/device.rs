//! Which device samples, and why.

use crate::exit::HardwareError;
use octopus_device::{
    Accelerators, Chosen, DeviceChoice, Overall, Probe, SelectionError, SystemProvider, VerifyReport, resolve,
};

/// What there is no GPU for yet.
const NO_ENGINE: &str = "this version of Octopus samples on the CPU only, it has no GPU engine yet";

/// What will sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sampling {
    /// Its name in records: `cpu`.
    pub(crate) name: String,
    /// Why, in one line.
    pub(crate) reason: String,
    /// Lines for the user; none when the user left no choice.
    pub(crate) notes: Vec<String>,
}

/// Chooses the device that samples.
///
/// # Errors
/// [`HardwareError`] when a GPU is asked for, or, without fall-back, is there and fails its checks.
pub(crate) fn choose(chosen: &Chosen, no_fallback: bool) -> anyhow::Result<Sampling> {
    // Asking a driver takes time, and starts the device: only where the answer matters.
    let accelerators = match chosen.choice {
        DeviceChoice::Cpu => Accelerators { devices: 0, unusable: None },
        DeviceChoice::Auto | DeviceChoice::Cuda(_) => Accelerators::of(&Probe::new(&SystemProvider::new())),
    };
    let mut sampling = decide(chosen.choice, &accelerators, no_fallback).map_err(HardwareError)?;
    sampling.notes.splice(0..0, chosen.note.clone());
    Ok(sampling)
}

/// The device, or why the one that is asked for cannot sample.
fn decide(choice: DeviceChoice, accelerators: &Accelerators, no_fallback: bool) -> Result<Sampling, String> {
    let on_cpu = |reason: String, notes| Ok(Sampling { name: "cpu".into(), reason, notes });
    match choice {
        DeviceChoice::Cpu => on_cpu("asked for".into(), Vec::new()),
        DeviceChoice::Cuda(_) => {
            let work = octopus_device::Work::new("sampling");
            let mut unasked = |_| -> Result<_, octopus_device::CalibrationMiss> {
                Err(octopus_device::CalibrationMiss::Missing { path: "none is asked for".into() })
            };
            match resolve(choice, accelerators, &work, &mut unasked) {
                Ok(_) => Err(format!("--device {choice}: {NO_ENGINE}; use --device cpu or auto")),
                Err(error @ SelectionError::NoDevice { .. }) => {
                    Err(format!("{error} or auto, and see `octopus verify`"))
                }
                Err(error) => Err(error.to_string()),
            }
        }
        DeviceChoice::Auto => {
            let reason = match (accelerators.devices, &accelerators.unusable) {
                (0, None) => "there is no CUDA device".to_owned(),
                (0, Some(unusable)) => unusable.reason.clone(),
                (_, None) => NO_ENGINE.to_owned(),
                (_, Some(unusable)) if no_fallback => {
                    return Err(format!(
                        "--no-fallback: a GPU is there and cannot be used: {unusable}; or use --device cpu"
                    ));
                }
                (_, Some(unusable)) => format!("{NO_ENGINE}, and a check of the GPU failed: {}", unusable.reason),
            };
            let note = format!("device: cpu ({reason})");
            on_cpu(reason, vec![note])
        }
    }
}

/// Why no GPU samples on this machine, as a clause.
pub(crate) fn no_gpu(report: &VerifyReport) -> String {
    match report.overall {
        Overall::Absent => report.summary.split(';').next().unwrap_or_default().to_owned(),
        Overall::Broken | Overall::Fit => format!("{NO_ENGINE} ({})", report.summary),
    }
}

/// A choice of a device as text, in files of settings.
pub(crate) mod choice_text {
    use octopus_device::DeviceChoice;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(choice: &DeviceChoice, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(choice)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DeviceChoice, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::{NoProvider, ScriptedProvider, verify};

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

    #[test]
    fn auto_is_the_cpu_and_says_why() {
        for (accelerators, words) in
            [(absent(), "no NVIDIA device"), (present(), "no GPU engine yet"), (broken(), "prohibited")]
        {
            let sampling = decide(DeviceChoice::Auto, &accelerators, false).unwrap();
            assert_eq!(sampling.name, "cpu");
            assert!(sampling.reason.contains(words), "{sampling:?}");
            assert_eq!(sampling.notes, [format!("device: cpu ({})", sampling.reason)]);
        }
        let asked = decide(DeviceChoice::Cpu, &present(), true).unwrap();
        assert_eq!((asked.reason.as_str(), asked.notes.len()), ("asked for", 0));
    }

    #[test]
    fn cuda_cannot_sample_yet_and_says_so_exactly() {
        let refuse = |choice: &str, accelerators: Accelerators| {
            decide(choice.parse().unwrap(), &accelerators, false).unwrap_err()
        };
        assert_eq!(
            refuse("cuda", present()),
            "--device cuda: this version of Octopus samples on the CPU only, it has no GPU engine yet; \
             use --device cpu or auto"
        );
        let message = refuse("cuda", absent());
        assert!(message.contains("no NVIDIA device") && message.contains("octopus verify"), "{message}");
        assert!(refuse("cuda:3", present()).contains("the last is cuda:0"));
    }

    #[test]
    fn without_fall_back_a_broken_gpu_is_the_end_and_an_absent_one_is_not() {
        let message = decide(DeviceChoice::Auto, &broken(), true).unwrap_err();
        assert!(message.starts_with("--no-fallback: ") && message.contains("prohibited"), "{message}");
        assert!(decide(DeviceChoice::Auto, &absent(), true).is_ok());
        assert!(decide(DeviceChoice::Auto, &present(), true).is_ok());
    }

    #[test]
    fn absent_and_present_devices_have_their_own_reason() {
        assert!(no_gpu(&verify(&NoProvider)).contains("no NVIDIA GPU"));
        let present = no_gpu(&verify(&ScriptedProvider::healthy()));
        assert!(present.contains("no GPU engine"), "{present}");
    }
}
