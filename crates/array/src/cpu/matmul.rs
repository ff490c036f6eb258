//! The product of two matrices (matmul) on the CPU.
//!
//! Blocks and tiles serve the caches and registers. Each element of the product is still summed over k in order, so the
//! bits are the same as of three plain loops.

use super::same_length;
use crate::{ArrayError, Scalar};
use octopus_cuda::MatrixShape;
use pulp::{Arch, Simd, WithSimd};

/// Rows and columns of a tile, whose sums stay in registers: 8 of 32 bytes in f64, and enough of them to hide the latency
/// of an addition.
const ROWS: usize = 4;
const COLUMNS: usize = 8;
/// Steps of k between two visits of a tile: the panel of `b` that belongs to them stays in the first-level cache.
const DEPTH: usize = 256;

/// Computes `c = a b` for row-major `a[m, k]`, `b[k, n]` and `c[m, n]`: each element of `c` is summed over k in order
/// from +0, rounded after each product and each sum.
///
/// # Errors
/// When a slice is not as long as its shape says, or the shape has more elements than memory has addresses.
pub fn matmul<T: Scalar>(shape: MatrixShape, a: &[T], b: &[T], c: &mut [T]) -> Result<(), ArrayError> {
    (T::loops().matmul)(shape, a, b, c)
}

/// The loop of [`matmul`], which the table of loops has.
pub(super) fn matmul_loop<T: Scalar>(shape: MatrixShape, a: &[T], b: &[T], c: &mut [T]) -> Result<(), ArrayError> {
    let MatrixShape { m, k, n } = shape;
    let elements = |rows: usize, columns: usize| {
        rows.checked_mul(columns).ok_or(ArrayError::TooLarge { operation: "matmul", rows, columns })
    };
    same_length("matmul", elements(m, k)?, a.len())?;
    same_length("matmul", elements(k, n)?, b.len())?;
    same_length("matmul", elements(m, n)?, c.len())?;
    Arch::new().dispatch(Product { shape, a, b, c });
    Ok(())
}

/// The product itself. A type and not a closure, so that all of it is compiled for each level of vector instructions.
struct Product<'a, T> {
    shape: MatrixShape,
    a: &'a [T],
    b: &'a [T],
    c: &'a mut [T],
}

impl<T: Scalar> WithSimd for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { shape, a, b, c } = self;
        let MatrixShape { m, k, n } = shape;
        c.fill(T::ZERO);
        let mut panel = [[T::ZERO; COLUMNS]; DEPTH];
        for first_k in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - first_k);
            for column in (0..n).step_by(COLUMNS) {
                let width = COLUMNS.min(n - column);
                // Columns beyond the matrix hold what was there before: they are computed with and never stored.
                for (step, row) in panel[..depth].iter_mut().enumerate() {
                    let start = (first_k + step) * n + column;
                    row[..width].copy_from_slice(&b[start..start + width]);
                }
                let panel = &panel[..depth];
                let mut row = 0;
                while row + ROWS <= m {
                    tile::<T, ROWS>(shape, (row, column, first_k), width, a, panel, c);
                    row += ROWS;
                }
                while row < m {
                    tile::<T, 1>(shape, (row, column, first_k), width, a, panel, c);
                    row += 1;
                }
            }
        }
    }
}

/// Adds the products of one panel to `R` rows of a tile.
#[inline(always)]
fn tile<T: Scalar, const R: usize>(
    MatrixShape { k, n, .. }: MatrixShape,
    (row, column, first_k): (usize, usize, usize),
    width: usize,
    a: &[T],
    panel: &[[T; COLUMNS]],
    c: &mut [T],
) {
    let mut sums = [[T::ZERO; COLUMNS]; R];
    let a: [&[T]; R] = std::array::from_fn(|r| {
        let start = (row + r) * k + first_k;
        &a[start..start + panel.len()]
    });
    for r in 0..R {
        let start = (row + r) * n + column;
        sums[r][..width].copy_from_slice(&c[start..start + width]);
    }
    for (step, b) in panel.iter().enumerate() {
        for r in 0..R {
            let factor = a[r][step];
            for j in 0..COLUMNS {
                sums[r][j] = sums[r][j] + factor * b[j];
            }
        }
    }
    for r in 0..R {
        let start = (row + r) * n + column;
        c[start..start + width].copy_from_slice(&sums[r][..width]);
    }
}
