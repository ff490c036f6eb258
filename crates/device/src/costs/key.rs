//! The key of measured costs: the device, driver and binary for which they hold, and when they are stale.

use super::fingerprint::fingerprint;
use octopus_cuda::CudaError;
use serde::{Deserialize, Serialize};

/// The device, driver and binary of a measurement; where one of them changes, the numbers say nothing any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostsKey {
    /// The device's globally unique name, e.g. `GPU-1b2c...`.
    pub device_uuid: String,
    /// The driver's version, e.g. `550.54.15`.
    pub driver_version: String,
    /// The identity of this program: its version, how it was built, and a fingerprint of the kernels in it.
    pub binary: String,
}

/// Returns a fingerprint of all kernels in this program; another one means other kernels.
#[must_use]
pub fn kernels_fingerprint() -> String {
    fingerprint(octopus_cuda::KERNELS_MANIFEST.as_bytes())
}

impl CostsKey {
    /// Makes the key of this program for a device and its driver.
    #[must_use]
    pub fn new(device_uuid: impl Into<String>, driver_version: impl Into<String>) -> Self {
        // A build with checks is several times slower on the processor.
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        let kernels = kernels_fingerprint();
        Self {
            device_uuid: device_uuid.into(),
            driver_version: driver_version.into(),
            binary: format!("{} {build} {kernels}", env!("CARGO_PKG_VERSION")),
        }
    }

    /// Makes the key of this program for the CUDA device `ordinal`. The driver's own version is NVML's to tell
    /// ([`NvmlFacts::driver_version`](crate::NvmlFacts)); where it does not, the CUDA version stands in for it.
    ///
    /// # Errors
    /// When there is no such device, or the driver does not start.
    pub fn of_device(ordinal: u32, driver_version: Option<&str>) -> Result<Self, CudaError> {
        let uuid = octopus_cuda::Device::get(ordinal)?.uuid()?;
        let driver = match driver_version {
            Some(version) => version.to_owned(),
            None => format!("for CUDA {}", octopus_cuda::driver_start()?.cuda_version),
        };
        Ok(Self::new(uuid.to_string(), driver))
    }

    /// Returns in words how the key `now` differs from this one; `None` when they are the same.
    pub(super) fn change_to(&self, now: &Self) -> Option<String> {
        let fields = [
            ("device", &self.device_uuid, &now.device_uuid),
            ("driver", &self.driver_version, &now.driver_version),
            ("program", &self.binary, &now.binary),
        ];
        let changed = fields.into_iter().filter(|(_, was, is)| was != is);
        let words: Vec<_> = changed.map(|(what, was, is)| format!("its {what} was {was}, is {is}")).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_known_by_its_kernels() {
        let kernels = kernels_fingerprint();
        assert_eq!(kernels, fingerprint(octopus_cuda::KERNELS_MANIFEST.as_bytes()));
        assert_ne!(kernels, fingerprint(b""));
        assert!(CostsKey::new("GPU-1", "550.54").binary.ends_with(&format!(" {kernels}")));
    }
}
