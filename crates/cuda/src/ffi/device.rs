//! A device as the driver describes it.

use super::status::{Operation, check, check_cust};
use crate::CudaError;
use core::ffi::{CStr, c_char, c_int};
use cust::device::Device;
use cust::sys::{self, CUdevice_attribute as RawAttribute, CUuuid};

/// One device; no context is made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawDevice(Device);

impl RawDevice {
    pub(crate) fn get(ordinal: u32) -> Result<Self, CudaError> {
        super::start::start()?;
        check_cust(Operation::Call("finding a device (cuDeviceGet)"), Device::get_device(ordinal)).map(Self)
    }

    pub(super) fn cust(self) -> Device {
        self.0
    }

    pub(crate) fn name(self) -> Result<String, CudaError> {
        // Not by cust, which panics when the driver ends the name with no zero.
        text(|buffer, length| {
            // SAFETY: the buffer is writable for `length` bytes, and the device is one that the driver gave.
            let result = unsafe { sys::cuDeviceGetName(buffer, length, self.0.as_raw()) };
            check(Operation::Call("reading a device's name (cuDeviceGetName)"), result)
        })
    }

    pub(crate) fn pci_bus_id(self) -> Result<String, CudaError> {
        text(|buffer, length| {
            // SAFETY: the buffer is writable for `length` bytes, and the device is one that the driver gave.
            let result = unsafe { sys::cuDeviceGetPCIBusId(buffer, length, self.0.as_raw()) };
            check(Operation::Call("reading a device's PCI address (cuDeviceGetPCIBusId)"), result)
        })
    }

    pub(crate) fn uuid(self) -> Result<[u8; 16], CudaError> {
        let mut uuid = CUuuid::default();
        // SAFETY: the pointer is to a live, writable UUID, and the device is one that the driver gave.
        let result = unsafe { sys::cuDeviceGetUuid_v2(&raw mut uuid, self.0.as_raw()) };
        // The second version tells the parts of a divided device (MIG) apart; drivers before 11.4 lack it.
        match check(Operation::Call("reading a device's UUID (cuDeviceGetUuid_v2)"), result) {
            Err(CudaError::SymbolMissing { .. }) => {
                // SAFETY: as above.
                let result = unsafe { sys::cuDeviceGetUuid(&raw mut uuid, self.0.as_raw()) };
                check(Operation::Call("reading a device's UUID (cuDeviceGetUuid)"), result)?;
            }
            other => other?,
        }
        Ok(uuid.bytes.map(|byte| byte as u8))
    }

    pub(crate) fn total_memory(self) -> Result<u64, CudaError> {
        let bytes = self.0.total_memory();
        check_cust(Operation::Call("reading a device's memory (cuDeviceTotalMem_v2)"), bytes).map(|bytes| bytes as u64)
    }

    pub(crate) fn attribute(self, attribute: crate::device::DeviceAttribute) -> Result<i32, CudaError> {
        self.number(raw(attribute))
    }

    /// Returns how many multiprocessors launch blocks that wait for each other: all, or none.
    pub(super) fn cooperative_multiprocessors(self) -> Result<u32, CudaError> {
        if self.number(RawAttribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? == 0 {
            return Ok(0);
        }
        // A driver that answers a negative number has none.
        self.number(RawAttribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map(|count| u32::try_from(count).unwrap_or(0))
    }

    fn number(self, attribute: RawAttribute) -> Result<i32, CudaError> {
        let mut value: c_int = 0;
        // SAFETY: the pointer is to a live, writable int, and the device is one that the driver gave.
        let result = unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, self.0.as_raw()) };
        check(Operation::Call("reading a device's attribute (cuDeviceGetAttribute)"), result)?;
        Ok(value)
    }
}

/// A string that the driver writes, for as long as it is; bytes that are no UTF-8 are replaced.
fn text(write: impl FnOnce(*mut c_char, c_int) -> Result<(), CudaError>) -> Result<String, CudaError> {
    // One byte more than the driver is told of, so that there is a zero in any case.
    let mut buffer = [0_u8; 257];
    write(buffer.as_mut_ptr().cast(), 256)?;
    let text = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

fn raw(attribute: crate::device::DeviceAttribute) -> RawAttribute {
    use crate::device::DeviceAttribute as Ours;
    match attribute {
        Ours::ClockKilohertz => RawAttribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
        Ours::Multiprocessors => RawAttribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        Ours::ComputeMode => RawAttribute::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE,
        Ours::EccEnabled => RawAttribute::CU_DEVICE_ATTRIBUTE_ECC_ENABLED,
        Ours::MemoryClockKilohertz => RawAttribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE,
        Ours::ComputeCapabilityMajor => RawAttribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        Ours::ComputeCapabilityMinor => RawAttribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        Ours::KernelTimeLimit => RawAttribute::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT,
    }
}
