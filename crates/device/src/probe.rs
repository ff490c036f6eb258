//! Everything that was seen, gathered once so that all checks judge the same moment.

use crate::{DeviceInfo, DriverFacts, DriverFailure, Environment, NvmlFacts, NvmlFailure, Provider, Version};

/// One provider's answers.
#[derive(Clone, Debug)]
pub struct Probe {
    /// NVML's.
    pub nvml: Result<NvmlFacts, NvmlFailure>,
    /// The CUDA driver's.
    pub driver: Result<DriverFacts, DriverFailure>,
    /// The operating system's.
    pub environment: Environment,
}

/// What the answers say about the machine as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// No trace of an NVIDIA device.
    NoDevice,
    /// A card on the PCI bus, none of its software.
    NoDriver,
    /// A device with at least a part of its software.
    Device,
}

impl Probe {
    /// Asks `provider` everything.
    pub fn new(provider: &dyn Provider) -> Self {
        Self { nvml: provider.nvml(), driver: provider.driver(), environment: provider.environment() }
    }

    /// The devices that NVML lists.
    pub fn devices(&self) -> &[DeviceInfo] {
        self.nvml.as_ref().map_or(&[], |nvml| &nvml.devices)
    }

    /// The newest CUDA version that the driver supports, as the driver says, else as NVML says.
    pub fn cuda_version(&self) -> Option<Version> {
        let driver = self.driver.as_ref().ok().and_then(|driver| driver.cuda_version);
        driver.or_else(|| self.nvml.as_ref().ok().and_then(|nvml| nvml.cuda_version))
    }

    /// Whether there is a device, or only a card, or nothing.
    pub(crate) fn presence(&self) -> Presence {
        let listed = !self.devices().is_empty() || self.driver.as_ref().is_ok_and(|driver| driver.devices > 0);
        let environment = &self.environment;
        if listed || environment.has_device_file() || self.mismatched() {
            return Presence::Device;
        }
        if environment.pci_devices.is_empty() {
            return Presence::NoDevice;
        }
        let no_nvml = matches!(self.nvml, Err(NvmlFailure::LibraryMissing { .. }));
        let no_driver = matches!(self.driver, Err(DriverFailure::LibraryMissing { .. }));
        if no_nvml && no_driver { Presence::NoDriver } else { Presence::Device }
    }

    /// Whether a driver says that its parts are of different versions: then there is a device, even if
    /// nothing else shows it.
    fn mismatched(&self) -> bool {
        matches!(self.nvml, Err(NvmlFailure::VersionMismatch))
            || self.driver.as_ref().is_ok_and(|d| d.failure == Some(crate::DriverCode::SYSTEM_DRIVER_MISMATCH))
    }

    /// Why there is nothing to check, when that is so.
    pub(crate) fn nothing(&self) -> Option<&'static str> {
        match self.presence() {
            Presence::NoDevice => Some("no NVIDIA device on this machine"),
            Presence::NoDriver => Some("an NVIDIA card without its driver"),
            Presence::Device => None,
        }
    }
}
