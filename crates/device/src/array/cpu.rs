//! The operations over slices of the host: the twins of the device's, bit for bit.
//!
//! Names, argument order and checks are those of the kernels: inputs, then `out`.
//!
//! ```
//! use octopus_device::cpu;
//!
//! let (x, y) = ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]);
//! let mut out = [0.0; 3];
//! cpu::axpy(2.0, &x, &y, &mut out).unwrap();
//! assert_eq!(out, [12.0, 24.0, 36.0]);
//! assert_eq!(cpu::dot(&x, &y).unwrap(), 140.0);
//! ```

mod elementwise;
mod matmul;
mod warp;

pub use elementwise::{add, axpy, div, exp, ln, mul, scale, sqrt, sub};
pub use matmul::matmul;
pub use warp::{dot, max, min, sum};

use super::ArrayError;

/// Checks that there are `expected` elements.
fn same_length(operation: &'static str, expected: usize, found: usize) -> Result<(), ArrayError> {
    if expected == found { Ok(()) } else { Err(ArrayError::Length { operation, left: expected, right: found }) }
}
