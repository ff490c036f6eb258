//! Monte Carlo standard errors: how far an estimate from these draws may lie from the posterior's value,
//! in the units of the quantity.
//!
//! Vehtari et al. (2021), section 4.3 and appendix; for the standard deviation the delta method as in
//! ArviZ and `posterior`.

use crate::chains::Chains;
use crate::error::{DiagError, open_probability};
use crate::estimators::ess::{ess_below_quantile, ess_mean, squared_deviations};
use crate::numbers::moments::{mean, sum_by, variance};
use crate::numbers::order::{Sorted, quantile_index_bounds};
use crate::numbers::scale;
use crate::numbers::tails::beta_quantile;

/// Returns the standard error of the mean: `sd / sqrt(ess_mean)`. NaN with fewer than 4 draws or a NaN among the
/// values. `az.mcse(method="mean")`.
pub fn mcse_mean(chains: &Chains) -> f64 {
    if !chains.valid(1) {
        return f64::NAN;
    }
    in_its_unit(chains, |chains| variance(chains.values()).sqrt() / ess_mean(chains).sqrt())
}

/// Computes an error from the same chains in a unit in which their squares can be computed.
fn in_its_unit(chains: &Chains, error: impl Fn(&Chains) -> f64) -> f64 {
    let unit = scale::unit(chains.values());
    if unit == 1.0 {
        return error(chains);
    }
    let scaled: Vec<f64> = chains.values().iter().map(|value| value * unit).collect();
    error(&chains.with_values(&scaled)) / unit
}

/// Returns the standard error of the standard deviation, by the delta method from the effective sample size of `(x -
/// mean)^2`. NaN where [`mcse_mean`] is, and when all values are equal. `az.mcse(method="sd")`.
pub fn mcse_sd(chains: &Chains) -> f64 {
    if !chains.valid(1) {
        return f64::NAN;
    }
    in_its_unit(chains, |chains| {
        let squares = squared_deviations(chains.values());
        let ess = ess_mean(&chains.with_values(&squares));
        let fourth = sum_by(&squares, |square| square * square) / squares.len() as f64;
        sd_error(mean(&squares), fourth, ess)
    })
}

/// `sqrt(Var(v) / (4 v))` of the estimated variance `v`, given the means of the squared deviations and of
/// their squares.
pub(crate) fn sd_error(variance: f64, fourth: f64, ess: f64) -> f64 {
    ((fourth - variance * variance) / ess / variance / 4.0).sqrt()
}

/// Returns the standard error of the `prob` quantile: half the width of the central 68% interval of the quantile, read
/// off the order statistics. NaN where [`mcse_mean`] is. `az.mcse(method="quantile", prob=prob)`.
///
/// # Errors
/// [`DiagError::Probability`] when `prob` does not lie between 0 and 1, both excluded.
pub fn mcse_quantile(chains: &Chains, prob: f64) -> Result<f64, DiagError> {
    open_probability("prob", prob)?;
    Ok(if chains.valid(1) { quantile_error(chains, prob) } else { f64::NAN })
}

/// Returns the standard error of the median: [`mcse_quantile`] at 50%. `az.mcse(method="median")`.
pub fn mcse_median(chains: &Chains) -> f64 {
    if chains.valid(1) { quantile_error(chains, 0.5) } else { f64::NAN }
}

fn quantile_error(chains: &Chains, prob: f64) -> f64 {
    quantile_error_with(chains, prob, ess_below_quantile(chains, prob))
}

/// Computes the error of a quantile whose effective sample size is `ess`; NaN when `ess` is.
pub(crate) fn quantile_error_with(chains: &Chains, prob: f64, ess: f64) -> f64 {
    if ess.is_nan() {
        return f64::NAN;
    }
    // The normal distribution function at -1 and 1, with the digits of ArviZ.
    let [low, high] = [0.158_655_3, 0.841_344_7].map(|p| beta_quantile(p, ess * prob + 1.0, ess * (1.0 - prob) + 1.0));
    let sorted = Sorted::of(chains.values()).values;
    let (low, high) = quantile_index_bounds(low, high, sorted.len());
    (sorted[high] - sorted[low]) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_cases() {
        let short = Chains::new(&[1.0, 2.0, 3.0], 1, 3).unwrap();
        assert!(mcse_mean(&short).is_nan() && mcse_sd(&short).is_nan() && mcse_median(&short).is_nan());
        let constant = Chains::new(&[2.0; 8], 2, 4).unwrap();
        assert_eq!((mcse_mean(&constant), mcse_median(&constant)), (0.0, 0.0));
        assert!(mcse_sd(&constant).is_nan());
        assert!(mcse_quantile(&constant, 1.5).is_err());
    }

    #[test]
    fn one_chain_of_four_draws_has_every_error() {
        let chains = Chains::new(&[1.0, 4.0, 2.0, 3.0], 1, 4).unwrap();
        let found = [mcse_mean(&chains), mcse_sd(&chains), mcse_median(&chains), mcse_quantile(&chains, 0.3).unwrap()];
        assert!(found.iter().all(|v| v.is_finite() && *v > 0.0), "{found:?}");
    }
}
