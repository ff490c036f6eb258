//! Sums, means and variances, summed pairwise in NumPy's order.
//!
//! The order matters beyond rounding: whether the variance of a constant chain comes out as 0 or as 1e-32
//! decides between R-hat = NaN and R-hat = 1, so the sums here follow `np.add.reduce` addition by addition
//! (blocks of 128, eight running sums, halves on a multiple of eight).

/// Largest block that is summed without halving, as NumPy's.
const BLOCK: usize = 128;

/// The sum of `f(x)` over `values`, in NumPy's order of additions.
pub(crate) fn sum_by(values: &[f64], f: impl Fn(f64) -> f64 + Copy) -> f64 {
    let n = values.len();
    if n < 8 {
        return values.iter().fold(0.0, |sum, &v| sum + f(v));
    }
    if n > BLOCK {
        let half = n / 2 / 8 * 8;
        let (left, right) = values.split_at(half);
        return sum_by(left, f) + sum_by(right, f);
    }
    let mut sums = [0.0; 8];
    let eights = values.chunks_exact(8);
    let rest = eights.remainder();
    for (i, eight) in eights.enumerate() {
        for (sum, &v) in sums.iter_mut().zip(eight) {
            *sum = if i == 0 { f(v) } else { *sum + f(v) };
        }
    }
    let total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    rest.iter().fold(total, |sum, &v| sum + f(v))
}

/// The arithmetic mean; NaN without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    sum_by(values, |v| v) / values.len() as f64
}

/// The variance about `mean` with divisor `n - 1`; NaN for one value.
pub(crate) fn variance_about(values: &[f64], mean: f64) -> f64 {
    sum_by(values, |v| (v - mean) * (v - mean)) / (values.len() as f64 - 1.0)
}

/// The variance with divisor `n - 1`; NaN for one value.
pub(crate) fn variance(values: &[f64]) -> f64 {
    variance_about(values, mean(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_in_numpys_order() {
        // np.sum of 0.1 repeated n times; a plain running sum gives 99.9999999999986 at n = 1000.
        for (n, expected) in [(7, 0.7), (8, 0.8), (129, 12.9), (1000, 100.00000000000001), (1001, 100.10000000000001)] {
            let sum = sum_by(&vec![0.1; n], |v| v);
            assert!((sum - expected).abs() <= 2e-14, "{n}: {sum} {expected}");
        }
        assert_eq!(mean(&[1.0, 2.0, 4.0, 9.0]), 4.0);
        assert_eq!(variance(&[1.0, 2.0, 4.0, 9.0]), 38.0 / 3.0);
        assert!(variance(&[1.0]).is_nan());
        assert!(mean(&[]).is_nan());
    }
}
