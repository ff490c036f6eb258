//! The driver's beginnings: its library, `cuInit`, its version, the number of devices.

use super::shim;
use super::status::{Operation, check_cust};
use crate::CudaError;
use cust::{CudaApiVersion, CudaFlags};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Chooses the driver library; an error once it is open.
pub(crate) fn set_library(path: &Path) -> Result<(), CudaError> {
    shim::choose(path)
}

/// Returns the newest CUDA version that the driver supports, as (major, minor). Needs no `cuInit`.
pub(crate) fn driver_version() -> Result<(u32, u32), CudaError> {
    let version =
        check_cust(Operation::Call("asking the driver's version (cuDriverGetVersion)"), CudaApiVersion::get())?;
    // 12040 is 12.4. A driver that answers a negative number has no version.
    let part = |number: i32| u32::try_from(number).unwrap_or(0);
    Ok((part(version.major()), part(version.minor())))
}

/// Starts the driver; once it has started, this costs nothing.
pub(crate) fn start() -> Result<(), CudaError> {
    static STARTED: AtomicBool = AtomicBool::new(false);
    // A failure is not kept: what is wrong may be mended while the program runs.
    if !STARTED.load(Ordering::Acquire) {
        check_cust(Operation::Call("starting the driver (cuInit)"), cust::init(CudaFlags::empty()))?;
        STARTED.store(true, Ordering::Release);
    }
    Ok(())
}

/// Returns the devices that this process may use.
pub(crate) fn device_count() -> Result<u32, CudaError> {
    start()?;
    let count = cust::device::Device::num_devices();
    let count = check_cust(Operation::Call("counting the devices (cuDeviceGetCount)"), count)?;
    // cust casts the driver's `int`; a negative one counts nothing.
    Ok(if i32::try_from(count).is_ok() { count } else { 0 })
}
