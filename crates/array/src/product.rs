//! Products of arrays: matmul and outer.

use crate::storage::{Pair, on_whole_host};
use crate::{Array, ArrayError, ArrayShape, Scalar, cpu};
use octopus_cuda::{Arithmetic, MatrixShape};

impl<T: Scalar> Array<T> {
    /// Computes the matrix product `self * other`: each element is summed over k in order from +0, rounded after each product
    /// and sum, the same on every device.
    ///
    /// As in NumPy, a vector on the left is a row and one on the right a column, and the result is then a vector; the product
    /// of two vectors is [`Array::dot`]'s.
    ///
    /// # Errors
    /// When `self` does not have as many columns as `other` has rows, both are vectors, devices differ, memory does not
    /// suffice, or the device fails.
    pub fn matmul(&self, other: &Self) -> Result<Self, ArrayError> {
        let (sides, shape) = self.aligned("matmul", other)?;
        match self.beside("matmul", other)? {
            Pair::Host(a, b) => on_whole_host(shape, |c| cpu::matmul(sides, a, b, c)),
            Pair::Cuda(engine, a, b) => {
                Self::made_on(engine, shape, |c| engine.kernels().matmul(engine.stream(), sides, a, b, c))
            }
        }
    }

    /// Computes the outer product of two vectors, `self[i] * other[j]`, a matrix.
    ///
    /// # Errors
    /// When one is no vector, devices differ, memory does not suffice, or the device fails.
    pub fn outer(&self, other: &Self) -> Result<Self, ArrayError> {
        for array in [self, other] {
            if array.shape.dimensions() != 1 {
                return Err(ArrayError::Dimensions { operation: "outer", expected: 1, shape: array.shape });
            }
        }
        let (rows, columns) = (ArrayShape::from((self.len(), 1)), ArrayShape::from((1, other.len())));
        self.broadcast_as("outer", Arithmetic::Mul, rows, other, columns)
    }

    /// The sides of a product, and its shape.
    fn aligned(&self, operation: &'static str, other: &Self) -> Result<(MatrixShape, ArrayShape), ArrayError> {
        let (m, k) = self.shape.sides();
        let (rows, n) = match other.shape {
            ArrayShape::Vector(length) => (length, 1),
            ArrayShape::Matrix(rows, columns) => (rows, columns),
        };
        if k != rows {
            let (left, right) = (self.shape, other.shape);
            return Err(ArrayError::Inner { operation, left, right, inner: k, other: rows });
        }
        let shape = match (self.shape, other.shape) {
            (ArrayShape::Vector(_), ArrayShape::Vector(_)) => {
                return Err(ArrayError::Dimensions { operation, expected: 2, shape: self.shape });
            }
            (ArrayShape::Vector(_), _) => ArrayShape::Vector(n),
            (_, ArrayShape::Vector(_)) => ArrayShape::Vector(m),
            _ => ArrayShape::Matrix(m, n),
        };
        Ok((MatrixShape { m, k, n }, shape))
    }
}
