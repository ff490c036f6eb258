//! The errors of operations on arrays.

use crate::Device;
use octopus_cuda::CudaError;
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
    /// A matrix does not have the elements that its shape asks for.
    #[error("a matrix of {rows} x {columns} has {} elements, {found} were given", .rows.saturating_mul(*.columns))]
    Shape {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
        /// Elements given.
        found: usize,
    },
    /// Two matrices have no product.
    #[error(
        "matmul: a matrix of {} x {} cannot be multiplied by one of {} x {}: the first's columns must be the second's rows",
        .left.0, .left.1, .right.0, .right.1
    )]
    Inner {
        /// Rows and columns of the first.
        left: (usize, usize),
        /// Rows and columns of the second.
        right: (usize, usize),
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
