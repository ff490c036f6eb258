//! Reductions of matrices along an axis: sums, means, deviations, norms, minima and maxima of columns (axis 0) and of rows
//! (axis 1).
//!
//! Results are arrays and stay on the device, without a wait; their order is in the [module](super)'s description.

use crate::reduce::freedom;
use crate::storage::{Pair, Storage, on_whole_host};
use crate::{Array, ArrayError, ArrayShape, Engine, Scalar, cpu};
use octopus_cuda::{Arithmetic, AxisReduction, COLUMN_PART, CudaError, DeviceBuffer, ROW_PART};
use std::sync::Arc;

/// A reduction along an axis of a matrix. A vector is one row, which is reduced along axis 0.
#[derive(Clone, Copy)]
enum Along {
    Columns,
    Rows,
}

impl<T: Scalar> Array<T> {
    /// Returns the sums along an axis: of each column (0) or of each row (1). Of a vector it is the sum, as an array of one
    /// element.
    ///
    /// ```
    /// use octopus_array::Array;
    ///
    /// let a = Array::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    /// assert_eq!(a.sum_axis(0)?.to_host()?, [5.0, 7.0, 9.0]);
    /// assert_eq!(a.sum_axis(1)?.to_host()?, [6.0, 15.0]);
    /// # Ok::<(), octopus_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such axis, memory does not suffice, or the device fails.
    pub fn sum_axis(&self, axis: usize) -> Result<Self, ArrayError> {
        self.reduce_axis("sum_axis", AxisReduction::Sum, axis)
    }

    /// Returns the smallest elements along an axis, as [`Array::sum_axis`]; NaN where there is one, infinity of none.
    ///
    /// # Errors
    /// When there is no such axis, memory does not suffice, or the device fails.
    pub fn min_axis(&self, axis: usize) -> Result<Self, ArrayError> {
        self.reduce_axis("min_axis", AxisReduction::Min, axis)
    }

    /// Returns the largest elements along an axis, as [`Array::sum_axis`]; NaN where there is one, minus infinity of none.
    ///
    /// # Errors
    /// When there is no such axis, memory does not suffice, or the device fails.
    pub fn max_axis(&self, axis: usize) -> Result<Self, ArrayError> {
        self.reduce_axis("max_axis", AxisReduction::Max, axis)
    }

    /// Returns the means along an axis, as [`Array::sum_axis`]: the sum over the number of elements; NaN for none.
    ///
    /// # Errors
    /// When there is no such axis, memory does not suffice, or the device fails.
    pub fn mean_axis(&self, axis: usize) -> Result<Self, ArrayError> {
        let (_, count) = self.along("mean_axis", axis)?;
        self.sum_axis(axis)?.div_scalar(T::from_u64(count as u64))
    }

    /// Returns the standard deviations along an axis, each as [`Array::std`] has it, in two passes.
    ///
    /// # Errors
    /// When there is no such axis, memory does not suffice, or the device fails.
    pub fn std_axis(&self, axis: usize, ddof: usize) -> Result<Self, ArrayError> {
        let (_, count) = self.along("std_axis", axis)?;
        let squares = self.squares_axis(axis, &self.mean_axis(axis)?)?;
        squares.div_scalar(freedom(count, ddof))?.sqrt()
    }

    /// Returns the Euclidean norms along an axis, as [`Array::sum_axis`]: the roots of the sums of squares.
    ///
    /// # Errors
    /// When there is no such axis, memory does not suffice, or the device fails.
    pub fn norm_axis(&self, axis: usize) -> Result<Self, ArrayError> {
        self.along("norm_axis", axis)?;
        self.mul(self)?.sum_axis(axis)?.sqrt()
    }

    /// The sums along an axis of the squares of the distances from `center`, which has a number for each sum.
    fn squares_axis(&self, axis: usize, center: &Self) -> Result<Self, ArrayError> {
        let (along, _) = self.along("std_axis", axis)?;
        let (rows, columns) = self.shape.sides();
        match (self.beside("std_axis", center)?, along) {
            (Pair::Host(x, center), Along::Columns) => on_whole_host(columns.into(), |out| {
                (T::loops().squares_along_columns)((rows, columns), center, x, out);
                Ok(())
            }),
            (Pair::Host(x, center), Along::Rows) => on_whole_host(rows.into(), |out| {
                (T::loops().squares_along_rows)(columns, center, x, out);
                Ok(())
            }),
            // Kernel after kernel the same operations are done, rounded the same.
            (Pair::Cuda(..), along) => {
                let shape = match along {
                    Along::Columns => center.shape,
                    Along::Rows => ArrayShape::Matrix(center.len(), 1),
                };
                let own = ArrayShape::Matrix(rows, columns);
                let distances = self.broadcast_as("std_axis", Arithmetic::Sub, own, center, shape)?;
                let squares = distances.mul(&distances)?.reshape(self.shape)?;
                squares.sum_axis(axis)
            }
        }
    }

    /// Along what an axis goes, and the number of elements there.
    fn along(&self, operation: &'static str, axis: usize) -> Result<(Along, usize), ArrayError> {
        match (self.shape, axis) {
            (ArrayShape::Vector(length), 0) => Ok((Along::Rows, length)),
            (ArrayShape::Matrix(rows, _), 0) => Ok((Along::Columns, rows)),
            (ArrayShape::Matrix(_, columns), 1) => Ok((Along::Rows, columns)),
            (shape, axis) => Err(ArrayError::Axis { operation, axis, shape }),
        }
    }

    fn reduce_axis(&self, operation: &'static str, reduction: AxisReduction, axis: usize) -> Result<Self, ArrayError> {
        let (along, _) = self.along(operation, axis)?;
        let sides = self.shape.sides();
        match (&self.storage, along) {
            (Storage::Host(x), Along::Columns) => {
                on_whole_host(sides.1.into(), |out| cpu::reduce_columns(reduction, sides, x, out))
            }
            (Storage::Host(x), Along::Rows) => {
                on_whole_host(sides.0.into(), |out| cpu::reduce_rows(reduction, sides, x, out))
            }
            (Storage::Cuda(x), along) => Self::reduce_on_device(x.engine(), reduction, along, sides, x),
        }
    }

    /// Pass after pass, until one number is left of each row or column. What is in between is memory of arrays, which is
    /// kept for the next.
    fn reduce_on_device(
        engine: &Arc<Engine>,
        reduction: AxisReduction,
        along: Along,
        (rows, columns): (usize, usize),
        x: &DeviceBuffer<T>,
    ) -> Result<Self, ArrayError> {
        let (kernels, stream) = (engine.kernels(), engine.stream());
        let pass = |sides: (usize, usize), x: &DeviceBuffer<T>, out: &mut DeviceBuffer<T>| -> Result<(), CudaError> {
            match along {
                Along::Rows => kernels.reduce_rows(stream, reduction, sides, x, out),
                Along::Columns => kernels.reduce_columns(stream, reduction, sides, x, out),
            }
        };
        let parts = |(rows, columns): (usize, usize)| match along {
            Along::Rows => (rows, columns.div_ceil(ROW_PART).max(1)),
            Along::Columns => (rows.div_ceil(COLUMN_PART).max(1), columns),
        };
        let mut sides = parts((rows, columns));
        let mut partial = Self::made_on(engine, sides.into(), |out| pass((rows, columns), x, out))?;
        while parts(sides) != sides {
            let next = parts(sides);
            let Storage::Cuda(buffer) = &partial.storage else { break };
            partial = Self::made_on(engine, next.into(), |out| pass(sides, buffer, out))?;
            sides = next;
        }
        let length = partial.len();
        partial.reshape(length)
    }
}
