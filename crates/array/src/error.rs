//! The errors of operations on arrays.

use crate::ArrayShape;
use octopus_cuda::CudaError;
use octopus_device::Device;
use thiserror::Error;

/// An operation on arrays that cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// Two arrays are of different lengths.
    #[error("{operation}: one array has {left} elements and the other {right}; they must have the same number")]
    Length {
        /// The operation, in words.
        operation: &'static str,
        /// The number of elements of the first array, or of elements that the shape asks for.
        left: usize,
        /// Elements of the other.
        right: usize,
    },
    /// Two arrays are on different devices.
    #[error("{operation}: one array is on {left} and the other on {right}; copy one with `to_device`")]
    Devices {
        /// The operation, in words.
        operation: &'static str,
        /// The device of the first array.
        left: Device,
        /// The device of the other array.
        right: Device,
    },
    /// Two shapes that cannot be broadcast to one.
    #[error("{operation}: operands could not be broadcast together with shapes {left} {right}")]
    Broadcast {
        /// The operation, in words.
        operation: &'static str,
        /// The shape of the first array.
        left: ArrayShape,
        /// The shape of the other array.
        right: ArrayShape,
    },
    /// An array does not have the elements that a shape asks for.
    #[error("cannot reshape array of size {size} into shape {shape}")]
    Reshape {
        /// Elements that there are.
        size: usize,
        /// The shape asked for.
        shape: ArrayShape,
    },
    /// The array has no such axis.
    #[error("{operation}: axis {axis} is out of bounds for array of dimension {}, with shape {shape}", .shape.dimensions())]
    Axis {
        /// The operation, in words.
        operation: &'static str,
        /// The axis asked for.
        axis: usize,
        /// The array's shape.
        shape: ArrayShape,
    },
    /// The operation is for arrays of another number of dimensions.
    #[error("{operation}: an array of {expected} dimensions is needed, this one has shape {shape}")]
    Dimensions {
        /// The operation, in words.
        operation: &'static str,
        /// The dimensions that the operation needs.
        expected: usize,
        /// The array's shape.
        shape: ArrayShape,
    },
    /// Two arrays have no product.
    #[error("{operation}: shapes {left} and {right} not aligned: {inner} != {other}")]
    Inner {
        /// The operation, in words.
        operation: &'static str,
        /// The shape of the first array.
        left: ArrayShape,
        /// The shape of the other array.
        right: ArrayShape,
        /// The columns of the first.
        inner: usize,
        /// The rows of the other.
        other: usize,
    },
    /// A slice begins after its end, or ends beyond the array's.
    #[error("slice: {start}..{end} is not within axis {axis} of an array of shape {shape}")]
    Slice {
        /// The axis that is sliced.
        axis: usize,
        /// The first index.
        start: usize,
        /// The index after the last.
        end: usize,
        /// The array's shape.
        shape: ArrayShape,
    },
    /// Arrays that do not fit side by side.
    #[error(
        "concatenate: all the input array dimensions except for the concatenation axis must match exactly, but along axis \
         {axis} there are shapes {left} and {right}"
    )]
    Concatenate {
        /// The axis along which they are joined.
        axis: usize,
        /// The shape of the first array.
        left: ArrayShape,
        /// The shape of the array that does not fit.
        right: ArrayShape,
    },
    /// There is nothing to concatenate.
    #[error("concatenate: need at least one array to concatenate")]
    NoArrays,
    /// A range of numbers that never ends, or of which nothing can be said.
    #[error("arange: from {start} to {stop} by steps of {step} there is no number of elements")]
    Range {
        /// The first number, in words.
        start: String,
        /// The number before which it ends, in words.
        stop: String,
        /// The step, in words.
        step: String,
    },
    /// More elements than memory has addresses.
    #[error("{operation}: {rows} x {columns} elements are more than any memory holds")]
    TooLarge {
        /// The operation, in words.
        operation: &'static str,
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
    },
    /// The host's memory does not suffice.
    #[error("the host's memory does not hold {elements} elements of {element_bytes} bytes; use smaller arrays")]
    HostMemory {
        /// Elements asked for.
        elements: usize,
        /// Bytes of one.
        element_bytes: usize,
    },
    /// The device failed, or there is none.
    #[error("{device}: {source}")]
    Cuda {
        /// The device.
        device: Device,
        /// The device's error.
        source: CudaError,
    },
}

impl ArrayError {
    /// Returns the device's error, where a device failed.
    #[must_use]
    pub fn cuda(&self) -> Option<&CudaError> {
        match self {
            Self::Cuda { source, .. } => Some(source),
            _ => None,
        }
    }
}
