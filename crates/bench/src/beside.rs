//! The GPU that is timed beside the CPU, or the reason why none is.

use crate::error::BenchError;
use crate::of_cuda;
use octopus_device::{Device, DeviceIdentity};
use serde::Serialize;
use std::fmt;

/// What is timed beside the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimedBeside {
    /// The N of cuda:N.
    Gpu(u32),
    /// No GPU, and the reason.
    Nothing(String),
}

impl TimedBeside {
    pub(crate) fn device(&self) -> Option<Device> {
        match self {
            Self::Gpu(ordinal) => Some(Device::Cuda(*ordinal)),
            Self::Nothing(_) => None,
        }
    }
}

/// The GPU as results tell of it.
#[derive(Debug, Serialize)]
pub(crate) struct TimedGpu {
    /// The GPU, if one was timed.
    device: Option<DeviceIdentity>,
    /// Why none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<String>,
    /// Whether the device is the software GPU of the tests: then these are no measurements of a GPU.
    test_double: bool,
}

impl TimedGpu {
    /// # Errors
    /// When there is no such device.
    pub(crate) fn read(beside: &TimedBeside) -> Result<Self, BenchError> {
        match beside {
            TimedBeside::Nothing(reason) => {
                Ok(Self { device: None, skipped: Some(reason.clone()), test_double: false })
            }
            TimedBeside::Gpu(ordinal) => {
                let device = DeviceIdentity::read(*ordinal).map_err(of_cuda)?;
                Ok(Self { test_double: device.test_double, device: Some(device), skipped: None })
            }
        }
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.device.is_some()
    }

    pub(crate) fn is_test_double(&self) -> bool {
        self.test_double
    }
}

impl fmt::Display for TimedGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.device, &self.skipped) {
            (Some(device), _) if self.test_double => write!(f, "{} (these are no measurements of a GPU)", device.name),
            (Some(device), _) => f.write_str(&device.name),
            (None, reason) => write!(f, "SKIPPED ({})", reason.as_deref().unwrap_or("none was asked for")),
        }
    }
}
