//! The devices that this process may use, as the CUDA driver lists them, without a context.

use crate::{ComputeMode, DeviceInfo};
use octopus_cuda::{Device, DeviceAttribute};

/// One entry for each, in the driver's order; none when the driver does not start. Every question is asked
/// on its own, as NVML's are.
pub(super) fn driver_devices() -> Vec<DeviceInfo> {
    Device::all().unwrap_or_default().iter().map(describe).collect()
}

fn describe(device: &Device) -> DeviceInfo {
    let number = |attribute| device.attribute(attribute).ok().and_then(|value| u32::try_from(value).ok());
    let megahertz = |attribute| number(attribute).map(|kilohertz| kilohertz / 1000).filter(|&clock| clock > 0);
    DeviceInfo {
        index: device.ordinal(),
        name: device.name().ok(),
        uuid: device.uuid().ok().map(|uuid| uuid.to_string()),
        memory_total: device.total_memory().ok(),
        compute_capability: device.compute_capability().ok().map(Into::into),
        pci_slot: device.pci_bus_id().ok(),
        sm_count: device.multiprocessors().ok(),
        sm_clock_max_mhz: megahertz(DeviceAttribute::ClockKilohertz),
        memory_clock_max_mhz: megahertz(DeviceAttribute::MemoryClockKilohertz),
        ecc: device.ecc_enabled().ok(),
        compute_mode: number(DeviceAttribute::ComputeMode).and_then(|mode| match mode {
            0 => Some(ComputeMode::Default),
            2 => Some(ComputeMode::Prohibited),
            1 | 3 => Some(ComputeMode::Exclusive),
            _ => None,
        }),
        ..DeviceInfo::default()
    }
}
