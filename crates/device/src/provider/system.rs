//! This machine, asked through NVML and the CUDA driver.

use super::Provider;
use crate::ffi::ask_driver;
use crate::{ComputeMode, DeviceInfo, DriverFacts, DriverFailure, Environment, NvmlFacts, NvmlFailure, Version};
use nvml_wrapper::enum_wrappers::device::{Clock, ComputeMode as NvmlComputeMode, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use std::ffi::{OsStr, OsString};

#[cfg(windows)]
const LIBRARIES: (&str, &str) = ("nvml.dll", "nvcuda.dll");
#[cfg(not(windows))]
const LIBRARIES: (&str, &str) = ("libnvidia-ml.so.1", "libcuda.so.1");

/// The real machine. Both libraries are loaded when they are asked and their absence is an answer.
#[derive(Clone, Debug)]
pub struct SystemProvider {
    nvml: OsString,
    cuda: OsString,
}

impl SystemProvider {
    /// Looks for the libraries where the system's loader does.
    pub fn new() -> Self {
        Self::with_libraries(OsStr::new(LIBRARIES.0), OsStr::new(LIBRARIES.1))
    }

    /// Loads NVML and the driver from these files, for installations that the loader does not find.
    ///
    /// They must be NVIDIA's libraries or stand-ins with the same C interface.
    pub fn with_libraries(nvml: impl AsRef<OsStr>, cuda: impl AsRef<OsStr>) -> Self {
        Self { nvml: nvml.as_ref().to_owned(), cuda: cuda.as_ref().to_owned() }
    }
}

impl Default for SystemProvider {
    fn default() -> Self {
        Self::new()
    }
}

impl Provider for SystemProvider {
    fn name(&self) -> &str {
        "system"
    }

    fn nvml(&self) -> Result<NvmlFacts, NvmlFailure> {
        let failure = |error| failure(error, &self.nvml);
        let nvml = Nvml::builder().lib_path(&self.nvml).init().map_err(failure)?;
        let count = nvml.device_count().map_err(failure)?;
        Ok(NvmlFacts {
            driver_version: nvml.sys_driver_version().ok(),
            cuda_version: nvml.sys_cuda_driver_version().ok().and_then(Version::from_cuda),
            devices: (0..count).map(|index| device_info(&nvml, index)).collect(),
        })
    }

    fn driver(&self) -> Result<DriverFacts, DriverFailure> {
        ask_driver(&self.cuda)
    }

    fn environment(&self) -> Environment {
        Environment::read()
    }
}

fn failure(error: NvmlError, library: &OsStr) -> NvmlFailure {
    let library = library.to_string_lossy().into_owned();
    match error {
        NvmlError::LibloadingError(error) => NvmlFailure::LibraryMissing { library, detail: error.to_string() },
        NvmlError::LibraryNotFound => {
            NvmlFailure::LibraryMissing { library, detail: NvmlError::LibraryNotFound.to_string() }
        }
        NvmlError::DriverNotLoaded => NvmlFailure::DriverNotLoaded,
        NvmlError::LibRmVersionMismatch => NvmlFailure::VersionMismatch,
        NvmlError::NoPermission => NvmlFailure::NoPermission,
        other => NvmlFailure::Other { detail: other.to_string() },
    }
}

fn device_info(nvml: &Nvml, index: u32) -> DeviceInfo {
    match nvml.device_by_index(index) {
        Ok(device) => describe(&device, index),
        Err(error) => DeviceInfo { index, problem: Some(error.to_string()), ..DeviceInfo::default() },
    }
}

/// Every question is asked on its own: what a device does not support is `None` and spoils nothing else.
fn describe(device: &Device<'_>, index: u32) -> DeviceInfo {
    let memory = device.memory_info();
    let watts = |milliwatts: u32| f64::from(milliwatts) / 1000.0;
    DeviceInfo {
        index,
        name: device.name().ok(),
        uuid: device.uuid().ok(),
        memory_total: memory.as_ref().ok().map(|memory| memory.total),
        memory_free: memory.as_ref().ok().map(|memory| memory.free),
        compute_capability: device.cuda_compute_capability().ok().and_then(|cc| {
            Some(Version { major: u32::try_from(cc.major).ok()?, minor: u32::try_from(cc.minor).ok()? })
        }),
        cuda_cores: device.num_cores().ok(),
        sm_clock_mhz: device.clock_info(Clock::SM).ok(),
        sm_clock_max_mhz: device.max_clock_info(Clock::SM).ok(),
        memory_clock_mhz: device.clock_info(Clock::Memory).ok(),
        power_watts: device.power_usage().ok().map(watts),
        power_limit_watts: device.enforced_power_limit().ok().map(watts),
        temperature_celsius: device.temperature(TemperatureSensor::Gpu).ok(),
        ecc: device.is_ecc_enabled().ok().map(|ecc| ecc.currently_enabled),
        mig: device.mig_mode().ok().map(|mig| mig.current == 1),
        compute_mode: device.compute_mode().ok().map(|mode| match mode {
            NvmlComputeMode::Default => ComputeMode::Default,
            NvmlComputeMode::ExclusiveThread | NvmlComputeMode::ExclusiveProcess => ComputeMode::Exclusive,
            NvmlComputeMode::Prohibited => ComputeMode::Prohibited,
        }),
        persistence: device.is_in_persistent_mode().ok(),
        compute_processes: device.running_compute_processes_count().ok(),
        // A lost device still has a handle; memory is what every healthy one tells.
        problem: match memory {
            Err(error @ (NvmlError::GpuLost | NvmlError::IrqIssue | NvmlError::Unknown)) => Some(error.to_string()),
            Err(error @ (NvmlError::ResetRequired | NvmlError::InsufficientPower)) => Some(error.to_string()),
            _ => None,
        },
    }
}
