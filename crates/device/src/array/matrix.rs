//! Matrices on a device, row-major, and their product (matmul).

use super::elementwise::{Pair, on_host};
use super::{Array, ArrayError, Scalar, cpu};
use crate::Device;
use octopus_cuda::MatrixShape;

/// A matrix in row-major order on a [`Device`].
///
/// ```
/// use octopus_device::Matrix;
///
/// let a = Matrix::from_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let b = Matrix::from_slice(3, 1, &[1.0, 0.0, -1.0])?;
/// assert_eq!(a.matmul(&b)?.to_host()?, [-2.0, -2.0]);
/// # Ok::<(), octopus_device::ArrayError>(())
/// ```
#[derive(Debug)]
pub struct Matrix<T: Scalar> {
    rows: usize,
    columns: usize,
    elements: Array<T>,
}

impl<T: Scalar> Matrix<T> {
    /// Makes a copy of `elements`, row after row, on this thread's [`Device::current`].
    ///
    /// # Errors
    /// When there are not `rows * columns` elements, the device is not there, its memory does not suffice, or it fails.
    pub fn from_slice(rows: usize, columns: usize, elements: &[T]) -> Result<Self, ArrayError> {
        is_shape(rows, columns, elements.len())?;
        Ok(Self { rows, columns, elements: Array::from_slice(elements)? })
    }

    /// Makes the matrix of an array's elements, row after row, on the array's device.
    ///
    /// # Errors
    /// When it does not have `rows * columns` elements.
    pub fn from_array(rows: usize, columns: usize, elements: Array<T>) -> Result<Self, ArrayError> {
        is_shape(rows, columns, elements.len())?;
        Ok(Self { rows, columns, elements })
    }

    /// Makes a copy on `device`.
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn to_device(&self, device: Device) -> Result<Self, ArrayError> {
        Ok(Self { rows: self.rows, columns: self.columns, elements: self.elements.to_device(device)? })
    }

    /// Returns the elements, row after row, once all that makes them is done.
    ///
    /// # Errors
    /// When the device fails, also at something that was queued before.
    pub fn to_host(&self) -> Result<Vec<T>, ArrayError> {
        self.elements.to_host()
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the device that holds the matrix.
    #[must_use]
    pub fn device(&self) -> Device {
        self.elements.device()
    }

    /// Returns the elements as an array, row after row.
    #[must_use]
    pub fn as_array(&self) -> &Array<T> {
        &self.elements
    }

    /// Returns the elements as an array, row after row, without a copy.
    #[must_use]
    pub fn into_array(self) -> Array<T> {
        self.elements
    }

    /// Computes the product `self * other`: each element is summed over k in order from +0, rounded after each product
    /// and sum.
    ///
    /// # Errors
    /// When `self` does not have as many columns as `other` has rows, when devices differ, memory does not suffice, or
    /// the device fails.
    pub fn matmul(&self, other: &Self) -> Result<Self, ArrayError> {
        if self.columns != other.rows {
            let (left, right) = ((self.rows, self.columns), (other.rows, other.columns));
            return Err(ArrayError::Inner { left, right });
        }
        let shape = MatrixShape { m: self.rows, k: self.columns, n: other.columns };
        let (rows, columns) = (self.rows, other.columns);
        let length = rows.checked_mul(columns).ok_or(ArrayError::TooLarge { operation: "matmul", rows, columns })?;
        let elements = match self.elements.beside("matmul", &other.elements)? {
            Pair::Host(a, b) => on_host(length, |c| cpu::matmul(shape, a, b, c))?,
            Pair::Cuda(engine, a, b) => {
                Array::made_on(engine, length, |c| engine.kernels().matmul(engine.stream(), shape, a, b, c))?
            }
        };
        Ok(Self { rows, columns, elements })
    }
}

fn is_shape(rows: usize, columns: usize, found: usize) -> Result<(), ArrayError> {
    if rows.checked_mul(columns) == Some(found) { Ok(()) } else { Err(ArrayError::Shape { rows, columns, found }) }
}
