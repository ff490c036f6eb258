//! The identity of the device that something was measured on.

use crate::nvml::TEST_DOUBLE;
use crate::{Provider, SystemProvider, Version};
use octopus_cuda::{CudaError, Device};
use serde::{Deserialize, Serialize};

/// A device, for records of what was measured on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// The device's name.
    pub name: String,
    /// The device's UUID; `None` where the driver does not tell.
    pub uuid: Option<String>,
    /// The device's compute capability.
    pub compute_capability: Version,
    /// The driver's version, e.g. `550.90.07`; `None` where NVML does not tell.
    pub driver: Option<String>,
    /// The newest CUDA version that the driver supports.
    pub cuda: Version,
    /// Whether it is the software GPU of the tests: then nothing that was measured is a measurement of a GPU.
    pub test_double: bool,
}

impl DeviceIdentity {
    /// Reads the identity of the device that the driver counts as `ordinal`.
    ///
    /// # Errors
    /// When there is no such device or no driver.
    pub fn read(ordinal: u32) -> Result<Self, CudaError> {
        let device = Device::get(ordinal)?;
        let name = device.name()?;
        Ok(Self {
            test_double: name.contains(TEST_DOUBLE),
            name,
            uuid: device.uuid().ok().map(|uuid| uuid.to_string()),
            compute_capability: device.compute_capability()?.into(),
            driver: SystemProvider::new().nvml().ok().and_then(|nvml| nvml.driver_version),
            cuda: octopus_cuda::driver_version()?.into(),
        })
    }

    /// Returns the driver's number of the device with this UUID, among those that this process may use.
    ///
    /// # Errors
    /// When there is no driver, or it does not start.
    pub fn ordinal_of(uuid: &str) -> Result<Option<u32>, CudaError> {
        let same = |device: &Device| device.uuid().is_ok_and(|found| found.to_string().eq_ignore_ascii_case(uuid));
        Ok(Device::all()?.iter().find(|device| same(device)).map(Device::ordinal))
    }
}
