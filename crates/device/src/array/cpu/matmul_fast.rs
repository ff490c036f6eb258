//! The fast product of two matrices on the CPU: blocked, packed, and with fused products and sums where the processor
//! has them.

use super::same_length;
use crate::array::{ArrayError, Scalar};
use octopus_cuda::MatrixShape;
use pulp::{Arch, Simd, WithSimd};

/// Rows of a tile, whose sums stay in registers: with two vectors each, enough to hide the latency of a sum.
const ROWS: usize = 4;
/// Steps of k between two visits of a tile: a panel of `b` stays in the first-level cache.
const DEPTH: usize = 256;

/// Computes `c = a b` for row-major `a[m, k]`, `b[k, n]` and `c[m, n]`, as fast as this program can.
///
/// Products and sums are fused where the processor can, so bits differ between processors and from
/// [`matmul`](super::matmul()). Each element is within `k u / (1 - k u)` times the sum of `|a[i, l] b[l, j]|` of the exact
/// one, with `u` half a unit in the last place of 1 (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section
/// 3.5), on every device; so two devices differ by twice that at most.
///
/// # Errors
/// When a slice is not as long as its shape says, or the shape has more elements than memory has addresses.
pub fn matmul_fast<T: Scalar>(shape: MatrixShape, a: &[T], b: &[T], c: &mut [T]) -> Result<(), ArrayError> {
    let MatrixShape { m, k, n } = shape;
    let elements = |rows: usize, columns: usize| {
        rows.checked_mul(columns).ok_or(ArrayError::TooLarge { operation: "matmul_fast", rows, columns })
    };
    same_length("matmul_fast", elements(m, k)?, a.len())?;
    same_length("matmul_fast", elements(k, n)?, b.len())?;
    same_length("matmul_fast", elements(m, n)?, c.len())?;
    c.fill(T::ZERO);
    // A function call for each product would be slow: where the processor cannot fuse, nothing is fused.
    if is_fusing() {
        Arch::new().dispatch(FastProduct { shape, a, b, c, join: |x: T, y, sum| x.mul_add(y, sum) });
    } else {
        Arch::new().dispatch(FastProduct { shape, a, b, c, join: |x: T, y, sum| x * y + sum });
    }
    Ok(())
}

/// Whether the vector instructions that [`Arch`] chooses have fused products.
fn is_fusing() -> bool {
    struct Fuses;
    impl WithSimd for Fuses {
        type Output = bool;

        fn with_simd<S: Simd>(self, _: S) -> bool {
            // On x86-64 the levels with vectors of 32 bytes and more have them, on AArch64 all have.
            cfg!(target_arch = "aarch64") || size_of::<S::f64s>() >= 32
        }
    }
    Arch::new().dispatch(Fuses)
}

/// The product itself. A type and not a closure, so that all of it is compiled for each level of vector instructions.
struct FastProduct<'a, T, F> {
    shape: MatrixShape,
    a: &'a [T],
    b: &'a [T],
    c: &'a mut [T],
    join: F,
}

impl<T: Scalar, F: Fn(T, T, T) -> T> WithSimd for FastProduct<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // Two vectors of 64 bytes for each row of a tile, or two of 32 bytes.
        match (size_of::<S::f64s>(), size_of::<T>()) {
            (64, 4) => self.by_tiles::<32>(),
            (64, _) => self.by_tiles::<16>(),
            (_, 4) => self.by_tiles::<16>(),
            _ => self.by_tiles::<8>(),
        }
    }
}

impl<T: Scalar, F: Fn(T, T, T) -> T> FastProduct<'_, T, F> {
    #[inline(always)]
    fn by_tiles<const C: usize>(self) {
        let Self { shape: MatrixShape { m, k, n }, a, b, c, join } = self;
        let mut panel = [[T::ZERO; C]; DEPTH];
        // The rows of `a` that belong to a tile, step by step: a tile reads memory in order.
        let mut packed = vec![[T::ZERO; ROWS]; m.div_ceil(ROWS) * DEPTH.min(k)];
        for first_k in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - first_k);
            for (tile, rows) in packed.chunks_mut(depth).take(m.div_ceil(ROWS)).enumerate() {
                for r in 0..ROWS.min(m - tile * ROWS) {
                    let start = (tile * ROWS + r) * k + first_k;
                    for (step, &x) in rows.iter_mut().zip(&a[start..start + depth]) {
                        step[r] = x;
                    }
                }
            }
            for column in (0..n).step_by(C) {
                let width = C.min(n - column);
                for (step, row) in panel[..depth].iter_mut().enumerate() {
                    let start = (first_k + step) * n + column;
                    row[..width].copy_from_slice(&b[start..start + width]);
                }
                for (tile, rows) in packed.chunks(depth).take(m.div_ceil(ROWS)).enumerate() {
                    // Row after row by name: a loop over them would keep the sums in memory.
                    let [mut first, mut second, mut third, mut fourth] = [[T::ZERO; C]; ROWS];
                    for (x, y) in rows.iter().zip(&panel[..depth]) {
                        for j in 0..C {
                            first[j] = join(x[0], y[j], first[j]);
                            second[j] = join(x[1], y[j], second[j]);
                            third[j] = join(x[2], y[j], third[j]);
                            fourth[j] = join(x[3], y[j], fourth[j]);
                        }
                    }
                    let sums = [first, second, third, fourth];
                    for (r, sums) in sums.iter().enumerate().take(m - tile * ROWS) {
                        let start = (tile * ROWS + r) * n + column;
                        for (c, &sum) in c[start..start + width].iter_mut().zip(sums) {
                            *c = *c + sum;
                        }
                    }
                }
            }
        }
    }
}
