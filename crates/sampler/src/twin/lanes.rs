//! Sums in the order of the virtual warp: the definition, a line for each sentence of it.

use super::real::{TwinReal, to};
use octopus_density::warp;

/// `K` sums over coordinates: element `i` belongs to lane `i mod L`, each lane adds its own in order and in their type,
/// and the lanes' sums, now of the chain's type, meet as a halving tree. (The kernels add the padding too, which is
/// zero.)
pub(super) fn sums<R: TwinReal, T: TwinReal, const K: usize>(
    dim: usize,
    terms: impl Iterator<Item = [R; K]>,
) -> [T; K] {
    sums_of(warp::lanes(dim), terms)
}

/// Sums as [`sums`] does, with `lanes` lanes.
pub(super) fn sums_of<R: TwinReal, T: TwinReal, const K: usize>(
    lanes: usize,
    terms: impl Iterator<Item = [R; K]>,
) -> [T; K] {
    let mut parts = vec![[R::ZERO; K]; lanes];
    for (i, term) in terms.enumerate() {
        let lane = &mut parts[i % lanes];
        *lane = std::array::from_fn(|k| lane[k] + term[k]);
    }
    let mut left: Vec<[T; K]> = parts.into_iter().map(|lane| lane.map(to)).collect();
    while left.len() > 1 {
        let half = left.len() / 2;
        for l in 0..half {
            left[l] = std::array::from_fn(|k| left[l][k] + left[l + half][k]);
        }
        left.truncate(half);
    }
    left[0]
}

/// Returns the product of two vectors.
pub(super) fn dot<R: TwinReal, T: TwinReal>(a: &[R], b: &[R]) -> T {
    let [sum] = sums(a.len(), a.iter().zip(b).map(|(&a, &b)| [a * b]));
    sum
}

/// a + b
pub(super) fn plus<R: TwinReal>(a: &[R], b: &[R]) -> Vec<R> {
    a.iter().zip(b).map(|(&a, &b)| a + b).collect()
}

/// a = a + c b
pub(super) fn add_scaled<R: TwinReal>(a: &mut [R], c: R, b: &[R]) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = *a + c * b;
    }
}
