//! The facts about the machine that accompany the figures; none of them names a machine or a user.

use octopus_device::{DeviceIdentity, DeviceInfo, HostInfo, SystemProvider, verify};
use serde::{Deserialize, Serialize};

/// The facts about the host, and about the device as NVML tells them before the measurements.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MachineFacts {
    pub(crate) host: HostInfo,
    /// The facts about the device; `None` where NVML does not tell them.
    pub(crate) gpu: Option<DeviceInfo>,
    /// The number of threads of the CPU engine.
    pub(crate) threads: usize,
    /// The place where the driver keeps compiled kernels: `CUDA_CACHE_PATH`, or else the driver's own place.
    pub(crate) driver_cache: String,
}

impl MachineFacts {
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
