//! Device memory: allocation, and copies that are done when they return.

use super::status::Operation;
use super::timeline::copy_of;
use crate::session::DeviceSession;
use crate::usage::Direction;
use crate::{CudaError, Element, limit};
use core::ptr;
use cust::memory::{DevicePointer, cuda_free, cuda_malloc};
use cust::sys::{self, CUdeviceptr};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Bytes on the device, without a type; aligned to 256 bytes by the driver.
pub(crate) struct RawDeviceMemory {
    session: Arc<DeviceSession>,
    /// 0 when there are no bytes.
    address: CUdeviceptr,
    bytes: usize,
}

impl RawDeviceMemory {
    /// Memory with whatever bits it has. Any bits are values of every [`Element`], so reading them is no undefined
    /// behaviour, only nonsense: callers fill it before they give it out.
    pub(crate) fn allocate<T: Element>(session: &Arc<DeviceSession>, length: usize) -> Result<Self, CudaError> {
        let bytes = bytes_of::<T>(length)?;
        session.healthy()?;
        let left = limit::left(session.counters.device.now());
        if bytes as u64 > left {
            let (free, total) = session.memory_info()?;
            return Err(CudaError::OutOfMemory { requested: bytes as u64, free: free.min(left), total });
        }
        let mut address = 0;
        if bytes > 0 {
            let allocated = session.call_cust(Operation::Call("allocating device memory (cuMemAlloc_v2)"), || {
                // SAFETY: what comes back is used as an address on the device only, within these bytes.
                unsafe { cuda_malloc::<u8>(bytes) }
            });
            address = allocated.map_err(|error| session.allocation_failure(error, bytes))?.as_raw();
        }
        session.counters.device.take(bytes as u64);
        Ok(Self { session: Arc::clone(session), address, bytes })
    }

    pub(crate) fn session(&self) -> &Arc<DeviceSession> {
        &self.session
    }

    /// Returns the address on the device, for launches.
    pub(super) fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// Returns the address of a range of elements, which must be within.
    pub(super) fn part<T: Element>(
        &self,
        operation: &'static str,
        range: Range<usize>,
    ) -> Result<CUdeviceptr, CudaError> {
        let length = self.bytes / size_of::<T>();
        if range.start > range.end || range.end > length {
            return Err(CudaError::RangeOutside { operation, start: range.start, end: range.end, length });
        }
        // No overflow: start is at most length, and length elements fit the allocation.
        Ok(self.address + (range.start * size_of::<T>()) as CUdeviceptr)
    }

    /// Sets every byte to zero, in order with the work of all streams.
    pub(crate) fn zero(&mut self) -> Result<(), CudaError> {
        if self.bytes == 0 {
            return self.session.healthy();
        }
        self.session.call(Operation::Call("clearing device memory (cuMemsetD8_v2)"), || {
            // SAFETY: the address is that of an allocation of so many bytes, which lives as long as `self`.
            unsafe { sys::cuMemsetD8_v2(self.address, 0, self.bytes) }
        })?;
        self.session.has_queued();
        Ok(())
    }

    /// Copies from the host to the elements from `start` on, after all earlier work.
    pub(crate) fn write<T: Element>(&mut self, start: usize, source: &[T]) -> Result<(), CudaError> {
        let words = "copying to the device (cuMemcpyHtoD_v2)";
        let address = self.part::<T>("copying to the device", start..start.saturating_add(source.len()))?;
        let bytes = size_of_val(source);
        self.timed_copy(Direction::Upload, bytes, || {
            self.session.call(Operation::Call(words), || {
                // SAFETY: the range is within the allocation (checked), the source is readable for `bytes`, and the
                // driver has read all of it when this function returns.
                unsafe { sys::cuMemcpyHtoD_v2(address, source.as_ptr().cast(), bytes) }
            })
        })
    }

    /// Copies the elements from `start` on to the host, after all earlier work.
    pub(crate) fn read<T: Element>(&self, start: usize, target: &mut [T]) -> Result<(), CudaError> {
        let words = "copying from the device (cuMemcpyDtoH_v2)";
        let address = self.part::<T>("copying from the device", start..start.saturating_add(target.len()))?;
        let bytes = size_of_val(target);
        self.timed_copy(Direction::Download, bytes, || {
            self.session.call(Operation::Call(words), || {
                // SAFETY: the range is within the allocation (checked), the target is writable for `bytes`, any
                // bits are values of T (`Element` is sealed), and the driver has written when this function returns.
                unsafe { sys::cuMemcpyDtoH_v2(target.as_mut_ptr().cast(), address, bytes) }
            })
        })
    }

    /// Copies the first `length` elements of another buffer to those of this one, on the device.
    pub(crate) fn write_from<T: Element>(&mut self, source: &Self, length: usize) -> Result<(), CudaError> {
        const WORDS: &str = "copying on the device";
        self.session.same(&source.session, WORDS)?;
        let (from, to) = (source.part::<T>(WORDS, 0..length)?, self.part::<T>(WORDS, 0..length)?);
        if length == 0 {
            return self.session.healthy();
        }
        let bytes = length * size_of::<T>();
        let copy = || {
            self.session.call(Operation::Call("copying on the device (cuMemcpyDtoD_v2)"), || {
                // SAFETY: both ranges are within their allocations (checked), which are two: `self` is borrowed for
                // writing. The copy may outlast this call; memory is freed only when the context is idle (see `drop`).
                unsafe { sys::cuMemcpyDtoD_v2(to, from, bytes) }
            })
        };
        self.session.submit(ptr::null_mut(), || copy_of("copy on the device", bytes), copy)?;
        self.session.has_queued();
        Ok(())
    }

    /// Waits for earlier work first, so that neither its time nor its failure is the copy's. The order needs no wait: a
    /// copy that is done when it returns comes behind the work of all streams (`RawStream::new`). Where nothing was queued
    /// since the last wait there is none.
    fn timed_copy(
        &self,
        direction: Direction,
        bytes: usize,
        copy: impl FnOnce() -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        if bytes == 0 {
            return self.session.healthy();
        }
        self.session.settle()?;
        let clock = Instant::now();
        self.session.submit(ptr::null_mut(), || copy_of(direction.words(), bytes), copy)?;
        self.session.counters.copied(direction, bytes, clock.elapsed());
        Ok(())
    }
}

impl Drop for RawDeviceMemory {
    fn drop(&mut self) {
        // Kernels and copies that were started with this memory may still run: it goes back only when the context
        // is idle. Where that cannot be had, the memory is left to the driver, which frees it with the process.
        if self.bytes > 0 {
            let address = DevicePointer::<u8>::from_raw(self.address);
            let freed = self.session.synchronize().and_then(|()| {
                self.session.call_cust(Operation::Call("freeing device memory (cuMemFree_v2)"), || {
                    // SAFETY: the address came from cuda_malloc, is freed once, and nothing uses it any more.
                    unsafe { cuda_free(address) }
                })
            });
            if freed.is_ok() {
                self.session.counters.device.give_back(self.bytes as u64);
            }
        }
    }
}

/// Returns the bytes of this many elements, when an address and a slice can count them.
pub(super) fn bytes_of<T: Element>(length: usize) -> Result<usize, CudaError> {
    let fits = |bytes: &usize| isize::try_from(*bytes).is_ok();
    let too_large = CudaError::TooLarge { elements: length, element_bytes: size_of::<T>() };
    length.checked_mul(size_of::<T>()).filter(fits).ok_or(too_large)
}
