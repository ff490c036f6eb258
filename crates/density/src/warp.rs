//! The virtual warp: one fixed shape for every sum over coordinates, on any processor.
//!
//! Element `i` of a vector belongs to lane `i mod L`; each lane adds its elements in order; then the lanes
//! are added as a halving tree (L/2, L/4, ... 1). A GPU warp does that with butterfly shuffles, a CPU with
//! vectors of any width: the bits are the same. `L` is set by the problem: 32 up to 256 coordinates,
//! 128 above.

use bytemuck::{Pod, Zeroable};
use pulp::Simd;
use std::ops::{Deref, DerefMut};

/// Coordinates up to which a vector is carried by 32 lanes.
const NARROW_LIMIT: usize = 256;
const NARROW: usize = 32;
const WIDE: usize = 128;
/// Columns whose sums are kept in registers at the same time.
const STRIP: usize = 4;

/// The number of lanes for vectors of `dim` coordinates.
pub const fn lanes(dim: usize) -> usize {
    if dim <= NARROW_LIMIT { NARROW } else { WIDE }
}

/// `dim` rounded up to whole rows of lanes.
pub const fn padded(dim: usize) -> usize {
    dim.next_multiple_of(lanes(dim))
}

/// `K` summands for each SIMD vector of a sum; what is computed on the way may be written.
///
/// A trait and not a closure, because closures that pass through an `Option` or a generic call are compiled
/// for the lowest level of vector instructions.
pub trait Terms<S: Simd, const K: usize> {
    /// The summands of the `at`-th whole vector.
    fn whole(&mut self, simd: S, at: usize) -> [S::f64s; K];

    /// The summands of the incomplete vector at the end; lanes that do not exist must be zero.
    fn tail(&mut self, simd: S) -> [S::f64s; K];
}

/// Terms of vectors that are all whole.
struct Whole<F>(F);

impl<S: Simd, const K: usize, F: FnMut(usize) -> [S::f64s; K]> Terms<S, K> for Whole<F> {
    #[inline(always)]
    fn whole(&mut self, _: S, at: usize) -> [S::f64s; K] {
        (self.0)(at)
    }

    #[inline(always)]
    fn tail(&mut self, simd: S) -> [S::f64s; K] {
        [simd.splat_f64s(0.0); K]
    }
}

/// `K` sums over `whole` SIMD vectors: `term(i)` gives the summands of the `i`-th of them, and may write
/// what it computes.
///
/// `lanes` is that of [`lanes`]; a row of lanes is `lanes / S::F64_LANES` columns.
#[inline(always)]
pub fn reduce<S: Simd, const K: usize>(
    simd: S,
    lanes: usize,
    whole: usize,
    term: impl FnMut(usize) -> [S::f64s; K],
) -> [f64; K] {
    reduce_with_tail(simd, lanes, whole, false, &mut Whole(term))
}

/// [`reduce`] over `whole` vectors and, when `has_tail`, one more at the end that is incomplete.
#[inline(always)]
pub fn reduce_with_tail<S: Simd, const K: usize>(
    simd: S,
    lanes: usize,
    whole: usize,
    has_tail: bool,
    terms: &mut impl Terms<S, K>,
) -> [f64; K] {
    // The number of columns must be a constant for the sums to live in registers.
    match (lanes, S::F64_LANES) {
        (NARROW, 8) => reduce_columns::<S, 4, K>(simd, whole, has_tail, terms),
        (NARROW, 4) => reduce_columns::<S, 8, K>(simd, whole, has_tail, terms),
        (NARROW, 2) => reduce_columns::<S, 16, K>(simd, whole, has_tail, terms),
        (NARROW, _) => reduce_columns::<S, 32, K>(simd, whole, has_tail, terms),
        (_, 8) => reduce_columns::<S, 16, K>(simd, whole, has_tail, terms),
        (_, 4) => reduce_columns::<S, 32, K>(simd, whole, has_tail, terms),
        (_, 2) => reduce_columns::<S, 64, K>(simd, whole, has_tail, terms),
        (_, _) => reduce_columns::<S, 128, K>(simd, whole, has_tail, terms),
    }
}

#[inline(always)]
fn reduce_columns<S: Simd, const COLUMNS: usize, const K: usize>(
    simd: S,
    whole: usize,
    has_tail: bool,
    terms: &mut impl Terms<S, K>,
) -> [f64; K] {
    let zero = simd.splat_f64s(0.0);
    let mut sums = [[zero; COLUMNS]; K];
    let rows = whole - whole % COLUMNS;
    let mut strip = 0;
    while strip < COLUMNS {
        let mut acc = [[zero; STRIP]; K];
        let mut row = strip;
        while row < rows {
            for c in 0..STRIP {
                let summands = terms.whole(simd, row + c);
                for k in 0..K {
                    acc[k][c] = simd.add_f64s(acc[k][c], summands[k]);
                }
            }
            row += COLUMNS;
        }
        for k in 0..K {
            for c in 0..STRIP {
                sums[k][strip + c] = acc[k][c];
            }
        }
        strip += STRIP;
    }
    // The last, incomplete row.
    let mut column = 0;
    while rows + column < whole {
        let summands = terms.whole(simd, rows + column);
        for k in 0..K {
            sums[k][column] = simd.add_f64s(sums[k][column], summands[k]);
        }
        column += 1;
    }
    if has_tail {
        let summands = terms.tail(simd);
        for k in 0..K {
            sums[k][column] = simd.add_f64s(sums[k][column], summands[k]);
        }
    }
    let mut half = COLUMNS / 2;
    while half > 0 {
        for sum in &mut sums {
            for c in 0..half {
                sum[c] = simd.add_f64s(sum[c], sum[c + half]);
            }
        }
        half /= 2;
    }
    let mut totals = [0.0; K];
    for k in 0..K {
        totals[k] = last_lanes::<S>(sums[k][0]);
    }
    totals
}

/// The halving tree within one SIMD vector.
#[inline(always)]
fn last_lanes<S: Simd>(vector: S::f64s) -> f64 {
    let vector = [vector];
    let lanes: &[f64] = bytemuck::cast_slice(&vector);
    match lanes.len() {
        8 => {
            let four = [lanes[0] + lanes[4], lanes[1] + lanes[5], lanes[2] + lanes[6], lanes[3] + lanes[7]];
            (four[0] + four[2]) + (four[1] + four[3])
        }
        4 => (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]),
        2 => lanes[0] + lanes[1],
        _ => lanes[0],
    }
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([f64; 8]);

/// A vector of whole rows of lanes, aligned to cache lines, the padding being zero unless written.
#[derive(Clone)]
pub struct Buffer {
    lines: Vec<CacheLine>,
}

impl Buffer {
    /// Zeros for `dim` coordinates and their padding.
    pub fn zeros(dim: usize) -> Self {
        Self { lines: vec![CacheLine::zeroed(); padded(dim) / 8] }
    }

    /// `values` and their padding.
    pub fn from_slice(values: &[f64]) -> Self {
        let mut buffer = Self::zeros(values.len());
        buffer[..values.len()].copy_from_slice(values);
        buffer
    }
}

impl Deref for Buffer {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        bytemuck::cast_slice(&self.lines)
    }
}

impl DerefMut for Buffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The sum of all values in the order of the virtual warp, written for clarity: the reference of the vector code.
pub fn sum_in_order(values: &[f64], dim: usize) -> f64 {
    let lanes = lanes(dim);
    let mut partial = vec![0.0; lanes];
    for (i, value) in values.iter().enumerate() {
        partial[i % lanes] += value;
    }
    let mut half = lanes / 2;
    while half > 0 {
        for l in 0..half {
            partial[l] += partial[l + half];
        }
        half /= 2;
    }
    partial[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!((lanes(1), padded(1)), (32, 32));
        assert_eq!((lanes(103), padded(103)), (32, 128));
        assert_eq!((lanes(256), padded(256)), (32, 256));
        assert_eq!((lanes(257), padded(257)), (128, 384));
        assert_eq!(padded(1003), 1024);
    }

    #[test]
    fn buffers_are_aligned_and_padded() {
        let buffer = Buffer::from_slice(&[1.0; 103]);
        assert_eq!(buffer.len(), 128);
        assert_eq!(buffer.as_ptr() as usize % 64, 0);
        assert!(buffer[103..].iter().all(|&x| x == 0.0));
    }
}
