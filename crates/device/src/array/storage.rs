//! One-dimensional arrays: the device where they live, their memory, and copies from one device to another.

use super::pool::PooledBuffer;
use super::{ArrayError, Engine, Scalar};
use crate::Device;
use octopus_cuda::DeviceBuffer;
use std::fmt;
use std::sync::Arc;

/// Numbers in one dimension on a [`Device`], `f32` or `f64`.
///
/// ```
/// use octopus_device::{Array, Device};
///
/// let x = Array::from_slice(&[1.0, 2.0, 3.0])?; // on Device::current(), the CPU unless told otherwise
/// let y = Array::filled(3, 10.0)?;
/// assert_eq!(x.axpy(2.0, &y)?.to_host()?, [12.0, 14.0, 16.0]);
/// assert_eq!((x.dot(&y)?, x.device()), (60.0, Device::Cpu));
///
/// // The same on a GPU, where there is one; where there is none, the error says what is missing.
/// match x.to_device(Device::Cuda(0)) {
///     Ok(x) => assert_eq!(x.sum()?, 6.0),
///     Err(error) => println!("{error}"),
/// }
/// # Ok::<(), octopus_device::ArrayError>(())
/// ```
///
/// On a GPU an operation is queued and the call returns; [`Array::to_host`] and the reductions wait for it. An array that
/// is dropped leaves its memory to the next one of its length ([`Engine::trim`] gives it back), so that a loop over
/// arrays does not wait for the driver.
/// All threads share the device's one stream ([`Engine`]).
pub struct Array<T: Scalar> {
    pub(super) storage: Storage<T>,
}

/// The elements.
pub(super) enum Storage<T: Scalar> {
    Host(Vec<T>),
    Cuda(PooledBuffer<T>),
}

impl<T: Scalar> Array<T> {
    /// Makes a copy of `elements` on this thread's [`Device::current`].
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn from_slice(elements: &[T]) -> Result<Self, ArrayError> {
        Self::on(Device::current(), elements)
    }

    /// Makes a copy of `elements` on `device`.
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn on(device: Device, elements: &[T]) -> Result<Self, ArrayError> {
        let Device::Cuda(ordinal) = device else { return Ok(elements.to_vec().into()) };
        let engine = Engine::ready(ordinal)?;
        Self::made_on(&engine, elements.len(), |buffer| buffer.copy_from(elements))
    }

    /// Makes an array of `length` times `value` on this thread's [`Device::current`].
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn filled(length: usize, value: T) -> Result<Self, ArrayError> {
        let Device::Cuda(ordinal) = Device::current() else {
            return host_memory(length, value).map(Self::from);
        };
        let engine = Engine::ready(ordinal)?;
        Self::made_on(&engine, length, |out| engine.kernels().fill(engine.stream(), value, out))
    }

    /// Makes a copy on `device`, by way of the host where it goes from one GPU to another.
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn to_device(&self, device: Device) -> Result<Self, ArrayError> {
        match &self.storage {
            Storage::Host(elements) => Self::on(device, elements),
            Storage::Cuda(buffer) if buffer.engine().device() == device => {
                let engine = buffer.engine();
                Self::made_on(engine, buffer.len(), |out| engine.kernels().copy(engine.stream(), buffer, out))
            }
            Storage::Cuda(_) => Self::on(device, &self.to_host()?),
        }
    }

    /// Returns the elements, once all that makes them is done.
    ///
    /// # Errors
    /// When the device fails, also at something that was queued before.
    pub fn to_host(&self) -> Result<Vec<T>, ArrayError> {
        match &self.storage {
            Storage::Host(elements) => Ok(elements.clone()),
            Storage::Cuda(buffer) => buffer.to_vec().map_err(|error| buffer.engine().failed(error)),
        }
    }

    /// Returns the device that holds the array.
    #[must_use]
    pub fn device(&self) -> Device {
        match &self.storage {
            Storage::Host(_) => Device::Cpu,
            Storage::Cuda(buffer) => buffer.engine().device(),
        }
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.storage {
            Storage::Host(elements) => elements.len(),
            Storage::Cuda(buffer) => buffer.len(),
        }
    }

    /// Returns whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until all that was queued on its device is done; nothing to wait for on the CPU.
    ///
    /// # Errors
    /// When something that was queued failed.
    pub fn synchronize(&self) -> Result<(), ArrayError> {
        match &self.storage {
            Storage::Host(_) => Ok(()),
            Storage::Cuda(buffer) => {
                buffer.engine().stream().synchronize().map_err(|error| buffer.engine().failed(error))
            }
        }
    }

    /// A new array on an engine's device, filled by `fill`.
    pub(crate) fn made_on(
        engine: &Arc<Engine>,
        length: usize,
        fill: impl FnOnce(&mut DeviceBuffer<T>) -> Result<(), octopus_cuda::CudaError>,
    ) -> Result<Self, ArrayError> {
        Ok(Self { storage: Storage::Cuda(PooledBuffer::filled(engine, length, fill)?) })
    }
}

/// `length` times `value` on the host; too many are an error and not the end of the program.
pub(crate) fn host_memory<T: Scalar>(length: usize, value: T) -> Result<Vec<T>, ArrayError> {
    let mut elements = Vec::new();
    let enough = elements.try_reserve_exact(length);
    enough.map_err(|_| ArrayError::HostMemory { elements: length, element_bytes: size_of::<T>() })?;
    elements.resize(length, value);
    Ok(elements)
}

/// Makes an array on the CPU, without a copy.
impl<T: Scalar> From<Vec<T>> for Array<T> {
    fn from(elements: Vec<T>) -> Self {
        Self { storage: Storage::Host(elements) }
    }
}

impl<T: Scalar> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array<{}>({} elements on {})", T::SUFFIX, self.len(), self.device())
    }
}
