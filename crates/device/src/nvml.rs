//! What NVIDIA's management library (NVML) reports about devices: the facts that are kept of each.

use crate::Version;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// The words in the name of a device by which the software GPU of the tests tells what it is.
pub const TEST_DOUBLE: &str = "(test double)";

/// The facts that NVML reports when it works.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NvmlFacts {
    /// The driver's version, e.g. `550.54.15`.
    pub driver_version: Option<String>,
    /// The newest CUDA version that the driver supports.
    pub cuda_version: Option<Version>,
    /// Every device, also those that `CUDA_VISIBLE_DEVICES` hides.
    pub devices: Vec<DeviceInfo>,
}

/// The processes that may use a device.
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

impl fmt::Display for ComputeMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Default => "default",
            Self::Exclusive => "exclusive",
            Self::Prohibited => "prohibited",
        })
    }
}

/// The way a process uses a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessKind {
    /// The process computes.
    Compute,
    /// The process draws.
    Graphics,
}

/// Another process on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceProcess {
    /// The process' number on the host, which a container may number otherwise.
    pub pid: u32,
    /// The process' name, where this process can read it.
    pub name: Option<String>,
    /// Device memory that it holds, in bytes.
    pub memory: Option<u64>,
    /// The way the process uses the device.
    pub kind: ProcessKind,
}

impl fmt::Display for DeviceProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pid)?;
        if let Some(name) = &self.name {
            write!(f, " {name}")?;
        }
        self.memory.map_or(Ok(()), |bytes| write!(f, " ({})", memory_text(bytes)))
    }
}

/// Why a device does not run at its highest clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Throttle {
    /// The device has nothing to do.
    Idle,
    /// Somebody set lower clocks for applications.
    ApplicationClocks,
    /// The device draws all the power that its limit allows: usual under load.
    PowerCap,
    /// The device waits for slower devices of its group.
    SyncBoost,
    /// The driver lowers clocks because of the temperature.
    SoftwareThermal,
    /// The chip halves its clocks, or worse.
    HardwareSlowdown,
    /// The chip halves its clocks, or worse, because of the temperature.
    HardwareThermal,
    /// The chip halves its clocks, or worse, because the power supply asks for it.
    PowerBrake,
    /// The setting of a display limits the clocks.
    DisplayClocks,
}

impl Throttle {
    /// Returns whether the chip itself brakes: then it runs at half its speed or less.
    pub fn is_severe(self) -> bool {
        matches!(self, Self::HardwareSlowdown | Self::HardwareThermal | Self::PowerBrake)
    }
}

impl fmt::Display for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Idle => "idle",
            Self::ApplicationClocks => "application clocks set",
            Self::PowerCap => "power limit",
            Self::SyncBoost => "sync boost",
            Self::SoftwareThermal => "temperature (driver)",
            Self::HardwareSlowdown => "hardware slowdown",
            Self::HardwareThermal => "temperature (hardware)",
            Self::PowerBrake => "power brake",
            Self::DisplayClocks => "display clocks set",
        })
    }
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
    /// The device's place on the PCI bus, e.g. `00000000:01:00.0`.
    pub pci_slot: Option<String>,
    /// CUDA cores.
    pub cuda_cores: Option<u32>,
    /// Streaming multiprocessors.
    pub sm_count: Option<u32>,
    /// Present clock of the streaming multiprocessors in MHz.
    pub sm_clock_mhz: Option<u32>,
    /// Their highest clock in MHz.
    pub sm_clock_max_mhz: Option<u32>,
    /// Present clock of the memory in MHz.
    pub memory_clock_mhz: Option<u32>,
    /// The memory's highest clock in MHz.
    pub memory_clock_max_mhz: Option<u32>,
    /// Performance state, from 0 (fastest) to 15 (slowest).
    pub performance_state: Option<u8>,
    /// The reasons that hold the clocks down now; empty when there is none.
    pub throttle: Option<Vec<Throttle>>,
    /// Share of the last moment in which a kernel ran, in percent.
    pub utilization_percent: Option<u32>,
    /// Present power draw in watts.
    pub power_watts: Option<f64>,
    /// Power limit in watts.
    pub power_limit_watts: Option<f64>,
    /// Present temperature of the chip in degrees Celsius.
    pub temperature_celsius: Option<u32>,
    /// Whether the memory's error correction is on.
    pub ecc: Option<bool>,
    /// Errors that it could not correct since the driver was loaded.
    pub ecc_uncorrected: Option<u64>,
    /// Whether memory pages wait for the next reboot to be taken out of use.
    pub pages_pending: Option<bool>,
    /// Whether the device is split into instances (MIG).
    pub mig: Option<bool>,
    /// The processes that may use the device.
    pub compute_mode: Option<ComputeMode>,
    /// Whether the driver stays loaded when nobody uses the device.
    pub persistence: Option<bool>,
    /// The other processes on it now.
    pub processes: Option<Vec<DeviceProcess>>,
    /// Why the device does not answer at all.
    pub problem: Option<String>,
}

impl DeviceInfo {
    /// Returns the device as it is named to people, e.g. `0: NVIDIA RTX A6000`.
    pub fn label(&self) -> String {
        format!("{}: {}", self.index, self.name.as_deref().unwrap_or("unnamed device"))
    }

    /// Takes from `other`, which tells of the same device, what is not known yet.
    pub(crate) fn complete_from(&mut self, other: &Self) {
        fn take<T: Clone>(to: &mut Option<T>, from: &Option<T>) {
            if to.is_none() {
                to.clone_from(from);
            }
        }
        take(&mut self.name, &other.name);
        take(&mut self.memory_total, &other.memory_total);
        take(&mut self.compute_capability, &other.compute_capability);
        take(&mut self.pci_slot, &other.pci_slot);
        take(&mut self.sm_count, &other.sm_count);
        take(&mut self.sm_clock_max_mhz, &other.sm_clock_max_mhz);
        take(&mut self.memory_clock_max_mhz, &other.memory_clock_max_mhz);
        take(&mut self.ecc, &other.ecc);
        take(&mut self.compute_mode, &other.compute_mode);
    }

    /// Returns whether this is the software GPU of the tests: nothing that it does is a measurement of a GPU.
    pub fn is_test_double(&self) -> bool {
        self.name.as_deref().is_some_and(|name| name.contains(TEST_DOUBLE))
    }

    /// Returns the other processes that compute on it; `None` where NVML does not tell.
    pub fn computing(&self) -> Option<impl Iterator<Item = &DeviceProcess>> {
        Some(self.processes.as_ref()?.iter().filter(|process| process.kind == ProcessKind::Compute))
    }
}

/// Returns the bytes for people, e.g. `1.5 GiB` or `312 MiB`.
pub fn memory_text(bytes: u64) -> String {
    if bytes < 1 << 30 { format!("{} MiB", bytes >> 20) } else { format!("{} GiB", gibibytes(bytes)) }
}

/// Returns the bytes in GiB with one decimal, without the unit.
pub(crate) fn gibibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 30))
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
