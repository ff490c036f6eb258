//! Gathers everything that was seen once, so that all checks judge the same moment.
//!
//! Whether there is a device at all, and which devices are judged, is decided here.

use crate::visible::{Visible, visible};
use crate::{DeviceInfo, DriverFacts, DriverFailure, Environment, Needs, NvmlFacts, NvmlFailure, Provider, Version};

/// One provider's answers.
#[derive(Clone, Debug)]
pub struct Probe {
    /// NVML's.
    pub nvml: Result<NvmlFacts, NvmlFailure>,
    /// The CUDA driver's.
    pub driver: Result<DriverFacts, DriverFailure>,
    /// The operating system's.
    pub environment: Environment,
    /// The needs that the checks hold all this against.
    pub needs: Needs,
    /// NVML's devices with what the driver adds to them; the driver's where NVML lists none.
    devices: Vec<DeviceInfo>,
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
    /// Asks `provider` everything, for what Octopus's own kernels need.
    pub fn new(provider: &dyn Provider) -> Self {
        Self::with_needs(provider, Needs::default())
    }

    /// Asks `provider` everything, for what these `needs` say.
    pub fn with_needs(provider: &dyn Provider, needs: Needs) -> Self {
        let (nvml, driver, environment) = (provider.nvml(), provider.driver(), provider.environment());
        let started = driver.as_ref().is_ok_and(|driver| driver.failure.is_none() && driver.devices > 0);
        let told = if started { provider.driver_devices() } else { Vec::new() };
        let mut devices = nvml.as_ref().map_or_else(|_| Vec::new(), |nvml| nvml.devices.clone());
        if devices.is_empty() {
            devices = told;
        } else {
            for device in &mut devices {
                let same = |other: &&DeviceInfo| device.uuid.is_some() && device.uuid == other.uuid;
                if let Some(other) = told.iter().find(same) {
                    device.complete_from(other);
                }
            }
        }
        Self { nvml, driver, environment, needs, devices }
    }

    /// Returns the devices that NVML lists, completed by what the driver tells of the same ones. Without NVML, those
    /// that the driver gives this process, by the driver's count.
    pub fn devices(&self) -> &[DeviceInfo] {
        &self.devices
    }

    /// Returns the devices that NVML lists, also those that are hidden from CUDA.
    fn of_nvml(&self) -> &[DeviceInfo] {
        self.nvml.as_ref().map_or(&[], |nvml| &nvml.devices)
    }

    /// Returns the devices that are to be judged: the one asked for, otherwise those that `CUDA_VISIBLE_DEVICES` shows,
    /// otherwise all. If a device is asked for that does not exist, there is none.
    pub fn candidates(&self) -> Vec<&DeviceInfo> {
        let devices = self.devices();
        if let Some(index) = self.needs.device {
            return devices.iter().filter(|device| device.index == index).collect();
        }
        match self.visible() {
            Some(Visible::Devices(shown)) => shown.into_iter().filter_map(|position| devices.get(position)).collect(),
            // Where the list hides everything, the other checks still say what they can of the devices.
            None | Some(Visible::Unknown | Visible::Refused(_)) => devices.iter().collect(),
        }
    }

    /// Returns the meaning of `CUDA_VISIBLE_DEVICES`; `None` when it is not set.
    pub(crate) fn visible(&self) -> Option<Visible> {
        let environment = &self.environment;
        let list = environment.cuda_visible_devices.as_deref()?;
        Some(visible(list, self.of_nvml(), environment.cuda_device_order.as_deref()))
    }

    /// Returns whether the driver started and counts a device.
    pub(crate) fn driver_works(&self) -> bool {
        self.driver.as_ref().is_ok_and(|driver| driver.failure.is_none() && driver.devices > 0)
    }

    /// Returns the newest CUDA version that the driver supports, as the driver says, else as NVML says.
    pub fn cuda_version(&self) -> Option<Version> {
        let driver = self.driver.as_ref().ok().and_then(|driver| driver.cuda_version);
        driver.or_else(|| self.nvml.as_ref().ok().and_then(|nvml| nvml.cuda_version))
    }

    /// Returns whether there is a device, or only a card, or nothing.
    pub(crate) fn presence(&self) -> Presence {
        // Who names a library wants it used: if it does not load, that is a fault and no absence.
        let named = self.environment.octopus_libcuda.is_some() || self.environment.octopus_libnvml.is_some();
        let listed = !self.devices().is_empty() || self.driver.as_ref().is_ok_and(|driver| driver.devices > 0);
        let environment = &self.environment;
        if listed || named || environment.has_device_file() || self.mismatched() {
            return Presence::Device;
        }
        if environment.pci_devices.is_empty() {
            return Presence::NoDevice;
        }
        if self.lacks_nvml() && self.lacks_driver() { Presence::NoDriver } else { Presence::Device }
    }

    /// Returns whether there is no NVML; a file that the loader refuses is not absent.
    pub(crate) fn lacks_nvml(&self) -> bool {
        matches!(&self.nvml, Err(NvmlFailure::LibraryMissing { library, detail }) if is_absence(library, detail))
    }

    /// Returns whether there is no driver library; a file that the loader refuses is not absent.
    pub(crate) fn lacks_driver(&self) -> bool {
        matches!(&self.driver, Err(DriverFailure::LibraryMissing { library, detail }) if is_absence(library, detail))
    }

    /// Returns whether a driver says that its parts are of different versions: then there is a device, even if nothing
    /// else shows it.
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

/// Words by which loaders say that a file is not there, and this crate that it did not look.
const ABSENCE: [&str; 4] = ["No such file", "not found", "never looks", "built without"];

/// Returns whether the loader's words say that the library itself is not there. It may as well be damaged, or lack
/// another library that it needs, which the words then name instead.
fn is_absence(library: &str, detail: &str) -> bool {
    let not_found = ABSENCE.into_iter().any(|words| detail.contains(words));
    not_found && (detail.contains(library) || !detail.contains(".so"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, DeviceFile, DriverCode, PciDevice, ScriptedProvider};

    #[test]
    fn the_driver_completes_nvmls_devices_and_stands_in_for_them() {
        let mut machine = ScriptedProvider::healthy();
        let nvml = machine.nvml.as_mut().unwrap();
        nvml.devices[0].sm_count = None;
        machine.driver_devices = vec![DeviceInfo {
            name: Some("As the driver names it".into()),
            uuid: nvml.devices[0].uuid.clone(),
            sm_count: Some(84),
            memory_total: Some(1),
            ..DeviceInfo::default()
        }];
        let probe = Probe::new(&machine);
        let device = &probe.devices()[0];
        assert_eq!((device.sm_count, device.memory_total), (Some(84), Some(48 << 30)));
        assert_eq!(device.name.as_deref(), Some("Scripted device"));
        // Another device's facts are not taken.
        machine.driver_devices[0].uuid = None;
        assert_eq!(Probe::new(&machine).devices()[0].sm_count, None);
        machine.nvml = Err(NvmlFailure::NoPermission);
        assert_eq!(Probe::new(&machine).devices()[0].name.as_deref(), Some("As the driver names it"));
        // The driver counts what CUDA_VISIBLE_DEVICES leaves: its count is not what the variable speaks of.
        machine.environment.cuda_visible_devices = Some("3".into());
        assert_eq!(Probe::new(&machine).visible(), Some(Visible::Unknown));
        assert_eq!(Probe::new(&machine).candidates().len(), 1);
        // A driver that did not start is not asked, and neither is one that counts no device.
        for (devices, failure) in [(1, Some(crate::DriverCode::NO_DEVICE)), (0, None)] {
            machine.driver = Ok(DriverFacts { cuda_version: None, devices, failure });
            assert!(Probe::new(&machine).devices().is_empty());
        }
    }

    fn refused(failure: Option<DriverCode>) -> Result<DriverFacts, DriverFailure> {
        Ok(DriverFacts { cuda_version: None, devices: 0, failure })
    }

    fn file(path: &str) -> Vec<DeviceFile> {
        vec![DeviceFile { path: path.into(), access: Access::Granted }]
    }

    fn card() -> Vec<PciDevice> {
        vec![PciDevice { slot: "0000:01:00.0".into(), device: "0x2230".into() }]
    }

    /// What one machine has that an empty one has not.
    type Change = fn(&mut ScriptedProvider);

    #[test]
    fn any_sign_but_a_card_without_software_is_a_device() {
        let signs: [(Presence, Change); 17] = [
            // Software alone is no device, and neither is the file of the driver's control.
            (Presence::NoDevice, |_| ()),
            (Presence::NoDevice, |m| m.nvml = Ok(NvmlFacts::default())),
            (Presence::NoDevice, |m| m.driver = refused(None)),
            (Presence::NoDevice, |m| m.driver = refused(Some(DriverCode::NO_DEVICE))),
            (Presence::NoDevice, |m| m.environment.device_files = file("/dev/nvidiactl")),
            // Either library lists or counts devices.
            (Presence::Device, |m| m.nvml = ScriptedProvider::healthy().nvml),
            (Presence::Device, |m| m.driver = ScriptedProvider::healthy().driver),
            (Presence::Device, |m| m.driver = Ok(DriverFacts { cuda_version: None, devices: 2, failure: None })),
            // The user names a library, or there is a device's file.
            (Presence::Device, |m| m.environment.octopus_libcuda = Some("/mine/libcuda.so".into())),
            (Presence::Device, |m| m.environment.octopus_libnvml = Some("/mine/libnvml.so".into())),
            (Presence::Device, |m| m.environment.device_files = file("/dev/nvidia0")),
            (Presence::Device, |m| m.environment.device_files = file("/dev/dxg")),
            // A library is of another version than the kernel's module.
            (Presence::Device, |m| m.nvml = Err(NvmlFailure::VersionMismatch)),
            (Presence::Device, |m| m.driver = refused(Some(DriverCode::SYSTEM_DRIVER_MISMATCH))),
            // A card has none of its software, or a part of it.
            (Presence::NoDriver, |m| m.environment.pci_devices = card()),
            (Presence::Device, |m| (m.environment.pci_devices, m.nvml) = (card(), Err(NvmlFailure::DriverNotLoaded))),
            (Presence::Device, |m| (m.environment.pci_devices, m.driver) = (card(), refused(None))),
        ];
        for (presence, sign) in signs {
            let mut machine = ScriptedProvider::empty();
            sign(&mut machine);
            assert_eq!(Probe::new(&machine).presence(), presence, "{machine:?}");
        }
    }

    #[test]
    fn a_library_that_the_loader_refuses_is_not_absent() {
        let library = "libcuda.so.1";
        for (detail, absent) in [
            ("libcuda.so.1: cannot open shared object file: No such file or directory", true),
            ("Error loading shared library libcuda.so.1: No such file or directory", true),
            ("this provider never looks", true),
            ("this program was built without CUDA (feature `cuda`)", true),
            ("libcuda.so.1: file too short", false),
            ("libcuda.so.1: wrong ELF class: ELFCLASS32", false),
            ("libcuda.so.1: cannot open shared object file: Permission denied", false),
            ("libnvidia-x.so.2: cannot open shared object file: No such file or directory", false),
        ] {
            assert_eq!(is_absence(library, detail), absent, "{detail}");
        }
    }
}
