//! Effective sample sizes (ESS): bulk, tail, of means, quantiles and others.
//!
//! Vehtari, A., Gelman, A., Simpson, D., Carpenter, B., Buerkner, P.-C. (2021). Rank-normalization,
//! folding, and localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis
//! 16(2), 667-718. Truncation by Geyer's initial monotone sequence (Geyer 1992, 2011).

use crate::chains::Chains;
use crate::error::{DiagError, interval, open_probability};
use crate::estimators::autocov::{FourierTransform, MeanAutocov};
use crate::estimators::indicator::Indicators;
use crate::estimators::rhat::{rank_normalized, rank_normalized_folded};
use crate::numbers::fold::fold;
use crate::numbers::moments::{mean, sum_by, variance};
use crate::numbers::order::{Sorted, median, quantile, range_and_nan};
use crate::numbers::scale;

/// A range below which ArviZ takes all values for one (`np.finfo(float).resolution`).
const CONSTANT: f64 = 1e-15;

/// Returns the bulk effective sample size, in draws: of the rank-normalised split chains. It says how well the center
/// of the distribution (mean, median) is known. NaN with fewer than 4 draws or when a value is NaN; the number of draws
/// when all are equal. `az.ess(method="bulk")`.
pub fn ess_bulk(chains: &Chains) -> f64 {
    if !chains.valid(1) {
        return f64::NAN;
    }
    let mut buffer = Vec::new();
    let split = chains.split(&mut buffer);
    let normal = rank_normalized(split);
    Ess::new(split.draws()).estimate(&normal)
}

/// Returns the tail effective sample size, in draws: the smaller of [`ess_quantile`] at 5% and 95%. It says how well
/// intervals are known. NaN where [`ess_bulk`] is. `az.ess(method="tail")`.
pub fn ess_tail(chains: &Chains) -> f64 {
    if !chains.valid(1) {
        return f64::NAN;
    }
    let low = ess_below_quantile(chains, 0.05);
    let high = ess_below_quantile(chains, 0.95);
    lesser(low, high)
}

/// Returns the effective sample size for the mean, in draws: of the split chains as they are. NaN where [`ess_bulk`]
/// is. `az.ess(method="mean")`.
pub fn ess_mean(chains: &Chains) -> f64 {
    if !chains.valid(1) {
        return f64::NAN;
    }
    let mut buffer = Vec::new();
    let split = chains.split(&mut buffer);
    Ess::new(split.draws()).estimate(split.values())
}

/// Returns the effective sample size for the standard deviation, in draws: that of the mean of `(x - mean)^2`. NaN as
/// [`ess_bulk`]. `az.ess(method="sd")`.
pub fn ess_sd(chains: &Chains) -> f64 {
    if !chains.valid(1) {
        return f64::NAN;
    }
    let unit = scale::unit(chains.values());
    let squares = match unit {
        1.0 => squared_deviations(chains.values()),
        _ => squared_deviations(&chains.values().iter().map(|value| value * unit).collect::<Vec<f64>>()),
    };
    ess_mean(&chains.with_values(&squares))
}

/// Returns the effective sample size for the `prob` quantile, in draws: that of the mean of the indicator `x <=
/// quantile`. NaN where [`ess_bulk`] is. `az.ess(method="quantile", prob=prob)`.
///
/// # Errors
/// [`DiagError::Probability`] when `prob` does not lie between 0 and 1, both excluded.
pub fn ess_quantile(chains: &Chains, prob: f64) -> Result<f64, DiagError> {
    open_probability("prob", prob)?;
    Ok(if chains.valid(1) { ess_below_quantile(chains, prob) } else { f64::NAN })
}

/// Returns the effective sample size for the median, in draws: [`ess_quantile`] at 50%. `az.ess(method="median")`.
pub fn ess_median(chains: &Chains) -> f64 {
    if chains.valid(1) { ess_below_quantile(chains, 0.5) } else { f64::NAN }
}

/// Returns the effective sample size for the probability of the interval between the `low` and the `high` quantile, in
/// draws: that of the mean of the indicator of lying in it. How well each part of the distribution is known. NaN as
/// [`ess_bulk`]. `az.ess(method="local", prob=(low, high))`.
///
/// # Errors
/// [`DiagError::Interval`] unless `0 <= low < high <= 1`.
pub fn ess_local(chains: &Chains, low: f64, high: f64) -> Result<f64, DiagError> {
    interval("ess_local", low, high)?;
    if !chains.valid(1) {
        return Ok(f64::NAN);
    }
    let sorted = Sorted::of(chains.values()).values;
    let (low, high) = (quantile(&sorted, low), quantile(&sorted, high));
    Ok(ess_of(chains, |v| low <= v && v <= high))
}

/// Returns the effective sample size for the median absolute deviation, in draws: that of the normal scores of the
/// indicator of lying within it of the median. NaN where [`ess_bulk`] is. `az.ess(method="mad")`.
pub fn ess_mad(chains: &Chains) -> f64 {
    if !chains.valid(1) {
        return f64::NAN;
    }
    let (mut sorted, mut folded) = (Sorted::of(chains.values()), Sorted::default());
    let center = median(&sorted.values);
    // Where the median is infinite some distances are not defined, and none counts as small.
    let width = if fold(&mut sorted, center, &mut folded) { median(&folded.values) } else { f64::NAN };
    let mut buffer = Vec::new();
    let split = chains.split(&mut buffer);
    let distances: Vec<f64> = split.values().iter().map(|v| (v - center).abs()).collect();
    let mut within = Vec::new();
    indicate(&distances, width, &mut within);
    Ess::new(split.draws()).estimate(&rank_normalized(split.with_values(&within)))
}

/// Returns the effective sample size of the split chains' normal scores, in draws: another name of [`ess_bulk`].
/// `az.ess(method="z_scale")`.
pub fn ess_z_scale(chains: &Chains) -> f64 {
    ess_bulk(chains)
}

/// Returns the effective sample size for the spread, in draws: of the normal scores of the split chains' distances from
/// the median. NaN where [`ess_bulk`] is, and when the median is infinite. `az.ess(method="folded")`.
pub fn ess_folded(chains: &Chains) -> f64 {
    if !chains.valid(1) {
        return f64::NAN;
    }
    let mut buffer = Vec::new();
    let split = chains.split(&mut buffer);
    rank_normalized_folded(split).map_or(f64::NAN, |z| Ess::new(split.draws()).estimate(&z))
}

/// Returns the effective sample size for the mean, in draws, of the whole chains, not split. NaN where [`ess_bulk`] is.
/// `az.ess(method="identity")`.
pub fn ess_identity(chains: &Chains) -> f64 {
    if !chains.valid(1) {
        return f64::NAN;
    }
    Ess::new(chains.draws()).estimate(chains.values())
}

/// Returns the effective sample size of valid chains for the probability that `is` is true.
fn ess_of(chains: &Chains, is: impl Fn(f64) -> bool) -> f64 {
    Ess::new(chains.draws() / 2).estimate_indicator(chains.values(), chains.draws(), is)
}

/// `(x - mean)^2` of each value.
pub(crate) fn squared_deviations(values: &[f64]) -> Vec<f64> {
    let center = mean(values);
    values.iter().map(|v| (v - center) * (v - center)).collect()
}

/// Returns the effective sample size of valid chains for the quantile at `prob`.
pub(crate) fn ess_below_quantile(chains: &Chains, prob: f64) -> f64 {
    ess_below(chains, quantile(&Sorted::of(chains.values()).values, prob))
}

/// Returns the effective sample size of valid chains for the probability of being at most `bound`.
pub(crate) fn ess_below(chains: &Chains, bound: f64) -> f64 {
    ess_of(chains, |v| v <= bound)
}

/// Writes 1 where a value is at most `bound`, 0 elsewhere (also when `bound` is NaN).
pub(crate) fn indicate(values: &[f64], bound: f64, out: &mut Vec<f64>) {
    out.clear();
    out.extend(values.iter().map(|&v| f64::from(u8::from(v <= bound))));
}

/// Python's `min(a, b)`: `a` unless `b` is smaller, so that NaN stays where it stands.
pub(crate) fn lesser(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// How `tau` comes of so many draws' correlations, asked for by lag; the vector is a buffer.
pub(crate) type Tau = fn(usize, &mut Vec<f64>, &mut dyn FnMut(usize) -> f64) -> f64;

/// The estimator for chains of one length, with its buffers.
#[derive(Clone)]
pub(crate) struct Ess {
    draws: usize,
    tau: Tau,
    transform: FourierTransform,
    means: Vec<f64>,
    lags: Vec<f64>,
    rho: Vec<f64>,
    indicators: Indicators,
}

impl Ess {
    /// Makes the buffers for chains of `draws` draws (after any splitting), at least 2.
    pub(crate) fn new(draws: usize) -> Self {
        Self::with_tau(draws, sum_of_correlations)
    }

    /// Makes the buffers with another sum of correlations than Geyer's initial monotone sequence.
    pub(crate) fn with_tau(draws: usize, tau: Tau) -> Self {
        Self {
            draws,
            tau,
            transform: FourierTransform::new(draws),
            means: Vec::new(),
            lags: Vec::new(),
            rho: Vec::new(),
            indicators: Indicators::default(),
        }
    }

    /// Returns the effective sample size of `values`, `chains x draws`, without splitting or ranking (`_ess` of ArviZ):
    /// `chains draws / tau`, with `tau = -1 + 2 sum_t rho_t` over Geyer's initial monotone sequence.
    pub(crate) fn estimate(&mut self, values: &[f64]) -> f64 {
        self.estimate_in_place(&mut values.to_vec())
    }

    /// Does what [`estimate`](Self::estimate) does, and overwrites the values.
    pub(crate) fn estimate_in_place(&mut self, values: &mut [f64]) -> f64 {
        let (min, max, nan) = range_and_nan(values);
        if max - min < CONSTANT && !nan {
            return values.len() as f64;
        }
        self.estimate_varying(values)
    }

    /// Does what [`estimate_in_place`](Self::estimate_in_place) does, for values that are not all equal.
    pub(crate) fn estimate_varying(&mut self, values: &mut [f64]) -> f64 {
        let unit = scale::unit(values);
        if unit != 1.0 {
            values.iter_mut().for_each(|value| *value *= unit);
        }
        self.center(values);
        // NaN among the values, or infinity, makes a mean not finite and then every correlation NaN.
        if self.means.iter().any(|mean| !mean.is_finite()) {
            return f64::NAN;
        }
        let mut autocov = MeanAutocov::new(&mut self.transform, values, &mut self.lags);
        effective_size(self.draws, self.tau, &self.means, &mut self.rho, |lag| autocov.at(lag))
    }

    /// Returns the effective sample size of the halves of chains of `whole` draws for the probability that `is` is
    /// true: that of the series of 0 and 1.
    pub(crate) fn estimate_indicator(&mut self, values: &[f64], whole: usize, is: impl Fn(f64) -> bool) -> f64 {
        self.indicators.fill(values, whole, self.draws, is);
        if self.indicators.constant() {
            return self.indicators.len() as f64;
        }
        self.means.clear();
        self.means.extend(self.indicators.means());
        let autocov = |lag| self.indicators.mean_autocov(lag, &mut self.transform);
        effective_size(self.draws, self.tau, &self.means, &mut self.rho, autocov)
    }

    /// Subtracts each chain's mean.
    fn center(&mut self, values: &mut [f64]) {
        self.means.clear();
        for row in values.chunks_exact_mut(self.draws) {
            let center = mean(row);
            self.means.push(center);
            row.iter_mut().for_each(|v| *v -= center);
        }
    }
}

/// Computes the effective sample size of chains of `draws` draws with these means and autocovariances, averaged over
/// chains. `rho` is a buffer.
fn effective_size(
    draws: usize,
    tau: Tau,
    means: &[f64],
    rho: &mut Vec<f64>,
    mut autocov: impl FnMut(usize) -> f64,
) -> f64 {
    let (size, n) = ((means.len() * draws) as f64, draws as f64);
    let mean_var = autocov(0) * n / (n - 1.0);
    let mut var_plus = mean_var * (n - 1.0) / n;
    if means.len() > 1 {
        var_plus += variance(means);
    }
    let tau = tau(draws, rho, &mut |lag| 1.0 - (mean_var - autocov(lag)) / var_plus);
    // tau is bounded below so that antithetic chains are not credited without limit; NaN passes.
    let bound = 1.0 / size.log10();
    size / if bound > tau { bound } else { tau }
}

/// `tau = -1 + 2 sum_t rho_t`, truncated by Geyer's initial positive sequence and made monotone;
/// NaN when a correlation is. `rho` is a buffer.
fn sum_of_correlations(draws: usize, rho: &mut Vec<f64>, correlation: &mut dyn FnMut(usize) -> f64) -> f64 {
    rho.clear();
    let (mut even, mut odd) = (1.0, correlation(1));
    rho.extend([even, odd]);
    // Pairs (t + 1, t + 2) are added as long as their sum is positive (Geyer's initial positive sequence).
    let mut t = 1;
    while t + 3 < draws && even + odd > 0.0 {
        even = correlation(t + 1);
        odd = correlation(t + 2);
        rho.extend(if even + odd >= 0.0 { [even, odd] } else { [0.0, 0.0] });
        t += 2;
    }
    // The first pair without a sum is the last one.
    if (even + odd).is_nan() {
        return f64::NAN;
    }
    // The correlations up to lag t - 2 enter twice, the last even one once.
    let last = t - 1;
    if even > 0.0 {
        rho[last] = even;
    }
    // Initial monotone sequence: no pair may exceed the one before it.
    for t in (1..last.saturating_sub(2)).step_by(2) {
        let before = rho[t - 1] + rho[t];
        if rho[t + 1] + rho[t + 2] > before {
            rho[t + 1] = before / 2.0;
            rho[t + 2] = rho[t + 1];
        }
    }
    -1.0 + 2.0 * sum_by(&rho[..last], |r| r) + rho[last]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_geyers_sequence_by_hand() {
        let rho = |values: &'static [f64]| move |lag: usize| values[lag];
        let mut buffer = Vec::new();
        // Pairs 1 + .5, .3 + .1, .2 - .4 (negative: cut, but its positive even member counts once).
        let tau = sum_of_correlations(100, &mut buffer, &mut rho(&[1.0, 0.5, 0.3, 0.1, 0.2, -0.4]));
        assert!((tau - (-1.0 + 2.0 * (1.0 + 0.5 + 0.3 + 0.1) + 0.2)).abs() < 1e-15, "{tau}");
        // The second pair exceeds the first and is lowered to it.
        let tau = sum_of_correlations(100, &mut buffer, &mut rho(&[1.0, -0.4, 0.9, 0.0, 0.1, 0.1, -0.1, -0.1]));
        assert!((tau - (-1.0 + 2.0 * (0.6 + 0.6 + 0.2))).abs() < 1e-15, "{tau}");
        // Too short for any pair beyond the first.
        assert_eq!(sum_of_correlations(4, &mut buffer, &mut rho(&[1.0, 0.9])), 0.0);
        assert!(sum_of_correlations(100, &mut buffer, &mut |_| f64::NAN).is_nan());
        // The pair .25 - .25 is not positive: it is the last one, and its even member counts once.
        let tau = sum_of_correlations(100, &mut buffer, &mut rho(&[1.0, 0.5, 0.25, -0.25, 0.1, 0.1, -0.1, -0.1]));
        assert!((tau - (-1.0 + 2.0 * (1.0 + 0.5) + 0.25)).abs() < 1e-15, "{tau}");
        // A later pair has no sum.
        for broken in [&[1.0, 0.5, f64::NAN, 0.1], &[1.0, 0.5, f64::INFINITY, f64::NEG_INFINITY]] {
            assert!(sum_of_correlations(100, &mut buffer, &mut rho(broken)).is_nan(), "{broken:?}");
        }
    }

    /// Of n alternating draws no correlation is added, tau is 0, and its bound `1 / log10(n)` holds.
    #[test]
    fn antithetic_draws_are_credited_up_to_a_limit() {
        let alternating: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert_eq!(Ess::new(100).estimate(&alternating), 200.0);
    }

    #[test]
    fn a_range_of_1e_15_is_not_constant() {
        let slow: Vec<f64> = (0..40).map(|i| f64::from(i / 5 % 2)).collect();
        let tiny: Vec<f64> = slow.iter().map(|v| 1e-15 * v).collect();
        let (expected, found) = (Ess::new(40).estimate(&slow), Ess::new(40).estimate(&tiny));
        assert!(expected < 30.0 && (found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
        // A smaller one is, and all draws count.
        let constant: Vec<f64> = slow.iter().map(|v| 9e-16 * v).collect();
        assert_eq!(Ess::new(40).estimate(&constant), 40.0);
    }

    #[test]
    fn what_is_at_most_the_bound_is_indicated() {
        let mut found = vec![9.0];
        indicate(&[1.0, 2.0, 3.0, f64::NAN, -1.0], 2.0, &mut found);
        assert_eq!(found, [1.0, 1.0, 0.0, 0.0, 1.0]);
        indicate(&[1.0, 2.0], f64::NAN, &mut found);
        assert_eq!(found, [0.0, 0.0]);
    }

    #[test]
    fn probabilities_are_checked() {
        let chains = Chains::new(&[1.0, 2.0, 3.0, 4.0], 1, 4).unwrap();
        for prob in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(matches!(ess_quantile(&chains, prob), Err(DiagError::Probability { .. })), "{prob}");
        }
    }

    /// The third pair counts no more than the second, as the second counts no more than the first.
    #[test]
    fn every_pair_is_lowered_to_the_one_before() {
        let rho = [1.0, 0.5, 0.1, 0.1, 0.3, 0.3, -0.1, -0.1];
        let tau = sum_of_correlations(100, &mut Vec::new(), &mut |lag| rho[lag]);
        assert!((tau - (-1.0 + 2.0 * (1.5 + 0.2 + 0.2))).abs() < 1e-15, "{tau}");
    }

    #[test]
    fn one_chain_of_four_draws_has_every_size() {
        for (values, defined) in [(&[1.0, 4.0, 2.0, 3.0][..], true), (&[1.0, 4.0, 2.0], false)] {
            let chains = Chains::new(values, 1, values.len()).unwrap();
            let found = [
                ess_bulk(&chains),
                ess_tail(&chains),
                ess_mean(&chains),
                ess_sd(&chains),
                ess_median(&chains),
                ess_mad(&chains),
                ess_folded(&chains),
                ess_identity(&chains),
                ess_quantile(&chains, 0.3).unwrap(),
                ess_local(&chains, 0.2, 0.7).unwrap(),
            ];
            assert!(found.iter().all(|v| v.is_finite() == defined && v.is_nan() != defined), "{found:?}");
        }
    }
}
