//! LOO-PIT (leave-one-out probability integral transforms): where observations lie in their predictions.
//!
//! Gabry, J., Simpson, D., Vehtari, A., Betancourt, M., Gelman, A. (2019). Visualization in Bayesian workflow. Journal of
//! the Royal Statistical Society A 182, 389-402.

use crate::error::DiagError;
use crate::estimators::pvalue;
use crate::predictive::likelihood::LogLikelihood;
use crate::predictive::psis::{Tail, check_reff, write_log_weights};

/// How a prediction counts that is equal to the observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// Equal predictions are below: ArviZ 0.23, for real observations. (It smooths integers by a spline over their order
    /// first, which has no meaning as a probability and is not offered here.)
    #[default]
    Below,
    /// Half of their weight is: arviz-stats 0.8; for counts.
    Half,
}

/// Returns the probability, under the posterior without it, that a prediction is at most the observation: uniform if
/// the model predicts well. `log_likelihood` and `predictions` (`samples x observations`, row-major) are of the same
/// draws and observations; `reff` as in [`loo`](crate::loo). NaN where the weights are or the observation is; NaN
/// predictions are not below. `az.loo_pit`.
///
/// # Errors
/// [`DiagError::Size`] when the sizes differ, [`DiagError::Positive`] when `reff` is 0 or negative.
pub fn loo_pit(
    log_likelihood: &LogLikelihood,
    predictions: &[f64],
    observed: &[f64],
    reff: f64,
    ties: Ties,
) -> Result<Vec<f64>, DiagError> {
    check_reff(reff)?;
    let (samples, width) = (log_likelihood.samples(), log_likelihood.observations());
    let size = |what, found, expected| {
        if found == expected { Ok(()) } else { Err(DiagError::Size { what, found, expected }) }
    };
    size("observed data", observed.len(), width)?;
    size("predictions (samples x observations)", predictions.len(), samples * width)?;
    pvalue::check_rows(predictions, observed)?;
    Ok(log_likelihood.map(
        || (Tail::default(), Vec::new()),
        |(tail, weights), observation, column| {
            weights.clear();
            weights.extend(column.iter().map(|l| -l));
            let truth = observed[observation];
            if truth.is_nan() || !tail.fit(column, -1.0, reff) {
                return f64::NAN;
            }
            write_log_weights(tail, weights);
            let mut below = 0.0;
            for (weight, prediction) in weights.iter().zip(predictions.iter().skip(observation).step_by(width)) {
                if *prediction < truth || (*prediction == truth && ties == Ties::Below) {
                    below += weight.exp();
                } else if *prediction == truth {
                    below += 0.5 * weight.exp();
                }
            }
            below.min(1.0)
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal log likelihoods leave the draws as they are.
    #[test]
    fn without_influence_it_is_the_share_below() {
        let (likelihood, predictions) = ([-1.0; 20], (0..20).map(|i| f64::from(i / 4)).collect::<Vec<_>>());
        let view = LogLikelihood::new(&likelihood, 10, 2).unwrap();
        let near = |found: Vec<f64>, expected: [f64; 2]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?}");
        };
        // Draws of both: 0 0 1 1 2 2 3 3 4 4.
        near(loo_pit(&view, &predictions, &[1.5, 2.0], 1.0, Ties::Below).unwrap(), [0.4, 0.6]);
        near(loo_pit(&view, &predictions, &[9.0, 2.0], 1.0, Ties::Half).unwrap(), [1.0, 0.5]);
        assert!(loo_pit(&view, &predictions, &[f64::NAN, -1.0], 1.0, Ties::Below).unwrap()[0].is_nan());
        assert!(loo_pit(&view, &predictions[1..], &[1.5, 2.0], 1.0, Ties::Below).is_err());
        assert!(loo_pit(&view, &predictions, &[1.5], 1.0, Ties::Below).is_err());
    }

    /// Rounding may lift the sum of all weights above 1.
    #[test]
    fn no_probability_is_above_1() {
        let beyond = |samples: usize| {
            let likelihood: Vec<f64> = (0..samples).map(|i| -((i * 37 % 101) as f64) / 50.0).collect();
            let weights = crate::psis(&likelihood.iter().map(|l| -l).collect::<Vec<f64>>(), 1.0).unwrap().log_weights;
            let view = LogLikelihood::new(&likelihood, samples, 1).unwrap();
            let found = loo_pit(&view, &vec![0.0; samples], &[1.0], 1.0, Ties::Below).unwrap()[0];
            assert!(found <= 1.0 && found > 1.0 - 1e-13, "{samples}: {found}");
            weights.iter().map(|w| w.exp()).fold(0.0, |sum, w| sum + w) > 1.0
        };
        assert!((20..120).filter(|&samples| beyond(samples)).count() > 10);
    }
}
