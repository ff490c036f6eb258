//! Arrays in device memory: their allocation, and copies to and from the host.

use crate::binding::{InFlight, RawDeviceMemory};
use crate::{Context, CudaError, Element, PinnedBuffer, Stream, Transfer};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// An array in device memory.
///
/// Copies named `copy_...` are done when they return, and come after all work that was queued before on any stream of
/// the context, so they see its results. [`DeviceBuffer::upload`] and [`DeviceBuffer::download`] run in the
/// background, in order with one stream.
///
/// Dropping a buffer waits until the device is idle: kernels that use it may still run. A buffer of no elements takes
/// no memory.
pub struct DeviceBuffer<T: Element> {
    memory: RawDeviceMemory,
    length: usize,
    element: PhantomData<T>,
}

impl<T: Element> DeviceBuffer<T> {
    /// Makes an array of zeros.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`] with what is free; [`CudaError::TooLarge`] for more bytes than can be counted.
    pub fn zeroed(context: &Context, length: usize) -> Result<Self, CudaError> {
        let mut buffer = Self::unfilled(context, length)?;
        buffer.set_zero()?;
        Ok(buffer)
    }

    /// Makes a copy of an array of the host.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`] with what is free; [`CudaError::TooLarge`] for more bytes than can be counted; and
    /// when the copy fails.
    pub fn from_slice(context: &Context, source: &[T]) -> Result<Self, CudaError> {
        let mut buffer = Self::unfilled(context, source.len())?;
        buffer.memory.write(0, source)?;
        Ok(buffer)
    }

    /// Makes an array with whatever numbers its memory holds, for callers who fill it next: a call to the driver less
    /// than [`DeviceBuffer::zeroed`], which waits for the device.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`] with what is free; [`CudaError::TooLarge`] for more bytes than can be counted.
    pub fn unfilled(context: &Context, length: usize) -> Result<Self, CudaError> {
        let memory = RawDeviceMemory::allocate::<T>(context.session(), length)?;
        Ok(Self { memory, length, element: PhantomData })
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.length * size_of::<T>()
    }

    pub(crate) fn memory(&self) -> &RawDeviceMemory {
        &self.memory
    }

    /// Sets every element to zero.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn set_zero(&mut self) -> Result<(), CudaError> {
        self.memory.zero()
    }

    /// Returns a copy on the host.
    ///
    /// # Errors
    /// When the copy or any work before fails.
    pub fn to_vec(&self) -> Result<Vec<T>, CudaError> {
        let mut target = vec![T::default(); self.length];
        self.memory.read(0, &mut target)?;
        Ok(target)
    }

    /// Copies from the host, element by element.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`]; and when the copy or any work before fails.
    pub fn copy_from(&mut self, source: &[T]) -> Result<(), CudaError> {
        self.same_length("copying to the device", "the slice", source.len())?;
        self.memory.write(0, source)
    }

    /// Copies to the host, element by element.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`]; and when the copy or any work before fails.
    pub fn copy_to(&self, target: &mut [T]) -> Result<(), CudaError> {
        self.same_length("copying from the device", "the slice", target.len())?;
        self.memory.read(0, target)
    }

    /// Copies from the host to the elements from `start` on.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`]; and when the copy or any work before fails.
    pub fn copy_range_from(&mut self, start: usize, source: &[T]) -> Result<(), CudaError> {
        self.memory.write(start, source)
    }

    /// Copies the elements from `start` on to the host.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`]; and when the copy or any work before fails.
    pub fn copy_range_to(&self, start: usize, target: &mut [T]) -> Result<(), CudaError> {
        self.memory.read(start, target)
    }

    /// Copies another buffer, element by element, on the device. In order with all streams, but not waited for.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`], [`CudaError::ContextMismatch`]; and when the driver fails.
    pub fn copy_from_device(&mut self, source: &Self) -> Result<(), CudaError> {
        self.same_length("copying on the device", "the source", source.length)?;
        self.memory.write_from::<T>(&source.memory, self.length)
    }

    /// Starts to copy the first elements of a pinned buffer to a range of this one, in order with a stream.
    ///
    /// The pinned buffer comes back from [`Transfer::wait`].
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`], [`CudaError::LengthMismatch`] when the pinned buffer is shorter than the range,
    /// [`CudaError::ContextMismatch`]; and when the driver fails. The pinned buffer is then gone.
    pub fn upload(
        &mut self,
        range: Range<usize>,
        source: PinnedBuffer<T>,
        stream: &Stream,
    ) -> Result<Transfer<T>, CudaError> {
        InFlight::upload::<T>(&mut self.memory, range, source.into_memory(), stream.raw()).map(Transfer::new)
    }

    /// Starts to copy a range of this buffer to the first elements of a pinned one, in order with a stream.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`], [`CudaError::LengthMismatch`] when the pinned buffer is shorter than the range,
    /// [`CudaError::ContextMismatch`]; and when the driver fails. The pinned buffer is then gone.
    pub fn download(
        &self,
        range: Range<usize>,
        target: PinnedBuffer<T>,
        stream: &Stream,
    ) -> Result<Transfer<T>, CudaError> {
        InFlight::download::<T>(&self.memory, range, target.into_memory(), stream.raw()).map(Transfer::new)
    }

    fn same_length(&self, operation: &str, what: &'static str, found: usize) -> Result<(), CudaError> {
        if found == self.length {
            return Ok(());
        }
        Err(CudaError::LengthMismatch { operation: operation.to_owned(), what, expected: self.length, found })
    }
}

impl<T: Element> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBuffer<{}>({} elements)", std::any::type_name::<T>(), self.length)
    }
}
