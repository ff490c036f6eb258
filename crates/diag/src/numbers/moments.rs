//! Sums, means and variances, summed pairwise in NumPy's order.
//!
//! The order matters beyond rounding: whether the variance of a constant chain comes out as 0 or as 1e-32
//! decides between R-hat = NaN and R-hat = 1, so the sums here follow `np.add.reduce` addition by addition
//! (blocks of 128, eight running sums, halves on a multiple of eight).

use pulp::{Arch, Simd, WithSimd};

/// Largest block that is summed without halving, as NumPy's.
const BLOCK: usize = 128;

/// Running sums of a block.
const LANES: usize = 8;

/// More halvings than any slice in memory takes.
const DEPTH: usize = 40;

/// Returns the sum of `f(x)` over `values`, in NumPy's order of additions.
pub(crate) fn sum_by(values: &[f64], f: impl Fn(f64) -> f64 + Copy) -> f64 {
    if values.len() <= BLOCK { sum_block(values, f) } else { Arch::new().dispatch(Halves { values, f }) }
}

/// Returns the sum of one block: eight running sums, which are added in pairs.
#[inline(always)]
fn sum_block(values: &[f64], f: impl Fn(f64) -> f64 + Copy) -> f64 {
    if values.len() < LANES {
        return values.iter().fold(0.0, |sum, &v| sum + f(v));
    }
    let mut sums = [0.0; LANES];
    let eights = values.chunks_exact(LANES);
    let rest = eights.remainder();
    for (i, eight) in eights.enumerate() {
        for (sum, &v) in sums.iter_mut().zip(eight) {
            *sum = if i == 0 { f(v) } else { *sum + f(v) };
        }
    }
    let total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    rest.iter().fold(total, |sum, &v| sum + f(v))
}

/// The sum of one half and the other, each the same way, down to blocks; in vectors of whatever width the machine has.
struct Halves<'a, F> {
    values: &'a [f64],
    f: F,
}

impl<F: Fn(f64) -> f64 + Copy> WithSimd for Halves<'_, F> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        // A recursion by hand: a function that called itself would not be compiled for the vectors.
        let (mut rest, mut left) = ([self.values; DEPTH], [None; DEPTH]);
        let mut depth = 0;
        loop {
            let values = rest[depth];
            if values.len() > BLOCK {
                let (first, second) = values.split_at(values.len() / 2 / LANES * LANES);
                rest[depth] = second;
                left[depth] = None;
                depth += 1;
                rest[depth] = first;
                continue;
            }
            let mut sum = sum_block(values, self.f);
            // The sum of a second half completes that of the whole; that of a first half waits for it.
            loop {
                if depth == 0 {
                    return sum;
                }
                match left[depth - 1].take() {
                    Some(first) => {
                        sum += first;
                        depth -= 1;
                    }
                    None => {
                        left[depth - 1] = Some(sum);
                        rest[depth] = rest[depth - 1];
                        break;
                    }
                }
            }
        }
    }
}

/// Returns the arithmetic mean; NaN without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    sum_by(values, |v| v) / values.len() as f64
}

/// Returns the sum of the squared deviations from the mean: `n` times the variance with divisor `n`.
pub(crate) fn squares_about_mean(values: &[f64]) -> f64 {
    let mean = mean(values);
    sum_by(values, |v| (v - mean) * (v - mean))
}

/// Returns the variance about `mean` with divisor `n - 1`; NaN for one value.
pub(crate) fn variance_about(values: &[f64], mean: f64) -> f64 {
    sum_by(values, |v| (v - mean) * (v - mean)) / (values.len() as f64 - 1.0)
}

/// Returns the variance with divisor `n - 1`; NaN for one value.
pub(crate) fn variance(values: &[f64]) -> f64 {
    variance_about(values, mean(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `v^2 - mean^2` would lose: everything.
    #[test]
    fn deviations_far_from_zero_keep_their_digits() {
        let values: Vec<f64> = (0..1000).map(|i| 1e8 + f64::from(i % 2)).collect();
        assert_eq!((squares_about_mean(&values), variance(&values)), (250.0, 250.0 / 999.0));
        assert_eq!(squares_about_mean(&[3e15, 3e15 + 1.0, 3e15 + 5.0]), 14.0);
    }

    /// NumPy's own recursion.
    fn pairwise(values: &[f64]) -> f64 {
        if values.len() <= BLOCK {
            return sum_block(values, |v| v);
        }
        let (first, second) = values.split_at(values.len() / 2 / LANES * LANES);
        pairwise(first) + pairwise(second)
    }

    #[test]
    fn halves_are_added_as_the_recursion_adds_them() {
        let values: Vec<f64> = (0..70_000u32).map(|i| f64::from(i.wrapping_mul(2_654_435_761)) / 7.0).collect();
        for n in (100..2000).chain([4095, 4096, 8000, 65_537, 70_000]) {
            assert_eq!(sum_by(&values[..n], |v| v), pairwise(&values[..n]), "{n}");
        }
    }

    #[test]
    fn sums_in_numpys_order() {
        // np.sum of 0.1 repeated n times; a plain running sum gives 99.9999999999986 at n = 1000.
        for (n, expected) in [(7, 0.7), (8, 0.8), (129, 12.9), (1000, 100.00000000000001), (1001, 100.10000000000001)] {
            let sum = sum_by(&vec![0.1; n], |v| v);
            assert!((sum - expected).abs() <= 2e-14, "{n}: {sum} {expected}");
        }
        // One after the other they give 0.7999999999999999.
        assert_eq!(sum_by(&[0.1; 8], |v| v), 0.8);
        assert_eq!(mean(&[1.0, 2.0, 4.0, 9.0]), 4.0);
        assert_eq!(variance(&[1.0, 2.0, 4.0, 9.0]), 38.0 / 3.0);
        assert!(variance(&[1.0]).is_nan());
        assert!(mean(&[]).is_nan());
    }
}
