//! Page-locked host memory, which the device's copy engines reach by themselves.

use super::memory::bytes_of;
use super::status::Operation;
use crate::session::DeviceSession;
use crate::{CudaError, DriverCode, Element};
use core::ffi::c_void;
use core::ptr::NonNull;
use cust::memory::{cuda_free_locked, cuda_malloc_locked};
use std::sync::Arc;

/// The strictest alignment of an [`Element`].
const ALIGNMENT: usize = 8;

/// Bytes of the host, without a type; all initialised.
pub(crate) struct PinnedMemory {
    session: Arc<DeviceSession>,
    /// Dangling when there are no bytes; aligned to [`ALIGNMENT`] always.
    address: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns plain bytes; shared references only read them, and the driver may be asked to free them from any
// thread (the context is made current first).
unsafe impl Send for PinnedMemory {}
// SAFETY: as above.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    /// Allocates `length` elements, all zero.
    pub(crate) fn zeroed<T: Element>(session: &Arc<DeviceSession>, length: usize) -> Result<Self, CudaError> {
        const _: () = assert!(align_of::<f64>() <= ALIGNMENT && align_of::<u64>() <= ALIGNMENT);
        let bytes = bytes_of::<T>(length)?;
        session.healthy()?;
        if bytes == 0 {
            return Ok(Self { session: Arc::clone(session), address: NonNull::<u64>::dangling().cast(), bytes });
        }
        let operation = Operation::Call("allocating page-locked memory (cuMemAllocHost_v2)");
        let allocated = session.call_cust(operation, || {
            // SAFETY: what comes back is checked below, and used within these bytes only.
            unsafe { cuda_malloc_locked::<u8>(bytes) }
        });
        let address = allocated.map_err(|error| {
            if error.is_out_of_memory() { CudaError::OutOfPinnedMemory { requested: bytes as u64 } } else { error }
        })?;
        let misplaced = || CudaError::Driver { operation: operation.to_string(), code: DriverCode::INVALID_VALUE };
        // The driver gives whole pages; what is not even aligned must not become a slice.
        let address = NonNull::new(address).filter(|at| at.addr().get() % ALIGNMENT == 0).ok_or_else(misplaced)?;
        // SAFETY: the driver gave so many writable bytes, and nobody else has their address yet.
        unsafe { address.write_bytes(0, bytes) };
        session.counters.pinned.take(bytes as u64);
        Ok(Self { session: Arc::clone(session), address, bytes })
    }

    pub(crate) fn session(&self) -> &Arc<DeviceSession> {
        &self.session
    }

    pub(super) fn pointer(&self) -> *mut c_void {
        self.address.as_ptr().cast()
    }

    pub(crate) fn slice<T: Element>(&self) -> &[T] {
        // SAFETY: the bytes are initialised (zeroed, then written by Rust or by copies that are done: while one is
        // in flight `InFlight` owns this memory and lends it to nobody), the address is aligned for every Element,
        // any bits are values of T, the length fits an isize (checked at allocation), and `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr().cast(), self.bytes / size_of::<T>()) }
    }

    pub(crate) fn slice_mut<T: Element>(&mut self) -> &mut [T] {
        // SAFETY: as in `slice`; `self` is borrowed for writing, so this is the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr().cast(), self.bytes / size_of::<T>()) }
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        // A copy may still be under way when its `InFlight` was dropped: the memory goes back only when the context
        // is idle, and stays locked until the process ends where that cannot be had.
        if self.bytes > 0 {
            let freed = self.session.synchronize().and_then(|()| {
                self.session.call_cust(Operation::Call("freeing page-locked memory (cuMemFreeHost)"), || {
                    // SAFETY: the address came from cuda_malloc_locked, is freed once, and nothing uses it any more.
                    unsafe { cuda_free_locked(self.address.as_ptr()) }
                })
            });
            if freed.is_ok() {
                self.session.counters.pinned.give_back(self.bytes as u64);
            }
        }
    }
}
