//! Why a device was chosen.

use super::{Prediction, Seconds};
use std::fmt;

/// Why a device was chosen. Its text is a clause, without the device.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceReason {
    /// The user named the device.
    AskedFor,
    /// There is no CUDA device, and why.
    NoGpu(String),
    /// A GPU is there, and this check of it failed.
    CheckFailed(String),
    /// The costs of no GPU were measured on this machine.
    Unmeasured,
    /// The cost of this kernel was never measured on this machine.
    UnknownKernel(String),
    /// The device is predicted to be done first.
    Faster {
        /// The predicted times.
        predicted: Prediction,
        /// The number of the CUDA device.
        ordinal: u32,
    },
}

impl fmt::Display for DeviceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AskedFor => f.write_str("asked for"),
            Self::NoGpu(why) => f.write_str(why),
            Self::CheckFailed(check) => write!(f, "a check of the GPU failed: {check}"),
            Self::Unmeasured => f.write_str("no GPU's costs were measured on this machine"),
            Self::UnknownKernel(kernel) => write!(
                f,
                "the cost of {kernel} was never measured on this machine; `octopus device measure` measures, \
                 `--device cuda` decides"
            ),
            Self::Faster { predicted: Prediction { cpu_seconds, device_seconds }, ordinal } => write!(
                f,
                "predicted {} on the CPU and {} on cuda:{ordinal}",
                Seconds(*cpu_seconds),
                Seconds(*device_seconds)
            ),
        }
    }
}
