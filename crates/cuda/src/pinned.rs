//! Page-locked arrays on the host.

use crate::binding::PinnedMemory;
use crate::{Context, CudaError, Element};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// An array of the host whose pages are locked, so that the device copies it by itself while the program goes on.
///
/// It is a slice like any other; only [`DeviceBuffer::upload`](crate::DeviceBuffer::upload) and
/// [`DeviceBuffer::download`](crate::DeviceBuffer::download) take it, and keep it until the copy is done. Locked pages
/// are taken from the whole machine, so make few and use them again.
pub struct PinnedBuffer<T: Element> {
    memory: PinnedMemory,
    element: PhantomData<T>,
}

impl<T: Element> PinnedBuffer<T> {
    /// Makes an array of zeros.
    ///
    /// # Errors
    /// [`CudaError::OutOfPinnedMemory`] when the system has no more pages to lock; [`CudaError::TooLarge`].
    pub fn zeroed(context: &Context, length: usize) -> Result<Self, CudaError> {
        PinnedMemory::zeroed::<T>(context.session(), length).map(Self::of)
    }

    /// Makes a copy of another array.
    ///
    /// # Errors
    /// [`CudaError::OutOfPinnedMemory`] when the system has no more pages to lock; [`CudaError::TooLarge`].
    pub fn from_slice(context: &Context, source: &[T]) -> Result<Self, CudaError> {
        let mut buffer = Self::zeroed(context, source.len())?;
        buffer.copy_from_slice(source);
        Ok(buffer)
    }

    pub(crate) fn of(memory: PinnedMemory) -> Self {
        Self { memory, element: PhantomData }
    }

    pub(crate) fn into_memory(self) -> PinnedMemory {
        self.memory
    }
}

impl<T: Element> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.memory.slice()
    }
}

impl<T: Element> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.memory.slice_mut()
    }
}

impl<T: Element> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBuffer<{}>({} elements)", std::any::type_name::<T>(), self.len())
    }
}
