//! Modules of kernels, compiled by the driver from PTX (JIT), with the compiler's log.

use super::device::RawDevice;
use super::status::{Operation, check};
use crate::ptx::{self, Parameter};
use crate::session::DeviceSession;
use crate::{CudaError, DriverCode};
use core::ffi::{c_int, c_void};
use core::ptr;
use cust::sys::{self, CUfunction, CUjit_option, CUmodule};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

/// Bytes of the compiler's log that are kept.
const LOG_BYTES: usize = 16 * 1024;

/// A loaded module.
pub(crate) struct RawModule {
    session: Arc<DeviceSession>,
    handle: CUmodule,
    kernels: BTreeMap<String, Vec<Parameter>>,
}

// SAFETY: the handle is used by calls that the driver allows from any thread; the context is made current first.
unsafe impl Send for RawModule {}
// SAFETY: as above.
unsafe impl Sync for RawModule {}

impl RawModule {
    pub(crate) fn from_ptx(session: &Arc<DeviceSession>, ptx: &str) -> Result<Self, CudaError> {
        let text = CString::new(ptx).map_err(|error| {
            let log = format!("the text has a zero byte at {}, it was not given to the driver", error.nul_position());
            CudaError::Ptx { code: DriverCode(218), log }
        })?;
        session.enter()?;
        let mut log = vec![0_u8; LOG_BYTES + 1];
        let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // The driver takes small values in place of pointers to them, and writes the log's length into the second.
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
        let mut handle: CUmodule = ptr::null_mut();
        // SAFETY: the image is a string that ends with zero; both arrays have two entries; the log is writable for
        // the size that it is given with, and all of them outlive the call, after which the driver uses none.
        let result = unsafe {
            let image = text.as_ptr().cast();
            sys::cuModuleLoadDataEx(&raw mut handle, image, 2, options.as_mut_ptr(), values.as_mut_ptr())
        };
        let loaded = check(Operation::Call("loading the kernels (cuModuleLoadDataEx)"), result);
        session.judge(loaded.map_err(|error| refused(error, &log)))?;
        Ok(Self { session: Arc::clone(session), handle, kernels: ptx::kernels(ptx) })
    }

    /// Returns the names of the kernels that the PTX declares.
    pub(crate) fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.kernels.keys().map(String::as_str)
    }
}

/// Returns a refusal of the PTX, with the log; out of memory and the like stay what they are.
fn refused(error: CudaError, log: &[u8]) -> CudaError {
    match error {
        CudaError::Driver { code, .. } if matches!(code.0, 200 | 209 | 218 | 221..=223 | 225 | 300) => {
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            CudaError::Ptx { code, log: String::from_utf8_lossy(&log[..end]).into_owned() }
        }
        other => other,
    }
}

impl Drop for RawModule {
    fn drop(&mut self) {
        // Its kernels may still run: the code goes only when the context is idle.
        let _ = self.session.synchronize().and_then(|()| {
            self.session.call(Operation::Call("unloading the kernels (cuModuleUnload)"), || {
                // SAFETY: the handle is alive, is unloaded once, and no kernel of it runs.
                unsafe { sys::cuModuleUnload(self.handle) }
            })
        });
    }
}

/// One kernel of a module, which it keeps loaded.
pub(crate) struct RawFunction {
    module: Arc<RawModule>,
    name: String,
    handle: CUfunction,
    parameters: Vec<Parameter>,
}

// SAFETY: as for RawModule, which it keeps.
unsafe impl Send for RawFunction {}
// SAFETY: as above.
unsafe impl Sync for RawFunction {}

impl RawFunction {
    /// A kernel by its name.
    pub(crate) fn find(module: &Arc<RawModule>, name: &str) -> Result<Self, CudaError> {
        let missing = || CudaError::KernelMissing { kernel: name.to_owned() };
        let parameters = module.kernels.get(name).cloned().ok_or_else(missing)?;
        let text = CString::new(name).map_err(|_| missing())?;
        let mut handle: CUfunction = ptr::null_mut();
        let found = module.session.call(Operation::FindKernel(name), || {
            // SAFETY: the pointer is to a live, writable handle, the module is loaded, the name ends with zero.
            unsafe { sys::cuModuleGetFunction(&raw mut handle, module.handle, text.as_ptr()) }
        });
        match found {
            Ok(()) => Ok(Self { module: Arc::clone(module), name: name.to_owned(), handle, parameters }),
            Err(CudaError::Driver { code: DriverCode::NOT_FOUND, .. }) => Err(missing()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn session(&self) -> &Arc<DeviceSession> {
        &self.module.session
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn handle(&self) -> CUfunction {
        self.handle
    }

    pub(super) fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Blocks of so many threads, without dynamic shared memory, that the whole device holds at once: the most of a
    /// launch whose blocks wait for each other (`Launch::together`). 0 where the device has no such launches.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub(super) fn blocks_at_once(&self, threads: u32) -> Result<u32, CudaError> {
        let session = self.session();
        session.enter()?;
        let device = RawDevice::get(session.ordinal());
        let multiprocessors = session.judge(device.and_then(RawDevice::cooperative_multiprocessors))?;
        let mut blocks: c_int = 0;
        session.call(Operation::Occupancy(&self.name), || {
            let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
            // SAFETY: the pointer is to a live, writable int, and the function is alive and of this context.
            unsafe { sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, self.handle, threads, 0) }
        })?;
        Ok(multiprocessors.saturating_mul(u32::try_from(blocks).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::RawModule;
    use crate::PTX;
    use crate::scenario::{context, on_software_gpu};

    on_software_gpu!(text_that_is_no_ptx, "", {
        let context = context();
        let error = RawModule::from_ptx(context.session(), ".version 8.4\0.target sm_80").map(drop).unwrap_err();
        assert!(error.to_string().contains("zero byte at 12"), "{error}");
        let module = RawModule::from_ptx(context.session(), PTX).unwrap();
        let names: Vec<_> = module.kernel_names().collect();
        assert!(names.len() >= 34 && names.contains(&"array_axpy_f64") && names.contains(&"matmul_f32"), "{names:?}");
    });
}
