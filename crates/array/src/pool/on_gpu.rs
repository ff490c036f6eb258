//! Memory of a device for arrays.
//!
//! All arrays of a device are worked on in one stream: what is queued for the next owner of a piece of memory runs after
//! all that was queued for the last one, and nobody has to wait.

use super::SHARE;
use crate::{ArrayError, Engine};
use octopus_cuda::{CudaError, DeviceBuffer, Element};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The memory of an array, which goes back to its device's pool.
pub(crate) struct PooledBuffer<T: Element> {
    engine: Arc<Engine>,
    /// Always there until the drop.
    buffer: Option<DeviceBuffer<T>>,
}

impl<T: Element> PooledBuffer<T> {
    /// Returns memory of `length` elements with the values that `fill` gives them: kept memory, or new.
    pub(crate) fn filled(
        engine: &Arc<Engine>,
        length: usize,
        fill: impl FnOnce(&mut DeviceBuffer<T>) -> Result<(), CudaError>,
    ) -> Result<Self, ArrayError> {
        let made = engine.context().healthy().and_then(|()| {
            let mut buffer = match engine.pool().take(length.saturating_mul(size_of::<T>())) {
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
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}

/// Returns new memory; where there is none left, what is kept for others is given back first.
fn new<T: Element>(engine: &Engine, length: usize) -> Result<DeviceBuffer<T>, CudaError> {
    match DeviceBuffer::unfilled(engine.context(), length) {
        Err(CudaError::OutOfMemory { .. }) if engine.pool().clear() > 0 => {
            DeviceBuffer::unfilled(engine.context(), length)
        }
        made => made,
    }
}

impl<T: Element> Deref for PooledBuffer<T> {
    type Target = DeviceBuffer<T>;

    fn deref(&self) -> &DeviceBuffer<T> {
        // Only the drop takes it out.
        self.buffer.as_ref().unwrap_or_else(|| unreachable!("an array without memory"))
    }
}

impl<T: Element> DerefMut for PooledBuffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceBuffer<T> {
        self.buffer.as_mut().unwrap_or_else(|| unreachable!("an array without memory"))
    }
}

impl<T: Element> Drop for PooledBuffer<T> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            let bytes = buffer.bytes();
            self.engine.pool().keep(buffer, bytes, self.engine.memory() / SHARE);
        }
    }
}
