//! Which device samples, and why.

use crate::exit::HardwareError;
use octopus_device::{Overall, SystemProvider, VerifyReport, verify};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) enum DeviceChoice {
    /// Whatever serves best.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA device, the first one unless told otherwise.
    Cuda(Option<u32>),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "cuda" => Ok(Self::Cuda(None)),
            Some(("cuda", index)) => {
                index.parse().map(|index| Self::Cuda(Some(index))).map_err(|_| format!("`{index}` is no device index"))
            }
            _ => Err("auto, cpu, cuda or cuda:N is needed".into()),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(None) => f.write_str("cuda"),
            Self::Cuda(Some(index)) => write!(f, "cuda:{index}"),
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> Self {
        choice.to_string()
    }
}

/// What will sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Its name in records: `cpu`.
    pub(crate) name: &'static str,
    /// Why, in one line; none when the user left no choice.
    pub(crate) why: Option<String>,
}

/// Chooses the device.
///
/// # Errors
/// [`HardwareError`] when a GPU is asked for that cannot sample.
pub(crate) fn choose(choice: DeviceChoice) -> anyhow::Result<Chosen> {
    match choice {
        DeviceChoice::Cpu => Ok(Chosen { name: "cpu", why: None }),
        DeviceChoice::Auto => {
            let why = no_gpu(&verify(&SystemProvider::new()));
            Ok(Chosen { name: "cpu", why: Some(format!("device: cpu ({why})")) })
        }
        DeviceChoice::Cuda(_) => {
            let report = verify(&SystemProvider::new());
            let why = no_gpu(&report);
            let fix = "use --device cpu or auto";
            Err(HardwareError(format!("--device {choice}: {why}; {fix}, and see `octopus verify`")).into())
        }
    }
}

/// Why no GPU samples on this machine, as a clause.
pub(crate) fn no_gpu(report: &VerifyReport) -> String {
    match report.overall {
        Overall::Absent => report.summary.split(';').next().unwrap_or_default().to_owned(),
        Overall::Broken | Overall::Fit => {
            format!("this version of Octopus samples on the CPU only, it has no GPU engine yet ({})", report.summary)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::{NoProvider, ScriptedProvider};

    #[test]
    fn names_round_trip() {
        for text in ["auto", "cpu", "cuda", "cuda:3"] {
            assert_eq!(text.parse::<DeviceChoice>().unwrap().to_string(), text);
        }
        for text in ["gpu", "cuda:", "cuda:x", "cpu:1", "cuda:-1"] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }

    #[test]
    fn absent_and_present_devices_have_their_own_reason() {
        assert!(no_gpu(&verify(&NoProvider)).contains("no NVIDIA GPU"));
        let present = no_gpu(&verify(&ScriptedProvider::healthy()));
        assert!(present.contains("no GPU engine"), "{present}");
    }
}
