//! What the R package posterior computes otherwise than ArviZ.

use crate::Chains;
use crate::autocov::{MeanAutocov, Transform};
use crate::moments::{mean, sum_by, variance};
use crate::order::{Sorted, median, range};
use crate::rhat::{rank_normalized, scale_reduction};

/// The range of values from which on they are not taken for equal.
const EQUAL: f64 = f64::EPSILON;

/// Of valid chains (`rhat`): the larger of those of the ranks and of the ranks of distances from the median of all draws.
/// NaN when all are equal, values or distances.
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

/// Of valid chains, the effective sample size for the mean of `score` of the split chains.
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
    let (size, n) = (values.len() as f64, draws as f64);
    let means: Vec<f64> = values.chunks_exact(draws).map(mean).collect();
    values.chunks_exact_mut(draws).zip(&means).for_each(|(row, mean)| row.iter_mut().for_each(|v| *v -= mean));
    let (mut transform, mut lags) = (Transform::new(draws), Vec::new());
    let mut autocov = MeanAutocov::new(&mut transform, &values, &mut lags);
    let mean_var = autocov.at(0) * n / (n - 1.0);
    let between = if means.len() > 1 { variance(&means) } else { 0.0 };
    let var_plus = mean_var * (n - 1.0) / n + between;
    let tau = sum_of_correlations(draws, |lag| 1.0 - (mean_var - autocov.at(lag)) / var_plus);
    let bound = 1.0 / size.log10();
    size / if tau < bound { bound } else { tau }
}

/// Geyer's initial monotone sequence, ended five lags before the last; of fewer draws the first correlation alone counts,
/// twice.
fn sum_of_correlations(draws: usize, mut correlation: impl FnMut(usize) -> f64) -> f64 {
    let (mut even, mut odd) = (1.0, correlation(1));
    let mut rho = vec![even, odd];
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

/// Whether values differ by more than rounding.
fn has_range(values: &[f64]) -> bool {
    let (low, high) = range(values);
    high - low >= EQUAL
}

/// Whether all are finite, and not all equal: quantities are not defined else.
pub(super) fn defined(chains: &Chains) -> bool {
    let (low, high) = range(chains.values());
    low.is_finite() && high.is_finite() && high - low >= EQUAL
}
