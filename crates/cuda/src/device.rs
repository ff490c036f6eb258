//! Devices as the CUDA driver describes them: name, UUID, PCI bus, memory, compute capability, attributes.

use crate::binding::{self, RawDevice};
use crate::{CudaError, CudaVersion};
use std::fmt;

/// A CUDA device. Asking about it makes no context on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    ordinal: u32,
    raw: RawDevice,
}

/// A device's identity, as `nvidia-smi -L` shows it: `GPU-` and 16 bytes in hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceUuid(pub [u8; 16]);

/// A number that the driver tells of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceAttribute {
    /// The clock of the multiprocessors in kHz, at most.
    ClockKilohertz,
    /// Multiprocessors.
    Multiprocessors,
    /// 0 default, 2 prohibited, 3 exclusive to one process.
    ComputeMode,
    /// 1 when memory errors are corrected.
    EccEnabled,
    /// The clock of the memory in kHz, at most.
    MemoryClockKilohertz,
    /// The first number of the compute capability.
    ComputeCapabilityMajor,
    /// The second number of the compute capability.
    ComputeCapabilityMinor,
    /// 1 when a watchdog ends kernels that take too long: the device drives a display.
    KernelTimeLimit,
}

impl Device {
    /// Lists all devices that this process may use, in the driver's order.
    ///
    /// # Errors
    /// When the driver does not start: see [`driver_start`](crate::driver_start).
    pub fn all() -> Result<Vec<Self>, CudaError> {
        (0..binding::device_count()?).map(Self::at).collect()
    }

    /// Returns the device of this number, counted from 0 among those that `CUDA_VISIBLE_DEVICES` leaves.
    ///
    /// # Errors
    /// [`CudaError::DeviceMissing`] when there are fewer devices, and when the driver does not start: see
    /// [`driver_start`](crate::driver_start).
    pub fn get(ordinal: u32) -> Result<Self, CudaError> {
        let count = binding::device_count()?;
        if ordinal < count { Self::at(ordinal) } else { Err(CudaError::DeviceMissing { ordinal, count }) }
    }

    fn at(ordinal: u32) -> Result<Self, CudaError> {
        Ok(Self { ordinal, raw: RawDevice::get(ordinal)? })
    }

    /// Returns the device's number.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    pub(crate) fn raw(&self) -> RawDevice {
        self.raw
    }

    /// Returns the device's name, e.g. `NVIDIA H200`.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn name(&self) -> Result<String, CudaError> {
        self.raw.name()
    }

    /// Returns the device's identity; of a part of a divided device (MIG), the part's.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn uuid(&self) -> Result<DeviceUuid, CudaError> {
        self.raw.uuid().map(DeviceUuid)
    }

    /// Returns the domain, bus, device and function, e.g. `0000:41:00.0`.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn pci_bus_id(&self) -> Result<String, CudaError> {
        self.raw.pci_bus_id()
    }

    /// Returns the bytes of memory.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn total_memory(&self) -> Result<u64, CudaError> {
        self.raw.total_memory()
    }

    /// Returns the compute capability, e.g. 8.6.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn compute_capability(&self) -> Result<CudaVersion, CudaError> {
        let part = |attribute| self.count(attribute);
        Ok(CudaVersion {
            major: part(DeviceAttribute::ComputeCapabilityMajor)?,
            minor: part(DeviceAttribute::ComputeCapabilityMinor)?,
        })
    }

    /// Returns the number of multiprocessors.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn multiprocessors(&self) -> Result<u32, CudaError> {
        self.count(DeviceAttribute::Multiprocessors)
    }

    /// Returns whether memory errors are corrected.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn ecc_enabled(&self) -> Result<bool, CudaError> {
        self.attribute(DeviceAttribute::EccEnabled).map(|value| value != 0)
    }

    /// Returns whether a watchdog ends kernels that take too long, with 702 and the loss of the context. What it allows
    /// the driver does not tell: for the most part, two to some seconds.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn has_watchdog(&self) -> Result<bool, CudaError> {
        self.attribute(DeviceAttribute::KernelTimeLimit).map(|value| value != 0)
    }

    /// Returns one number as the driver tells it.
    ///
    /// # Errors
    /// When the driver does not tell, or is older than the attribute.
    pub fn attribute(&self, attribute: DeviceAttribute) -> Result<i32, CudaError> {
        self.raw.attribute(attribute)
    }

    /// Returns an attribute that counts something; a negative number counts as 0.
    fn count(&self, attribute: DeviceAttribute) -> Result<u32, CudaError> {
        self.attribute(attribute).map(|value| u32::try_from(value).unwrap_or(0))
    }
}

impl fmt::Display for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU")?;
        for (place, byte) in self.0.iter().enumerate() {
            let dash = if [0, 4, 6, 8, 10].contains(&place) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceUuid;

    #[test]
    fn an_identity_is_written_as_nvidia_smi_writes_it() {
        let uuid = DeviceUuid(std::array::from_fn(|place| (17 * place) as u8));
        assert_eq!(uuid.to_string(), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    }
}
