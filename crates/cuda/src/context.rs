//! Contexts: this process's place on a device, with its free and total memory.

use crate::session::DeviceSession;
use crate::{CudaError, Device, Usage, limit};
use std::fmt;
use std::sync::Arc;

/// This process's place on a device: memory, streams and kernels live in it.
///
/// It is the device's *primary* context, one for the process, shared with other libraries that use it. Clones share
/// it, and so do buffers, streams, events and kernels, which keep it. Any thread may use it: every call makes it
/// current on its thread first, and leaves it so.
///
/// **Lost contexts.** After an illegal address, a failed launch or the like ([`CudaError::is_sticky`]) the device is
/// lost to the process. Every later call on it, and [`Context::primary`] too, returns that first error at once without
/// asking the driver, and dropping things leaves the driver alone. Other devices and the CPU go on.
#[derive(Clone)]
pub struct Context {
    device: Device,
    session: Arc<DeviceSession>,
}

/// Memory of a device in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// The bytes that this process could still have, for the most part.
    pub free: u64,
    /// The bytes that the device has.
    pub total: u64,
}

impl Context {
    /// Returns the context on a device: made if it is not there, which takes some tenths of a second and some 300 to
    /// 500 MiB of the device's memory.
    ///
    /// # Errors
    /// When the driver fails; for a context that was lost, the error with which it was lost.
    pub fn primary(device: &Device) -> Result<Self, CudaError> {
        Ok(Self { device: *device, session: DeviceSession::of_device(device.ordinal(), device.raw())? })
    }

    /// Returns the device that it is on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the free and the total memory in bytes; of the free memory what [`limit_device_memory`] leaves.
    ///
    /// [`limit_device_memory`]: crate::limit_device_memory
    ///
    /// # Errors
    /// When the driver does not tell, and when the context is lost.
    pub fn memory_info(&self) -> Result<MemoryInfo, CudaError> {
        let (free, total) = self.session.memory_info()?;
        Ok(MemoryInfo { free: free.min(limit::left(self.session.counters.device.now())), total })
    }

    /// Waits until the device has done all that this process asked of it.
    ///
    /// # Errors
    /// When any work before failed, and when the context is lost.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.session.synchronize()
    }

    /// Checks that the context can be used.
    ///
    /// # Errors
    /// When the context was lost; the error is the first one.
    pub fn healthy(&self) -> Result<(), CudaError> {
        self.session.healthy()
    }

    /// Returns what the device was used for since the context was made or [`Context::reset_usage`].
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.session.counters.read()
    }

    /// Adds to [`Usage::measured_time`] what was timed by events.
    pub fn count_measured(&self, time: std::time::Duration) {
        self.session.counters.measured(time);
    }

    /// Counts anew: peaks fall to what is held now, all else to nothing.
    pub fn reset_usage(&self) {
        self.session.counters.reset();
    }

    pub(crate) fn session(&self) -> &Arc<DeviceSession> {
        &self.session
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("device", &self.session.ordinal()).field("health", &self.healthy()).finish()
    }
}
