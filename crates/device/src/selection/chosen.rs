//! The choice that the user makes by `--device` or `OCTOPUS_DEVICE`: which words are accepted, and what they mean.

use super::devices::{DeviceSet, device_names};
use crate::Device;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The environment variable that chooses the device where no flag does.
pub const DEVICE_VARIABLE: &str = "OCTOPUS_DEVICE";

/// The devices asked for: `auto`, `cpu`, `cuda`, `cuda:N`, `cuda:N,M` or `cuda:all`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// Whichever is faster for the work.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A CUDA device: the first, or that of this number.
    Cuda(Option<u32>),
    /// These CUDA devices, two at least.
    Several(DeviceSet),
    /// All CUDA devices that this process may use.
    All,
}

/// The source of a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The flag `--device`.
    Flag,
    /// The environment variable [`DEVICE_VARIABLE`].
    Variable,
    /// Neither: the default, `auto`.
    #[default]
    Default,
}

/// A choice and where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceRequest {
    /// The choice.
    pub choice: DeviceChoice,
    /// The source of the choice.
    pub source: Source,
    /// A line for the user when flag and variable disagree.
    pub note: Option<String>,
}

/// A flag or variable that asks for nothing that exists.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{origin}: {text:?} is no choice of a device; use `auto`, `cpu`, `cuda`, `cuda:N` with N counted from 0, or several: \
     `cuda:0,1` with each once, or `cuda:all`"
)]
pub struct ChoiceError {
    /// The source of the text: `--device`, [`DEVICE_VARIABLE`], or `device`.
    pub origin: &'static str,
    /// The text that could not be read.
    pub text: String,
}

impl DeviceChoice {
    /// Returns the choice of the flag's value, else the variable's, else `auto`.
    ///
    /// An empty variable counts as none. Where the flag is given, the variable is not even read: a wrong variable
    /// does not stop a run that overrides it, and the note says which one won.
    ///
    /// ```
    /// use octopus_device::{DeviceChoice, Source};
    ///
    /// let chosen = DeviceChoice::from_flag_or_env(Some("cpu"), Some("cuda:1")).unwrap();
    /// assert_eq!((chosen.choice, chosen.source), (DeviceChoice::Cpu, Source::Flag));
    /// assert_eq!(chosen.note.unwrap(), "--device cpu overrides OCTOPUS_DEVICE=cuda:1");
    /// ```
    ///
    /// # Errors
    /// When the one that counts is no choice.
    pub fn from_flag_or_env(flag: Option<&str>, variable: Option<&str>) -> Result<DeviceRequest, ChoiceError> {
        let variable = variable.filter(|text| !text.trim().is_empty());
        let read = |origin, text: &str| text.trim().parse().map_err(|error| ChoiceError { origin, ..error });
        match (flag, variable) {
            (Some(text), variable) => {
                let choice: Self = read("--device", text)?;
                let note = variable
                    .filter(|other| other.trim().parse() != Ok(choice))
                    .map(|other| format!("--device {choice} overrides {DEVICE_VARIABLE}={}", other.trim()));
                Ok(DeviceRequest { choice, source: Source::Flag, note })
            }
            (None, Some(text)) => {
                Ok(DeviceRequest { choice: read(DEVICE_VARIABLE, text)?, source: Source::Variable, note: None })
            }
            (None, None) => Ok(DeviceRequest { choice: Self::Auto, source: Source::Default, note: None }),
        }
    }

    /// Makes the choice as [`from_flag_or_env`](Self::from_flag_or_env) does, with this process's environment.
    ///
    /// # Errors
    /// When the one that counts is no choice.
    pub fn from_flag(flag: Option<&str>) -> Result<DeviceRequest, ChoiceError> {
        // What is not UTF-8 is no choice either; the message shows it as well as it can be shown.
        let variable = std::env::var_os(DEVICE_VARIABLE);
        Self::from_flag_or_env(flag, variable.as_deref().map(std::ffi::OsStr::to_string_lossy).as_deref())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Flag => "--device",
            Self::Variable => DEVICE_VARIABLE,
            Self::Default => "the default",
        })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Cpu => f.pad("cpu"),
            Self::Cuda(None) => f.pad("cuda"),
            Self::Cuda(Some(ordinal)) => Device::Cuda(*ordinal).fmt(f),
            Self::Several(set) => f.pad(&device_names(&set.devices())),
            Self::All => f.pad("cuda:all"),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "cuda" => Ok(Self::Cuda(None)),
            "cuda:all" => Ok(Self::All),
            _ if text.contains(',') => match DeviceSet::read(text) {
                Some(set) => Ok(Self::Several(set)),
                None => Err(ChoiceError { origin: "device", text: text.to_owned() }),
            },
            _ => match text.parse() {
                Ok(Device::Cpu) => Ok(Self::Cpu),
                Ok(Device::Cuda(ordinal)) => Ok(Self::Cuda(Some(ordinal))),
                Err(_) => Err(ChoiceError { origin: "device", text: text.to_owned() }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_written_alike() {
        for text in ["auto", "cpu", "cuda", "cuda:0", "cuda:12", "cuda:0,1", "cuda:2,3,63", "cuda:all"] {
            assert_eq!(text.parse::<DeviceChoice>().unwrap().to_string(), text);
        }
        assert_eq!("cuda:1,0".parse::<DeviceChoice>().unwrap().to_string(), "cuda:0,1");
        for text in ["cuda:0,0", "cuda:0,", "cuda:,1", "cuda:0, 1", "cuda:0,64", "0,1", "cuda:0,cuda:1", "cuda:All"] {
            let error = text.parse::<DeviceChoice>().unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("`cuda:0,1` with each once"), "{error}");
        }
        let error = "gpu".parse::<DeviceChoice>().unwrap_err().to_string();
        assert_eq!(
            error,
            "device: \"gpu\" is no choice of a device; use `auto`, `cpu`, `cuda`, `cuda:N` with N counted from 0, or several: \
             `cuda:0,1` with each once, or `cuda:all`"
        );
    }

    #[test]
    fn the_flag_wins_over_the_variable_and_says_so_only_when_they_differ() {
        let chosen = |flag, variable| DeviceChoice::from_flag_or_env(flag, variable).unwrap();
        assert_eq!(chosen(None, None).source, Source::Default);
        let sources = [Source::Flag, Source::Variable, Source::Default].map(|source| source.to_string());
        assert_eq!(sources, ["--device", "OCTOPUS_DEVICE", "the default"]);
        assert_eq!(chosen(None, Some("")).choice, DeviceChoice::Auto);
        let by_variable = chosen(None, Some(" cuda:2 "));
        assert_eq!((by_variable.choice, by_variable.source), (DeviceChoice::Cuda(Some(2)), Source::Variable));
        assert_eq!(chosen(Some("cuda"), Some("cuda")).note, None);
        assert_eq!(chosen(Some("cuda"), None).note, None);
        let over = chosen(Some("auto"), Some("nonsense"));
        assert_eq!(over.note.as_deref(), Some("--device auto overrides OCTOPUS_DEVICE=nonsense"));
    }

    #[test]
    fn errors_say_who_is_wrong() {
        let flag = DeviceChoice::from_flag_or_env(Some("cuda:x"), Some("cpu")).unwrap_err();
        assert!(flag.to_string().starts_with("--device: \"cuda:x\""), "{flag}");
        let variable = DeviceChoice::from_flag_or_env(None, Some("gpu0")).unwrap_err();
        assert!(variable.to_string().starts_with("OCTOPUS_DEVICE: \"gpu0\""), "{variable}");
    }
}
