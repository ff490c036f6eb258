//! Operations on the CPU whose operands are broadcast to a common shape: arithmetic, and NumPy's `where`.

use super::{is_within, same_length};
use crate::{ArrayError, Scalar};
use octopus_cuda::Arithmetic;
use pulp::{Arch, Simd, WithSimd};

/// An operand that is broadcast: its elements, and the distances of the next row and of the next column, which are 0 where
/// it has one only.
#[derive(Clone, Copy, Debug)]
pub struct SliceOperand<'a, T> {
    /// The elements.
    pub elements: &'a [T],
    /// The distance of the next row.
    pub row: usize,
    /// The distance of the next column.
    pub column: usize,
}

/// A row of an operand: all its elements, one that stands for all, or elements that are apart.
#[derive(Clone, Copy)]
enum OperandRow<'a, T> {
    All(&'a [T]),
    Same(T),
    Apart(&'a [T], usize),
}

impl<'a, T: Copy> SliceOperand<'a, T> {
    /// Row `row`, which has `columns` columns, at least one.
    #[inline(always)]
    fn of_row(&self, row: usize, columns: usize) -> OperandRow<'a, T> {
        let first = row * self.row;
        match self.column {
            0 => OperandRow::Same(self.elements[first]),
            1 => OperandRow::All(&self.elements[first..first + columns]),
            apart => OperandRow::Apart(&self.elements[first..=first + (columns - 1) * apart], apart),
        }
    }

    /// The operand without the rows above `row`.
    pub(crate) fn below(self, row: usize) -> Self {
        Self { elements: &self.elements[(row * self.row).min(self.elements.len())..], ..self }
    }
}

/// A loop over rows and columns. A type and not a closure, so that all of it is compiled for each level of vector
/// instructions.
struct Rows<'a, T, F> {
    columns: usize,
    x: SliceOperand<'a, T>,
    y: SliceOperand<'a, T>,
    out: &'a mut [T],
    function: F,
}

impl<T: Scalar, F: Fn(T, T) -> T> WithSimd for Rows<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { columns, x, y, out, function } = self;
        for (row, out) in out.chunks_exact_mut(columns).enumerate() {
            match (x.of_row(row, columns), y.of_row(row, columns)) {
                (OperandRow::All(x), OperandRow::All(y)) => {
                    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                        *out = function(x, y);
                    }
                }
                (OperandRow::All(x), OperandRow::Same(y)) => {
                    for (out, &x) in out.iter_mut().zip(x) {
                        *out = function(x, y);
                    }
                }
                (OperandRow::Same(x), OperandRow::All(y)) => {
                    for (out, &y) in out.iter_mut().zip(y) {
                        *out = function(x, y);
                    }
                }
                (x, y) => {
                    for (column, out) in out.iter_mut().enumerate() {
                        *out = function(x.at(column), y.at(column));
                    }
                }
            }
        }
    }
}

impl<T: Copy> OperandRow<'_, T> {
    #[inline(always)]
    fn at(self, column: usize) -> T {
        match self {
            Self::All(row) => row[column],
            Self::Same(value) => value,
            Self::Apart(row, apart) => row[column * apart],
        }
    }
}

/// Computes an operation of two operands that are broadcast to `rows` x `columns` elements.
///
/// # Errors
/// When an operand or `out` does not have the elements that its distances reach.
pub fn broadcast<T: Scalar>(
    operation: Arithmetic,
    sides: (usize, usize),
    x: SliceOperand<'_, T>,
    y: SliceOperand<'_, T>,
    out: &mut [T],
) -> Result<(), ArrayError> {
    (T::loops().broadcast)(operation, sides, x, y, out)
}

/// The loop of [`broadcast`], which the table of loops has.
pub(super) fn broadcast_loop<T: Scalar>(
    operation: Arithmetic,
    (rows, columns): (usize, usize),
    x: SliceOperand<'_, T>,
    y: SliceOperand<'_, T>,
    out: &mut [T],
) -> Result<(), ArrayError> {
    fits("broadcast", (rows, columns), &[x, y], out)?;
    if out.is_empty() {
        return Ok(());
    }
    let arch = Arch::new();
    match operation {
        Arithmetic::Add => arch.dispatch(Rows { columns, x, y, out, function: |x, y| x + y }),
        Arithmetic::Sub => arch.dispatch(Rows { columns, x, y, out, function: |x, y| x - y }),
        Arithmetic::Mul => arch.dispatch(Rows { columns, x, y, out, function: |x, y| x * y }),
        Arithmetic::Div => arch.dispatch(Rows { columns, x, y, out, function: |x, y| x / y }),
    }
    Ok(())
}

/// Takes `x` where `condition` is not 0 (a NaN is not), and `y` elsewhere; all three are broadcast to `rows` x `columns`
/// elements.
///
/// # Errors
/// When an operand or `out` does not have the elements that its distances reach.
pub fn select<T: Scalar>(
    sides: (usize, usize),
    condition: SliceOperand<'_, T>,
    operands: [SliceOperand<'_, T>; 2],
    out: &mut [T],
) -> Result<(), ArrayError> {
    (T::loops().select)(sides, condition, operands, out)
}

/// The loop of [`select`], which the table of loops has.
pub(super) fn select_loop<T: Scalar>(
    (rows, columns): (usize, usize),
    condition: SliceOperand<'_, T>,
    [x, y]: [SliceOperand<'_, T>; 2],
    out: &mut [T],
) -> Result<(), ArrayError> {
    fits("select", (rows, columns), &[condition, x, y], out)?;
    if !out.is_empty() {
        Arch::new().dispatch(Selection { columns, condition, x, y, out });
    }
    Ok(())
}

/// The rows of [`select`].
struct Selection<'a, T> {
    columns: usize,
    condition: SliceOperand<'a, T>,
    x: SliceOperand<'a, T>,
    y: SliceOperand<'a, T>,
    out: &'a mut [T],
}

impl<T: Scalar> WithSimd for Selection<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { columns, condition, x, y, out } = self;
        for (row, out) in out.chunks_exact_mut(columns).enumerate() {
            let rows = (condition.of_row(row, columns), x.of_row(row, columns), y.of_row(row, columns));
            if let (OperandRow::All(condition), OperandRow::All(x), OperandRow::All(y)) = rows {
                for (((out, &condition), &x), &y) in out.iter_mut().zip(condition).zip(x).zip(y) {
                    *out = if condition == T::ZERO { y } else { x };
                }
                continue;
            }
            let (condition, x, y) = rows;
            for (column, out) in out.iter_mut().enumerate() {
                let is_zero = condition.at(column) == T::ZERO;
                *out = if is_zero { y.at(column) } else { x.at(column) };
            }
        }
    }
}

fn fits<T: Scalar>(
    operation: &'static str,
    (rows, columns): (usize, usize),
    operands: &[SliceOperand<'_, T>],
    out: &[T],
) -> Result<(), ArrayError> {
    let length = rows.checked_mul(columns).ok_or(ArrayError::TooLarge { operation, rows, columns })?;
    same_length(operation, length, out.len())?;
    operands.iter().try_for_each(|operand| {
        is_within(operation, (rows, columns), operand.elements.len(), 0, (operand.row, operand.column))
    })
}
