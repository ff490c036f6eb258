//! Arrays: their shape, the device where they live, their memory, and copies from one device to another.
//!
//! The elements of the parts in which results are made on the CPU stand here.

use crate::pool::{HostBuffer, PooledBuffer};
use crate::{ArrayElement, ArrayError, ArrayShape, Engine};
use octopus_cuda::DeviceBuffer;
use octopus_device::Device;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Numbers in one dimension or two on a [`Device`], `f32`, `f64` or (stored only) `f16`, in C order and without gaps.
///
/// ```
/// use octopus_array::Array;
/// use octopus_device::Device;
///
/// let x = Array::from_slice(&[1.0, 2.0, 3.0])?; // on Device::current(), the CPU unless told otherwise
/// let y = Array::full(3, 10.0)?;
/// assert_eq!(x.axpy(2.0, &y)?.to_host()?, [12.0, 14.0, 16.0]);
/// assert_eq!((x.dot(&y)?, x.device()), (60.0, Device::Cpu));
///
/// let a = Array::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
/// assert_eq!(a.shape().to_string(), "(2, 3)");
/// assert_eq!(a.matmul(&x)?.to_host()?, [14.0, 32.0]);
/// assert_eq!(a.sub(&a.mean_axis(0)?)?.to_host()?, [-1.5, -1.5, -1.5, 1.5, 1.5, 1.5]);
///
/// // The same on a GPU, where there is one; where there is none, the error says what is missing.
/// match x.to_device(Device::Cuda(0)) {
///     Ok(x) => assert_eq!(x.sum()?, 6.0),
///     Err(error) => println!("{error}"),
/// }
/// # Ok::<(), octopus_array::ArrayError>(())
/// ```
///
/// On a GPU an operation is queued and the call returns; [`Array::to_host`] and the reductions wait for it. An array that
/// is dropped leaves its memory to the next one of its length ([`Engine::trim`] gives it back), so that a loop over
/// arrays does not wait for the driver. So it is on the CPU, for arrays of 64 KiB and more ([`cpu::trim`](crate::cpu::trim)).
/// All threads share the device's one stream ([`Engine`]).
pub struct Array<T: ArrayElement> {
    pub(crate) shape: ArrayShape,
    pub(crate) storage: Storage<T>,
}

/// The elements.
pub(crate) enum Storage<T: ArrayElement> {
    Host(HostBuffer<T>),
    Cuda(PooledBuffer<T>),
}

impl<T: ArrayElement> Array<T> {
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
        let Device::Cuda(ordinal) = device else {
            let mut copy = HostBuffer::unfilled(elements.len())?;
            copy.copy_from_slice(elements);
            return Ok(copy.into());
        };
        let engine = Engine::ready(ordinal)?;
        Self::made_on(&engine, elements.len().into(), |buffer| buffer.copy_from(elements))
    }

    /// Makes a copy of `elements`, row after row, in a shape, on this thread's [`Device::current`].
    ///
    /// # Errors
    /// When the shape asks for another number of elements, the device is not there, its memory does not suffice, or it
    /// fails.
    pub fn from_shape(shape: impl Into<ArrayShape>, elements: &[T]) -> Result<Self, ArrayError> {
        let shape = shape.into();
        has_elements(shape, elements.len())?;
        Self::from_slice(elements)?.reshape(shape)
    }

    /// Makes a copy of rows on this thread's [`Device::current`].
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn from_rows<const COLUMNS: usize>(rows: &[[T; COLUMNS]]) -> Result<Self, ArrayError> {
        Self::from_shape((rows.len(), COLUMNS), rows.as_flattened())
    }

    /// Gives the elements, which stay where they are, another shape.
    ///
    /// # Errors
    /// When the shape asks for another number of elements.
    pub fn reshape(self, shape: impl Into<ArrayShape>) -> Result<Self, ArrayError> {
        let shape = shape.into();
        has_elements(shape, self.len())?;
        Ok(self.shaped(shape))
    }

    /// Gives the elements a shape that asks for as many.
    fn shaped(self, shape: ArrayShape) -> Self {
        Self { shape, storage: self.storage }
    }

    /// Makes a copy on `device`, by way of the host where it goes from one GPU to another.
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn to_device(&self, device: Device) -> Result<Self, ArrayError> {
        match &self.storage {
            Storage::Host(elements) => Self::on(device, elements)?.reshape(self.shape),
            Storage::Cuda(buffer) if buffer.engine().device() == device => {
                let engine = buffer.engine();
                Self::made_on(engine, self.shape, |out| engine.kernels().copy(engine.stream(), buffer, out))
            }
            Storage::Cuda(_) => Self::on(device, &self.to_host()?)?.reshape(self.shape),
        }
    }

    /// Returns the elements, row after row, once all that makes them is done.
    ///
    /// # Errors
    /// When the device fails, also at something that was queued before.
    pub fn to_host(&self) -> Result<Vec<T>, ArrayError> {
        match &self.storage {
            Storage::Host(elements) => Ok(elements.to_vec()),
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

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> ArrayShape {
        self.shape
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

    /// Pairs both operands, once they are known to be on one device.
    pub(crate) fn beside<'a>(&'a self, operation: &'static str, other: &'a Self) -> Result<Pair<'a, T>, ArrayError> {
        match (&self.storage, &other.storage) {
            (Storage::Host(x), Storage::Host(y)) => Ok(Pair::Host(x, y)),
            (Storage::Cuda(x), Storage::Cuda(y)) if x.engine().device() == y.engine().device() => {
                Ok(Pair::Cuda(x.engine(), x, y))
            }
            _ => Err(ArrayError::Devices { operation, left: self.device(), right: other.device() }),
        }
    }

    /// A new array on an engine's device, filled by `fill`.
    pub(crate) fn made_on(
        engine: &Arc<Engine>,
        shape: ArrayShape,
        fill: impl FnOnce(&mut DeviceBuffer<T>) -> Result<(), octopus_cuda::CudaError>,
    ) -> Result<Self, ArrayError> {
        let length = shape.elements("a new array")?;
        Ok(Self { shape, storage: Storage::Cuda(PooledBuffer::filled(engine, length, fill)?) })
    }
}

/// Two operands on one device.
pub(crate) enum Pair<'a, T: ArrayElement> {
    Host(&'a [T], &'a [T]),
    Cuda(&'a Arc<Engine>, &'a DeviceBuffer<T>, &'a DeviceBuffer<T>),
}

/// Elements that are made at a time on the CPU: parts of three arrays stay in the first-level cache.
const PART: usize = 1024;

/// A new array on the CPU, part after part of which `fill` is given, with the part's range: what goes through a part more
/// than once finds it in the cache.
pub(crate) fn on_host<T: ArrayElement>(
    shape: ArrayShape,
    fill: impl FnMut(Range<usize>, &mut [T]) -> Result<(), ArrayError>,
) -> Result<Array<T>, ArrayError> {
    on_host_by_parts(shape, PART, fill)
}

/// As [`on_host`], in parts of whole rows.
pub(crate) fn on_host_by_rows<T: ArrayElement>(
    shape: ArrayShape,
    mut fill: impl FnMut(Range<usize>, &mut [T]) -> Result<(), ArrayError>,
) -> Result<Array<T>, ArrayError> {
    let columns = shape.sides().1.max(1);
    let part = PART.div_ceil(columns) * columns;
    on_host_by_parts(shape, part, |range, out| fill(range.start / columns..range.end / columns, out))
}

fn on_host_by_parts<T: ArrayElement>(
    shape: ArrayShape,
    part: usize,
    mut fill: impl FnMut(Range<usize>, &mut [T]) -> Result<(), ArrayError>,
) -> Result<Array<T>, ArrayError> {
    let length = shape.elements("a new array")?;
    let mut elements = HostBuffer::unfilled(length)?;
    for start in (0..length).step_by(part.max(1)) {
        let end = length.min(start.saturating_add(part));
        fill(start..end, &mut elements[start..end])?;
    }
    Ok(Array::from(elements).shaped(shape))
}

/// A new array on the CPU, made as a whole: a loop that goes through it once gains nothing by parts, each of which takes
/// time to begin and to end.
pub(crate) fn on_whole_host<T: ArrayElement>(
    shape: ArrayShape,
    fill: impl FnOnce(&mut [T]) -> Result<(), ArrayError>,
) -> Result<Array<T>, ArrayError> {
    let mut elements = HostBuffer::unfilled(shape.elements("a new array")?)?;
    fill(&mut elements)?;
    Ok(Array::from(elements).shaped(shape))
}

fn has_elements(shape: ArrayShape, size: usize) -> Result<(), ArrayError> {
    let (rows, columns) = shape.sides();
    if rows.checked_mul(columns) == Some(size) { Ok(()) } else { Err(ArrayError::Reshape { size, shape }) }
}

impl<T: ArrayElement> From<HostBuffer<T>> for Array<T> {
    fn from(elements: HostBuffer<T>) -> Self {
        Self { shape: elements.len().into(), storage: Storage::Host(elements) }
    }
}

/// Makes an array on the CPU, without a copy.
impl<T: ArrayElement> From<Vec<T>> for Array<T> {
    fn from(elements: Vec<T>) -> Self {
        HostBuffer::from(elements).into()
    }
}

impl<T: ArrayElement> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array<{}>({} on {})", T::SUFFIX, self.shape, self.device())
    }
}
