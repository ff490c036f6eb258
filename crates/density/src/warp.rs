//! The virtual warp in SIMD vectors: one fixed shape for every sum over coordinates, on any processor.
//!
//! Element `i` of a vector belongs to lane `i mod L`; each lane adds its elements in order; then the lanes
//! are added as a halving tree (L/2, L/4, ... 1). A GPU warp does that with butterfly shuffles, a CPU with
//! vectors of any width: the bits are the same. `L` is set by the problem: 32 up to 256 coordinates,
//! 128 above.

use bytemuck::{Pod, Zeroable};
use octopus_random::warp::NARROW;
use pulp::Simd;
use std::ops::{Deref, DerefMut};

pub use octopus_random::warp::lanes;

/// Rounds `dim` up to whole rows of lanes.
pub const fn padded(dim: usize) -> usize {
    dim.next_multiple_of(lanes(dim))
}

/// Returns the sum of the lanes as a halving tree.
#[inline(always)]
pub fn halve<const L: usize>(lanes: [f64; L]) -> f64 {
    octopus_random::warp::halve(lanes, |a, b| a + b)
}

/// The `K` summands of each SIMD vector of a sum. An implementation may also write what it computes on the way.
///
/// A trait and not a closure, because closures that pass through an `Option` or a generic call are compiled
/// for the lowest level of vector instructions.
pub trait Terms<S: Simd, const K: usize> {
    /// Returns the summands of the `at`-th whole vector.
    fn whole(&mut self, simd: S, at: usize) -> [S::f64s; K];

    /// Returns the summands of the incomplete vector at the end; lanes that do not exist must be zero.
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

/// Computes `K` sums over `whole` SIMD vectors: `term(i)` gives the summands of vector number `i`, and may write what
/// it computes.
///
/// `lanes` is the result of [`lanes`]; a row of lanes is `lanes / S::F64_LANES` columns.
#[inline(always)]
pub fn reduce<S: Simd, const K: usize>(
    simd: S,
    lanes: usize,
    whole: usize,
    term: impl FnMut(usize) -> [S::f64s; K],
) -> [f64; K] {
    reduce_with_tail(simd, lanes, whole, false, &mut Whole(term))
}

/// Computes the sums as [`reduce`] does, over `whole` vectors and, when `has_tail`, one more at the end that is
/// incomplete.
#[inline(always)]
pub fn reduce_with_tail<S: Simd, const K: usize>(
    simd: S,
    lanes: usize,
    whole: usize,
    has_tail: bool,
    terms: &mut impl Terms<S, K>,
) -> [f64; K] {
    // Columns are worked on in strips whose sums live in registers: the width must be a constant, and `K` times the
    // width fit in 32 registers of eight lanes, or in 16 smaller ones.
    match (lanes, S::F64_LANES) {
        (NARROW, 8) if K > 3 => reduce_strips::<S, 1, 2, K>(simd, whole, has_tail, terms),
        (NARROW, 8) => reduce_strips::<S, 0, 4, K>(simd, whole, has_tail, terms),
        (NARROW, 4) if K > 3 => reduce_strips::<S, 2, 2, K>(simd, whole, has_tail, terms),
        (NARROW, 4) => reduce_strips::<S, 1, 4, K>(simd, whole, has_tail, terms),
        (NARROW, 2) => reduce_strips::<S, 4, 2, K>(simd, whole, has_tail, terms),
        (NARROW, _) => reduce_strips::<S, 8, 2, K>(simd, whole, has_tail, terms),
        (_, 8) if K > 3 => reduce_strips::<S, 4, 2, K>(simd, whole, has_tail, terms),
        (_, 8) => reduce_strips::<S, 2, 4, K>(simd, whole, has_tail, terms),
        (_, 4) if K > 3 => reduce_strips::<S, 8, 2, K>(simd, whole, has_tail, terms),
        (_, 4) => reduce_strips::<S, 4, 4, K>(simd, whole, has_tail, terms),
        (_, 2) => reduce_strips::<S, 16, 2, K>(simd, whole, has_tail, terms),
        (_, _) => reduce_strips::<S, 32, 2, K>(simd, whole, has_tail, terms),
    }
}

/// The sums of `WIDTH` neighbouring columns.
type Strip<V, const WIDTH: usize, const K: usize> = [[V; WIDTH]; K];

/// A row is `2 HALF` strips, or one when `HALF` is 0.
#[inline(always)]
fn reduce_strips<S: Simd, const HALF: usize, const WIDTH: usize, const K: usize>(
    simd: S,
    whole: usize,
    has_tail: bool,
    terms: &mut impl Terms<S, K>,
) -> [f64; K] {
    let mut total;
    if HALF == 0 {
        total = sum_strip(simd, 0, WIDTH, whole, has_tail, terms);
    } else {
        let columns = 2 * HALF * WIDTH;
        let mut sums: [Strip<S::f64s, WIDTH, K>; HALF] = [[[simd.splat_f64s(0.0); WIDTH]; K]; HALF];
        for s in 0..HALF {
            let low = sum_strip(simd, s * WIDTH, columns, whole, has_tail, terms);
            let high = sum_strip(simd, (s + HALF) * WIDTH, columns, whole, has_tail, terms);
            sums[s] = add_strips(simd, low, high);
        }
        let mut half = HALF / 2;
        while half > 0 {
            for s in 0..half {
                sums[s] = add_strips(simd, sums[s], sums[s + half]);
            }
            half /= 2;
        }
        total = sums[0];
    }
    let mut half = WIDTH / 2;
    while half > 0 {
        for sum in &mut total {
            for c in 0..half {
                sum[c] = simd.add_f64s(sum[c], sum[c + half]);
            }
        }
        half /= 2;
    }
    let mut totals = [0.0; K];
    for k in 0..K {
        // The halving tree within a vector: upper half onto lower half, until one is left.
        totals[k] = simd.reduce_sum_f64s(total[k][0]);
    }
    totals
}

#[inline(always)]
fn add_strips<S: Simd, const WIDTH: usize, const K: usize>(
    simd: S,
    mut a: Strip<S::f64s, WIDTH, K>,
    b: Strip<S::f64s, WIDTH, K>,
) -> Strip<S::f64s, WIDTH, K> {
    for k in 0..K {
        for c in 0..WIDTH {
            a[k][c] = simd.add_f64s(a[k][c], b[k][c]);
        }
    }
    a
}

/// Returns the sums of the columns from `first` on, in rows of `columns` vectors.
#[inline(always)]
fn sum_strip<S: Simd, const WIDTH: usize, const K: usize>(
    simd: S,
    first: usize,
    columns: usize,
    whole: usize,
    has_tail: bool,
    terms: &mut impl Terms<S, K>,
) -> Strip<S::f64s, WIDTH, K> {
    let mut sums = [[simd.splat_f64s(0.0); WIDTH]; K];
    let mut at = first;
    while at + WIDTH <= whole {
        for c in 0..WIDTH {
            let summands = terms.whole(simd, at + c);
            for k in 0..K {
                sums[k][c] = simd.add_f64s(sums[k][c], summands[k]);
            }
        }
        at += columns;
    }
    // Where the last row ends within this strip.
    for c in 0..WIDTH {
        if at + c < whole {
            let summands = terms.whole(simd, at + c);
            for k in 0..K {
                sums[k][c] = simd.add_f64s(sums[k][c], summands[k]);
            }
        }
    }
    if has_tail && (at..at + WIDTH).contains(&whole) {
        let summands = terms.tail(simd);
        for c in 0..WIDTH {
            if at + c == whole {
                for k in 0..K {
                    sums[k][c] = simd.add_f64s(sums[k][c], summands[k]);
                }
            }
        }
    }
    sums
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([f64; 8]);

/// A vector of whole rows of lanes, aligned to cache lines; the padding is zero unless written.
#[derive(Clone, Default)]
pub struct Buffer {
    lines: Vec<CacheLine>,
}

impl Buffer {
    /// Makes a buffer of zeros for `dim` coordinates and their padding.
    pub fn zeros(dim: usize) -> Self {
        Self { lines: vec![CacheLine::zeroed(); padded(dim) / 8] }
    }

    /// Makes a buffer of `values` and their padding.
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

/// Returns the sum of all values in the order of the virtual warp, written for clarity: the reference of the vector
/// code.
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

    /// The sums of the values, of twice the values and so on.
    struct Multiples<'a, S: Simd> {
        whole: &'a [S::f64s],
        tail: &'a [f64],
    }

    impl<S: Simd, const K: usize> Terms<S, K> for Multiples<'_, S> {
        fn whole(&mut self, simd: S, at: usize) -> [S::f64s; K] {
            std::array::from_fn(|k| simd.mul_f64s(simd.splat_f64s((k + 1) as f64), self.whole[at]))
        }

        fn tail(&mut self, simd: S) -> [S::f64s; K] {
            assert!(!self.tail.is_empty(), "nobody asks for a tail that is none");
            let tail = simd.partial_load_f64s(self.tail);
            std::array::from_fn(|k| simd.mul_f64s(simd.splat_f64s((k + 1) as f64), tail))
        }
    }

    fn check<S: Simd, const K: usize>(simd: S, values: &[f64], dim: usize) {
        let (whole, tail) = S::as_simd_f64s(values);
        let mut terms = Multiples::<S> { whole, tail };
        let found: [f64; K] = reduce_with_tail(simd, lanes(dim), whole.len(), !tail.is_empty(), &mut terms);
        let expected: [f64; K] = std::array::from_fn(|k| {
            let multiples: Vec<f64> = values.iter().map(|value| (k + 1) as f64 * value).collect();
            sum_in_order(&multiples, dim)
        });
        let what = format!("{} lanes of a vector, {K} sums, {} values of {dim}", S::F64_LANES, values.len());
        assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{what}");
        if tail.is_empty() {
            let [whole_only] = reduce(simd, lanes(dim), whole.len(), |at| [whole[at]]);
            assert_eq!(whole_only.to_bits(), expected[0].to_bits(), "{what}");
        }
    }

    /// Vectors of one, two, four and eight numbers, imitated: the order is that of [`sum_in_order`], which is held to a
    /// tree written as it reads.
    #[test]
    fn vectors_of_every_width_add_in_the_order_of_the_virtual_warp() {
        fn tree(lanes: &[f64]) -> f64 {
            let (low, high) = lanes.split_at(lanes.len() / 2);
            match low {
                [] => lanes[0],
                _ => tree(&low.iter().zip(high).map(|(a, b)| a + b).collect::<Vec<_>>()),
            }
        }
        for dim in [32, 256, 257, 1000] {
            for len in [0, 1, 7, 8, 31, 32, 33, 64, 100, 131, 249, 256, 257, 300, 384, 413, 768, 1000] {
                let values: Vec<f64> = (0..len).map(|i| 1.0 / (3.0 + ((i * 7919) % 1009) as f64)).collect();
                let sums: Vec<f64> = (0..lanes(dim))
                    .map(|l| values.iter().skip(l).step_by(lanes(dim)).fold(0.0, |sum, value| sum + value))
                    .collect();
                assert_eq!(sum_in_order(&values, dim).to_bits(), tree(&sums).to_bits());
                check::<_, 3>(pulp::Scalar, &values, dim);
                check::<_, 3>(pulp::Scalar128b, &values, dim);
                check::<_, 3>(pulp::Scalar256b, &values, dim);
                check::<_, 4>(pulp::Scalar256b, &values, dim);
                check::<_, 3>(pulp::Scalar512b, &values, dim);
                check::<_, 4>(pulp::Scalar512b, &values, dim);
            }
        }
    }
}
