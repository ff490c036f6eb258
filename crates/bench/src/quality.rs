//! How good the draws of a run are: R-hat and effective sample sizes, which tell whether the run has converged.
//!
//! These are the numbers that benchmarks and phase 0 save and print.

use crate::json::null_is_nan;
use octopus_diag::{DEFAULT_PROB, DiagError, ParameterSummary, Summary, limits, summary, summary_of_many};
use octopus_sampler::SamplerConfig;
use octopus_trace::Dataset;
use serde::{Deserialize, Serialize};

/// The worst values over the quantities that were looked at. Runs that differ in threads only have the same.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Quality {
    /// The smallest bulk effective sample size.
    #[serde(rename = "min_ess", deserialize_with = "null_is_nan")]
    pub min_ess_bulk: f64,
    /// The smallest tail effective sample size.
    #[serde(deserialize_with = "null_is_nan")]
    pub min_ess_tail: f64,
    /// The largest R-hat; of many short chains the largest nested R-hat.
    #[serde(deserialize_with = "null_is_nan")]
    pub max_rhat: f64,
    /// The number of quantities that were looked at, out of all `quantities`.
    pub looked_at: usize,
    /// The number of all quantities.
    pub quantities: usize,
}

impl Quality {
    /// Finds the worst values of these rows of a summary. NaN counts as worse than any number.
    pub(crate) fn of(rows: &[ParameterSummary]) -> Self {
        let worst = |of: fn(&ParameterSummary) -> f64, pick: fn(f64, f64) -> f64| {
            let worse = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) };
            rows.iter().map(of).reduce(worse).unwrap_or(f64::NAN)
        };
        Self {
            min_ess_bulk: worst(|row| row.ess_bulk, f64::min),
            min_ess_tail: worst(|row| row.ess_tail, f64::min),
            max_rhat: worst(|row| row.rhat, f64::max),
            looked_at: rows.len(),
            quantities: rows.len(),
        }
    }

    /// Returns whether the draws meet the PRD's limits of R-hat and effective sample sizes.
    pub fn converged(&self) -> bool {
        self.max_rhat < limits::RHAT && self.min_ess_bulk > limits::ESS && self.min_ess_tail > limits::ESS
    }
}

/// Summarises the draws of a run as is right for its strategy.
///
/// # Errors
/// When they cannot be summarised (see [`summary_of_many`]).
pub(crate) fn summary_of_run(draws: &Dataset, config: &SamplerConfig) -> Result<Summary, DiagError> {
    match config.nested() {
        None => summary(draws, DEFAULT_PROB),
        Some(superchains) => summary_of_many(draws, DEFAULT_PROB, superchains),
    }
}
