//! What NVIDIA's management library says.

use crate::Version;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What NVML reports when it works.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NvmlFacts {
    /// The driver's version, e.g. `550.54.15`.
    pub driver_version: Option<String>,
    /// The newest CUDA version that the driver supports.
    pub cuda_version: Option<Version>,
    /// Every device, also those that `CUDA_VISIBLE_DEVICES` hides.
    pub devices: Vec<DeviceInfo>,
}

/// Who may use a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComputeMode {
    /// Any number of processes.
    Default,
    /// One process at a time.
    Exclusive,
    /// No process at all.
    Prohibited,
}

/// One device; a field is `None` where the device or the driver does not tell it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// NVML's index, which follows the PCI bus.
    pub index: u32,
    /// The product, e.g. `NVIDIA RTX A6000`.
    pub name: Option<String>,
    /// The globally unique name, e.g. `GPU-1b2c...`.
    pub uuid: Option<String>,
    /// Installed memory in bytes.
    pub memory_total: Option<u64>,
    /// Unallocated memory in bytes.
    pub memory_free: Option<u64>,
    /// Compute capability.
    pub compute_capability: Option<Version>,
    /// CUDA cores.
    pub cuda_cores: Option<u32>,
    /// Present clock of the streaming multiprocessors in MHz.
    pub sm_clock_mhz: Option<u32>,
    /// Their highest clock in MHz.
    pub sm_clock_max_mhz: Option<u32>,
    /// Present clock of the memory in MHz.
    pub memory_clock_mhz: Option<u32>,
    /// Present power draw in watts.
    pub power_watts: Option<f64>,
    /// Power limit in watts.
    pub power_limit_watts: Option<f64>,
    /// Present temperature of the chip in degrees Celsius.
    pub temperature_celsius: Option<u32>,
    /// Whether the memory's error correction is on.
    pub ecc: Option<bool>,
    /// Whether the device is split into instances (MIG).
    pub mig: Option<bool>,
    /// Who may use it.
    pub compute_mode: Option<ComputeMode>,
    /// Whether the driver stays loaded when nobody uses the device.
    pub persistence: Option<bool>,
    /// Processes that compute on it now.
    pub compute_processes: Option<u32>,
    /// Why the device does not answer at all.
    pub problem: Option<String>,
}

impl DeviceInfo {
    /// The device as it is named to people, e.g. `0: NVIDIA RTX A6000`.
    pub fn label(&self) -> String {
        format!("{}: {}", self.index, self.name.as_deref().unwrap_or("unnamed device"))
    }
}

/// Why NVML does not work.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NvmlFailure {
    /// The library is not installed.
    #[error("{library} cannot be loaded: {detail}")]
    LibraryMissing {
        /// The file that was looked for.
        library: String,
        /// The loader's words.
        detail: String,
    },
    /// The library is there, the kernel module is not.
    #[error("the NVIDIA kernel module is not loaded")]
    DriverNotLoaded,
    /// The kernel module and the library are of different driver versions.
    #[error("the kernel module and the library are of different driver versions")]
    VersionMismatch,
    /// The device files may not be opened.
    #[error("no permission to talk to the driver")]
    NoPermission,
    /// Anything else, in NVML's words.
    #[error("{detail}")]
    Other {
        /// NVML's words.
        detail: String,
    },
}
