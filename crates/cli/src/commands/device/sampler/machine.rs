//! Facts of the machine that stand beside the figures; nothing that names a machine or a user.

use octopus_device::{DeviceIdentity, DeviceInfo, HostInfo, SystemProvider, verify};
use serde::Serialize;

/// The device as NVML tells of it before the measurements, and the host.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    pub(super) host: HostInfo,
    /// None where NVML does not tell.
    pub(super) gpu: Option<DeviceInfo>,
    /// Threads of the CPU engine.
    pub(super) threads: usize,
    /// Where the driver keeps what it has compiled: `CUDA_CACHE_PATH`, else its own place.
    driver_cache: String,
}

impl Machine {
    pub(super) fn read(device: &DeviceIdentity) -> Self {
        let devices = verify(&SystemProvider::new()).devices;
        let own = devices.into_iter().find(|info| info.uuid == device.uuid);
        let public = |info| DeviceInfo { uuid: None, pci_slot: None, processes: None, ..info };
        let named = std::env::var_os("CUDA_CACHE_PATH").is_some();
        Self {
            host: HostInfo::read(),
            gpu: own.map(public),
            threads: rayon::current_num_threads(),
            driver_cache: if named { "CUDA_CACHE_PATH" } else { "~/.nv/ComputeCache" }.to_owned(),
        }
    }
}
