//! The operations over slices of the host: the twins of the device's, bit for bit.
//!
//! Names, argument order and checks are the same as of the kernels: inputs, then `out`.
//!
//! ```
//! use octopus_array::cpu;
//!
//! let (x, y) = ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]);
//! let mut out = [0.0; 3];
//! cpu::axpy(2.0, &x, &y, &mut out).unwrap();
//! assert_eq!(out, [12.0, 24.0, 36.0]);
//! assert_eq!(cpu::dot(&x, &y).unwrap(), 140.0);
//! ```

mod broadcast;
mod columns;
mod compiled;
mod elementwise;
mod layout;
mod matmul;
mod warp;

pub use broadcast::{SliceOperand, broadcast, select};
pub use columns::reduce_columns;
pub use elementwise::{
    abs, add, add_scalar, axpy, clip, div, div_scalar, exp, ln, mul, relu, scale, sigmoid, sqrt, sub, tanh, to_f16,
    to_f32, to_f64,
};
pub use layout::{arange, eye, transpose, window};
pub use matmul::matmul;
pub use warp::{dot, max, min, reduce_rows, sum, sum_of_squares};

pub(crate) use compiled::{CompiledElement, CompiledScalar};
pub(crate) use layout::columns_of;

pub use crate::pool::trim;

use crate::ArrayError;

/// Checks that there are `expected` elements.
fn same_length(operation: &'static str, expected: usize, found: usize) -> Result<(), ArrayError> {
    if expected == found { Ok(()) } else { Err(ArrayError::Length { operation, left: expected, right: found }) }
}

/// Checks that `length` elements have those at first + i row + j column for i < rows and j < columns.
fn is_within(
    operation: &'static str,
    (rows, columns): (usize, usize),
    length: usize,
    first: usize,
    (row, column): (usize, usize),
) -> Result<(), ArrayError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let far = |count: usize, distance: usize| (count - 1).checked_mul(distance);
    let last = far(rows, row).and_then(|far| far.checked_add(first));
    let last = last.and_then(|last| last.checked_add(far(columns, column)?));
    match last.and_then(|last| last.checked_add(1)) {
        Some(needed) if needed <= length => Ok(()),
        needed => Err(ArrayError::Length { operation, left: needed.unwrap_or(usize::MAX), right: length }),
    }
}
