//! The estimators that the R package posterior computes otherwise than ArviZ.

use crate::chains::Chains;
use crate::estimators::ess::Ess;
use crate::estimators::rhat::{rank_normalized, scale_reduction};
use crate::numbers::moments::sum_by;
use crate::numbers::order::{Sorted, median, range};

/// The range of values from which on they are not taken for equal.
const EQUAL: f64 = f64::EPSILON;

/// Computes R-hat of valid chains: the larger of R-hat of the ranks and R-hat of the ranks of distances from the median
/// of all draws. NaN when all values or all distances are equal.
pub(super) fn rhat(chains: &Chains) -> f64 {
    let center = median(&Sorted::of(chains.values()).values);
    let distances: Vec<f64> = chains.values().iter().map(|v| (v - center).abs()).collect();
    if distances.iter().any(|d| d.is_nan()) {
        return f64::NAN;
    }
    let [bulk, tail] = [*chains, chains.with_values(&distances)].map(|chains| {
        let mut buffer = Vec::new();
        let split = chains.split(&mut buffer);
        let scores = rank_normalized(split);
        if has_range(&scores) { scale_reduction(&scores, split.draws()) } else { f64::NAN }
    });
    // R's max: NA wins.
    if bulk.is_nan() || bulk >= tail { bulk } else { tail }
}

/// Computes the effective sample size of valid chains for the mean of `score` of the split chains.
pub(super) fn ess_of(chains: &Chains, score: impl Fn(Chains) -> Vec<f64>) -> f64 {
    let mut buffer = Vec::new();
    let split = chains.split(&mut buffer);
    ess(score(split), split.draws())
}

/// `.ess` of posterior: of chains of `draws` draws as they are.
fn ess(mut values: Vec<f64>, draws: usize) -> f64 {
    if draws < 3 || !has_range(&values) || values.iter().any(|v| !v.is_finite()) {
        return f64::NAN;
    }
    Ess::with_tau(draws, sum_of_correlations).estimate_varying(&mut values)
}

/// Geyer's initial monotone sequence as posterior ends it: pairs are added while more than five draws are behind the last one.
/// With fewer draws no pair is added, and the first correlation, 1, counts twice.
fn sum_of_correlations(draws: usize, rho: &mut Vec<f64>, correlation: &mut dyn FnMut(usize) -> f64) -> f64 {
    let (mut even, mut odd) = (1.0, correlation(1));
    rho.clear();
    rho.extend([even, odd]);
    let mut last = 0;
    while last + 5 < draws && even + odd > 0.0 {
        last += 2;
        (even, odd) = (correlation(last), correlation(last + 1));
        rho.extend(if even + odd >= 0.0 { [even, odd] } else { [0.0, 0.0] });
    }
    if even > 0.0 {
        rho[last] = even;
    }
    for t in (2..last.saturating_sub(1)).step_by(2) {
        let before = rho[t - 2] + rho[t - 1];
        if rho[t] + rho[t + 1] > before {
            rho[t] = before / 2.0;
            rho[t + 1] = rho[t];
        }
    }
    -1.0 + 2.0 * sum_by(&rho[..last.max(1)], |r| r) + rho[last]
}

/// Returns whether values differ by more than rounding.
fn has_range(values: &[f64]) -> bool {
    let (low, high) = range(values);
    high - low >= EQUAL
}

/// Returns whether all are finite, and not all equal: quantities are not defined else.
pub(super) fn defined(chains: &Chains) -> bool {
    let (low, high) = range(chains.values());
    low.is_finite() && high.is_finite() && high - low >= EQUAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_geyers_sequence_by_hand() {
        let rho = |values: &'static [f64]| move |lag: usize| values[lag];
        let mut buffer = Vec::new();
        // The pair .25 - .25 is not positive: it is the last one, and its even member counts once.
        let tau = sum_of_correlations(100, &mut buffer, &mut rho(&[1.0, 0.5, 0.25, -0.25, 0.1, 0.1, -0.1, -0.1]));
        assert!((tau - (-1.0 + 2.0 * (1.0 + 0.5) + 0.25)).abs() < 1e-15, "{tau}");
        // The second pair exceeds the first and is lowered to it.
        let tau = sum_of_correlations(100, &mut buffer, &mut rho(&[1.0, -0.4, 0.9, 0.0, 0.1, 0.1, -0.1, -0.1]));
        assert!((tau - (-1.0 + 2.0 * (0.6 + 0.6 + 0.2))).abs() < 1e-15, "{tau}");
        // With fewer than six draws no pair is added.
        assert_eq!(sum_of_correlations(5, &mut buffer, &mut rho(&[1.0, 0.9])), 2.0);
    }

    /// The third pair counts no more than the second, as the second counts no more than the first.
    #[test]
    fn every_pair_is_lowered_to_the_one_before() {
        let rho = [1.0, 0.5, 0.1, 0.1, 0.3, 0.3, -0.1, -0.1];
        let tau = sum_of_correlations(100, &mut Vec::new(), &mut |lag| rho[lag]);
        assert!((tau - (-1.0 + 2.0 * (1.5 + 0.2 + 0.2))).abs() < 1e-15, "{tau}");
    }

    #[test]
    fn values_within_rounding_are_equal() {
        let varies = |high: f64| has_range(&[0.0, high]);
        assert!(varies(f64::EPSILON) && !varies(0.75 * f64::EPSILON));
        let of = |high: f64| defined(&Chains::new(&[0.0, 0.0, high, 0.0], 1, 4).unwrap());
        assert!(of(f64::EPSILON) && !of(0.75 * f64::EPSILON) && !of(f64::INFINITY) && !of(f64::NEG_INFINITY));
    }

    #[test]
    fn three_draws_are_the_fewest() {
        let values = vec![1.0, 2.0, 4.0, 3.0, 7.0, 5.0];
        assert!(ess(values.clone(), 2).is_nan() && ess(values.clone(), 3).is_finite());
        assert!(ess(vec![1.0; 6], 3).is_nan() && ess(vec![1.0, 2.0, f64::INFINITY], 3).is_nan());
    }
}
