//! Tests of means (Student's t), and of many hypotheses at once (Holm's adjustment of p-values).

use crate::numbers::moments::{mean, variance};
use crate::numbers::tails;

/// P-values adjusted for how many they are (Holm 1979, Scandinavian Journal of Statistics 6): rejecting those of at most
/// alpha rejects a true hypothesis with probability alpha at most, however the tests hang together. NaN counts as 0: a
/// test that has no answer must not pass.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let known = |p: f64| if p.is_nan() { 0.0 } else { p };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| known(p_values[a]).total_cmp(&known(p_values[b])));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0f64;
    for (place, index) in order.into_iter().enumerate() {
        let factor = (p_values.len() - place) as f64;
        largest = largest.max((factor * known(p_values[index])).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

/// Student's test of whether independent values have mean 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanTest {
    /// The mean of the values.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// The mean divided by its standard error; NaN for fewer than two values.
    pub t: f64,
    /// The probability that the mean is as far from 0 or farther, if the true mean is 0. It is 1 when all values are 0,
    /// and 0 when all are the same other value; NaN when a value is not finite.
    pub p_value: f64,
}

/// Student's test of whether independent `values` have mean 0.
#[must_use]
pub fn mean_zero(values: &[f64]) -> MeanTest {
    let n = values.len() as f64;
    let (mean, error) = (mean(values), (variance(values) / n).sqrt());
    let t = if mean == 0.0 && error == 0.0 { 0.0 } else { mean / error };
    let p_value = tails::student_beyond(t, n - 1.0);
    MeanTest { mean, error, t, p_value }
}

/// Returns the size of Student's t with `degrees` degrees of freedom that chance exceeds, on either side, with
/// probability `p_value`.
#[must_use]
pub fn student_limit(p_value: f64, degrees: f64) -> f64 {
    tails::student_limit(p_value, degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    #[test]
    fn holm_of_r() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(holm(&[f64::NAN, 0.5]), [0.0, 0.5]);
        assert!(holm(&[]).is_empty());
    }

    /// scipy.stats.ttest_1samp([0.3, -0.1, 0.8, 0.4, 0.2], 0).
    #[test]
    fn student_of_scipy() {
        let MeanTest { mean, error, t, p_value } = mean_zero(&[0.3, -0.1, 0.8, 0.4, 0.2]);
        assert!((t - 2.187_474_966_478_922).abs() < 1e-12, "{t}");
        assert!((p_value - 0.093_956_583_774_184_38).abs() < 1e-10, "{p_value}");
        assert!((mean - 0.32).abs() < 1e-15 && (error - mean / t).abs() < 1e-15);
        let same = |value: f64| (mean_zero(&[value; 3]).t, mean_zero(&[value; 3]).p_value);
        assert_eq!((same(0.5), same(0.0)), ((f64::INFINITY, 0.0), (0.0, 1.0)));
        assert!(mean_zero(&[1.0]).p_value.is_nan());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(mean_zero(&[1.0, bad, 2.0]).p_value.is_nan(), "{bad}");
        }
        // scipy.stats.t.isf(0.5e-3 / 16, 63)
        assert!(
            (student_limit(1e-3 / 16.0, 63.0) - 4.290595057546158).abs() < 1e-6,
            "{}",
            student_limit(1e-3 / 16.0, 63.0)
        );
    }
}
