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
    reduce_with_tail(simd, lanes, whole, term, None::<fn() -> [S::f64s; K]>)
}

/// [`reduce`] with one more vector at the end, of which only some lanes exist: the others must be zero in
/// what `tail` returns.
#[inline(always)]
pub fn reduce_with_tail<S: Simd, const K: usize>(
    simd: S,
    lanes: usize,
    whole: usize,
    term: impl FnMut(usize) -> [S::f64s; K],
    tail: Option<impl FnOnce() -> [S::f64s; K]>,
) -> [f64; K] {
    // The number of columns must be a constant for the sums to live in registers.
    match (lanes, S::F64_LANES) {
        (NARROW, 8) => reduce_columns::<S, 4, K>(simd, whole, term, tail),
        (NARROW, 4) => reduce_columns::<S, 8, K>(simd, whole, term, tail),
        (NARROW, 2) => reduce_columns::<S, 16, K>(simd, whole, term, tail),
        (NARROW, _) => reduce_columns::<S, 32, K>(simd, whole, term, tail),
        (_, 8) => reduce_columns::<S, 16, K>(simd, whole, term, tail),
        (_, 4) => reduce_columns::<S, 32, K>(simd, whole, term, tail),
        (_, 2) => reduce_columns::<S, 64, K>(simd, whole, term, tail),
        (_, _) => reduce_columns::<S, 128, K>(simd, whole, term, tail),
    }
}

#[inline(always)]
fn reduce_columns<S: Simd, const COLUMNS: usize, const K: usize>(
    simd: S,
    whole: usize,
    mut term: impl FnMut(usize) -> [S::f64s; K],
    tail: Option<impl FnOnce() -> [S::f64s; K]>,
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
                let terms = term(row + c);
                for k in 0..K {
                    acc[k][c] = simd.add_f64s(acc[k][c], terms[k]);
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
        let terms = term(rows + column);
        for k in 0..K {
            sums[k][column] = simd.add_f64s(sums[k][column], terms[k]);
        }
        column += 1;
    }
    if let Some(tail) = tail {
        let terms = tail();
        for k in 0..K {
            sums[k][column] = simd.add_f64s(sums[k][column], terms[k]);
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
    sums.map(
        #[inline(always)]
        |sum| last_lanes::<S>(sum[0]),
    )
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
