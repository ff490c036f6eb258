//! The primary context, and the gate through which every call in it goes.

use super::device::RawDevice;
use super::status::{Operation, check, check_cust};
use crate::CudaError;
use crate::session::DeviceSession;
use cust::context::{Context, CurrentContext};
use cust::error::CudaResult;
use cust::sys::{self, CUresult};

/// A reference to a device's primary context, which the driver counts; given back when dropped.
pub(crate) struct PrimaryContext(Option<Context>);

impl PrimaryContext {
    pub(crate) fn retain(device: RawDevice) -> Result<Self, CudaError> {
        let context = Context::new(device.cust());
        let words = "making a context on the device (cuDevicePrimaryCtxRetain)";
        check_cust(Operation::Call(words), context).map(|context| Self(Some(context)))
    }

    /// Keeps the driver from being asked to release it: for contexts that are lost.
    pub(crate) fn abandon(&mut self) {
        std::mem::forget(self.0.take());
    }
}

impl DeviceSession {
    /// Makes the context current on this thread; at once the first error when it is lost.
    pub(super) fn enter(&self) -> Result<(), CudaError> {
        self.healthy()?;
        let Some(context) = &self.primary.0 else { return Ok(()) };
        let current = CurrentContext::set_current(context);
        self.judge(check_cust(Operation::Call("making the context current (cuCtxSetCurrent)"), current))
    }

    /// One call of the driver in this context.
    pub(super) fn call(&self, operation: Operation<'_>, function: impl FnOnce() -> CUresult) -> Result<(), CudaError> {
        self.enter()?;
        self.judge(check(operation, function()))
    }

    /// One call of cust in this context.
    pub(super) fn call_cust<T>(
        &self,
        operation: Operation<'_>,
        function: impl FnOnce() -> CudaResult<T>,
    ) -> Result<T, CudaError> {
        self.enter()?;
        self.judge(check_cust(operation, function()))
    }

    /// Returns the bytes free and in total.
    pub(crate) fn memory_info(&self) -> Result<(u64, u64), CudaError> {
        let (mut free, mut total) = (0_usize, 0_usize);
        self.call(Operation::Call("asking for free memory (cuMemGetInfo_v2)"), || {
            // SAFETY: both pointers are to live, writable integers; the context is current.
            unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) }
        })?;
        Ok((free as u64, total as u64))
    }

    /// Returns the error of an allocation, with what is free when memory ran out.
    pub(super) fn allocation_failure(&self, error: CudaError, requested: usize) -> CudaError {
        if !error.is_out_of_memory() {
            return error;
        }
        match self.memory_info() {
            Ok((free, total)) => CudaError::OutOfMemory { requested: requested as u64, free, total },
            Err(_) => error,
        }
    }
}
