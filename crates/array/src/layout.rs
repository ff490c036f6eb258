//! Arrays made of parts of other arrays: transpose, slice, concatenate.

use crate::pool::HostBuffer;
use crate::storage::{Storage, on_host_by_rows};
use crate::{Array, ArrayElement, ArrayError, ArrayShape, cpu};
use octopus_cuda::WindowPlace;
use std::ops::{Bound, RangeBounds};

impl<T: ArrayElement> Array<T> {
    /// Turns a matrix over: row i becomes column i. A vector stays as it is, as in NumPy.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn transpose(&self) -> Result<Self, ArrayError> {
        let ArrayShape::Matrix(rows, columns) = self.shape else { return self.to_device(self.device()) };
        let shape = ArrayShape::Matrix(columns, rows);
        match &self.storage {
            Storage::Host(x) => on_host_by_rows(shape, |lines, out| {
                cpu::columns_of((rows, columns), x, lines.start, out);
                Ok(())
            }),
            Storage::Cuda(x) => {
                let engine = x.engine();
                Self::made_on(engine, shape, |out| engine.kernels().transpose(engine.stream(), (rows, columns), x, out))
            }
        }
    }

    /// Returns a copy of some rows and some columns; a vector is one row, and its slice is a vector.
    ///
    /// ```
    /// use octopus_array::Array;
    ///
    /// let a = Array::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    /// assert_eq!(a.slice(.., 1..)?.to_host()?, [2.0, 3.0, 5.0, 6.0]);
    /// assert_eq!(a.slice(1..2, ..2)?.shape().to_string(), "(1, 2)");
    /// # Ok::<(), octopus_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// When a range begins after its end or ends beyond the array, memory does not suffice, or the device fails.
    pub fn slice(&self, rows: impl RangeBounds<usize>, columns: impl RangeBounds<usize>) -> Result<Self, ArrayError> {
        let sides = self.shape.sides();
        let (top, height) = self.part(rows, sides.0, 0)?;
        let (left, width) = self.part(columns, sides.1, self.shape.dimensions() - 1)?;
        let shape = match self.shape {
            ArrayShape::Vector(_) if height == 1 => ArrayShape::Vector(width),
            ArrayShape::Vector(_) => ArrayShape::Vector(0),
            ArrayShape::Matrix(..) => ArrayShape::Matrix(height, width),
        };
        let from = WindowPlace { first: top * sides.1 + left, row: sides.1 };
        match &self.storage {
            Storage::Host(x) => on_host_by_rows(shape, |rows, out| {
                let from = WindowPlace { first: from.first + rows.start * from.row, ..from };
                cpu::window((rows.len(), width), (x, from), (out, WindowPlace { first: 0, row: width }))
            }),
            Storage::Cuda(x) => {
                let engine = x.engine();
                let (kernels, stream) = (engine.kernels(), engine.stream());
                let to = WindowPlace { first: 0, row: width };
                Self::made_on(engine, shape, |out| {
                    kernels.window(stream, (shape.sides().0, width), (x, from), (out, to))
                })
            }
        }
    }

    /// Puts arrays one below the other (axis 0) or side by side (axis 1); vectors, which have axis 0 only, one after the
    /// other.
    ///
    /// # Errors
    /// When there are none, when the sides that do not lie along the axis differ, there is no such axis, devices differ,
    /// memory does not suffice, or the device fails.
    pub fn concatenate(arrays: &[&Self], axis: usize) -> Result<Self, ArrayError> {
        const NAME: &str = "concatenate";
        let first = *arrays.first().ok_or(ArrayError::NoArrays)?;
        if axis >= first.shape.dimensions() {
            return Err(ArrayError::Axis { operation: NAME, axis, shape: first.shape });
        }
        // Vectors lie side by side in one row.
        let is_below = axis == 0 && first.shape.dimensions() == 2;
        let (mut rows, mut columns) = first.shape.sides();
        for array in &arrays[1..] {
            first.beside(NAME, array)?;
            let (more_rows, more_columns) = array.shape.sides();
            let fits = if is_below { more_columns == columns } else { more_rows == rows };
            if !fits || array.shape.dimensions() != first.shape.dimensions() {
                return Err(ArrayError::Concatenate { axis, left: first.shape, right: array.shape });
            }
            let side = if is_below { (&mut rows, more_rows) } else { (&mut columns, more_columns) };
            *side.0 = side.0.saturating_add(side.1);
        }
        let shape = match first.shape {
            ArrayShape::Vector(_) => ArrayShape::Vector(columns),
            ArrayShape::Matrix(..) => ArrayShape::Matrix(rows, columns),
        };
        // The first element of each array in the result.
        let starts = arrays.iter().scan(0, |start, array| {
            let own = *start;
            *start += if is_below { array.len() } else { array.shape.sides().1 };
            Some(own)
        });
        let places: Vec<_> = starts.map(|first| WindowPlace { first, row: columns }).collect();
        let from = |array: &Self| WindowPlace { first: 0, row: array.shape.sides().1 };
        match &first.storage {
            Storage::Host(_) => {
                let mut all = HostBuffer::unfilled(shape.elements(NAME)?)?;
                let mut rest = &mut all[..];
                // Below each other, arrays are taken whole; side by side, row after row of each.
                for row in 0..if is_below { 1 } else { rows } {
                    for x in arrays.iter().filter_map(|array| array.host()) {
                        let own = x.len() / if is_below { 1 } else { rows };
                        let (out, after) = rest.split_at_mut(own);
                        out.copy_from_slice(&x[row * own..][..own]);
                        rest = after;
                    }
                }
                Self::from(all).reshape(shape)
            }
            Storage::Cuda(buffer) => {
                let engine = buffer.engine();
                Self::made_on(engine, shape, |out| {
                    for (array, to) in arrays.iter().zip(&places) {
                        if let Storage::Cuda(x) = &array.storage {
                            let sides = array.shape.sides();
                            engine.kernels().window(engine.stream(), sides, (x, from(array)), (out, *to))?;
                        }
                    }
                    Ok(())
                })
            }
        }
    }

    /// Returns the elements, where they are on the CPU.
    fn host(&self) -> Option<&[T]> {
        match &self.storage {
            Storage::Host(elements) => Some(elements),
            Storage::Cuda(_) => None,
        }
    }

    /// Returns where a range of a side begins, and its length.
    fn part(&self, range: impl RangeBounds<usize>, side: usize, axis: usize) -> Result<(usize, usize), ArrayError> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => side,
        };
        if start <= end && end <= side {
            Ok((start, end - start))
        } else {
            Err(ArrayError::Slice { axis, start, end, shape: self.shape })
        }
    }
}
