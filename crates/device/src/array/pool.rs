//! Memory of arrays that are gone, kept for those that come, so that arrays come and go without the driver.
//!
//! All arrays of a device are worked on in one stream: what is queued for the next owner of a piece of memory runs after
//! all that was queued for the last one, and nobody has to wait. Nothing is cleared, because whoever takes the memory
//! fills it.
//!
//! The share of the device that is kept at the most stands here.

use super::{ArrayError, Engine, Scalar};
use octopus_cuda::{CudaError, DeviceBuffer};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The part of a device's memory, one in so many, that is kept at the most.
const SHARE: u64 = 16;

/// The memory that a device keeps: buffers by their type and length.
#[derive(Default)]
pub(super) struct Pool {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    buffers: HashMap<(TypeId, usize), Vec<Box<dyn Any + Send>>>,
    bytes: u64,
}

impl Pool {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take<T: Scalar>(&self, length: usize) -> Option<DeviceBuffer<T>> {
        let mut kept = self.kept();
        let buffer = kept.buffers.get_mut(&(TypeId::of::<T>(), length))?.pop()?.downcast::<DeviceBuffer<T>>().ok()?;
        kept.bytes -= buffer.bytes() as u64;
        Some(*buffer)
    }

    /// Keeps a buffer, or gives it back to the driver where `most` bytes are kept already.
    fn keep<T: Scalar>(&self, buffer: DeviceBuffer<T>, most: u64) {
        let mut kept = self.kept();
        let bytes = kept.bytes.saturating_add(buffer.bytes() as u64);
        if bytes <= most && !buffer.is_empty() {
            kept.bytes = bytes;
            kept.buffers.entry((TypeId::of::<T>(), buffer.len())).or_default().push(Box::new(buffer));
        }
    }

    /// Gives all that is kept back to the driver, and returns how many bytes that were.
    pub(super) fn clear(&self) -> u64 {
        let kept = std::mem::take(&mut *self.kept());
        kept.bytes
    }
}

/// The memory of an array, which goes back to its device's pool.
pub(super) struct PooledBuffer<T: Scalar> {
    engine: Arc<Engine>,
    /// Always there until the drop.
    buffer: Option<DeviceBuffer<T>>,
}

impl<T: Scalar> PooledBuffer<T> {
    /// Returns memory of `length` elements with the values that `fill` gives them: kept memory, or new.
    pub(super) fn filled(
        engine: &Arc<Engine>,
        length: usize,
        fill: impl FnOnce(&mut DeviceBuffer<T>) -> Result<(), CudaError>,
    ) -> Result<Self, ArrayError> {
        let made = engine.context().healthy().and_then(|()| {
            let mut buffer = match engine.pool().take(length) {
                Some(buffer) => buffer,
                None => new(engine, length)?,
            };
            fill(&mut buffer)?;
            Ok(buffer)
        });
        let buffer = made.map_err(|error| engine.failed(error))?;
        Ok(Self { engine: Arc::clone(engine), buffer: Some(buffer) })
    }

    /// Returns the engine of the device.
    pub(super) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}

/// Returns new memory; where there is none left, what is kept for others is given back first.
fn new<T: Scalar>(engine: &Engine, length: usize) -> Result<DeviceBuffer<T>, CudaError> {
    match DeviceBuffer::unfilled(engine.context(), length) {
        Err(CudaError::OutOfMemory { .. }) if engine.pool().clear() > 0 => {
            DeviceBuffer::unfilled(engine.context(), length)
        }
        made => made,
    }
}

impl<T: Scalar> Deref for PooledBuffer<T> {
    type Target = DeviceBuffer<T>;

    fn deref(&self) -> &DeviceBuffer<T> {
        // Only the drop takes it out.
        self.buffer.as_ref().unwrap_or_else(|| unreachable!("an array without memory"))
    }
}

impl<T: Scalar> Drop for PooledBuffer<T> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.engine.pool().keep(buffer, self.engine.memory() / SHARE);
        }
    }
}
