//! The provider that asks this machine, through NVML and the CUDA driver.

use super::Provider;
use super::driver_device::driver_devices;
use super::nvml_device::device_info;
use crate::driver::ask_driver;
use crate::environment::{LIBNVML_VARIABLE, ROOT_VARIABLE, Root, container, process_variable};
use crate::{DeviceInfo, DriverFacts, DriverFailure, Environment, NvmlFacts, NvmlFailure, Version};
use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const LIBRARY: &str = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };

/// The real machine. Both libraries are loaded when they are asked and their absence is an answer.
///
/// The driver is loaded once in a process: [`octopus_cuda::set_driver_library`] says which file that is.
#[derive(Clone, Debug)]
pub struct SystemProvider {
    nvml: OsString,
    root: PathBuf,
}

impl SystemProvider {
    /// Looks for the libraries where the system's loader does, unless `OCTOPUS_LIBNVML` and
    /// `OCTOPUS_LIBCUDA` name other files. `OCTOPUS_ROOT` names a folder that stands for `/`, as
    /// [`with_root`](Self::with_root) does.
    pub fn new() -> Self {
        let named = |variable: &str, usual: &str| {
            std::env::var_os(variable).filter(|name| !name.is_empty()).unwrap_or_else(|| usual.into())
        };
        Self { nvml: named(LIBNVML_VARIABLE, LIBRARY), root: named(ROOT_VARIABLE, "/").into() }
    }

    /// Loads NVML from this file: NVIDIA's own library, or a stand-in with the same C interface.
    #[must_use]
    pub fn with_nvml(self, library: impl AsRef<OsStr>) -> Self {
        Self { nvml: library.as_ref().to_owned(), ..self }
    }

    /// Reads the files of the operating system below `root` instead of `/`: a test's folder, or the mounted
    /// system of another machine.
    #[must_use]
    pub fn with_root(self, root: impl AsRef<Path>) -> Self {
        Self { root: root.as_ref().to_owned(), ..self }
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
        let root = Root(&self.root);
        let names = container(root, &process_variable).is_none().then_some(root);
        Ok(NvmlFacts {
            driver_version: nvml.sys_driver_version().ok(),
            cuda_version: nvml.sys_cuda_driver_version().ok().and_then(Version::from_cuda),
            devices: (0..count).map(|index| device_info(&nvml, index, names)).collect(),
        })
    }

    fn driver(&self) -> Result<DriverFacts, DriverFailure> {
        ask_driver()
    }

    fn driver_devices(&self) -> Vec<DeviceInfo> {
        driver_devices()
    }

    fn environment(&self) -> Environment {
        Environment::read_from(&self.root, &process_variable)
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
