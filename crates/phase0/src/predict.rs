//! The stage of posterior predictive checks: would the fitted model make data like the observed ones?
//!
//! The number of replicates from each chain stands here.

use super::sample::Sampled;
use crate::error::Phase0Error;
use octopus::{Predictive, PredictiveParts, check_predictive};
use octopus_models::Problem;
use octopus_report::{Predictions, PredictiveStatistic};
use octopus_trace::InferenceData;

/// The number of replicated data sets from each chain.
const PER_CHAIN: usize = 100;

/// Replicated observations, and their statistics.
pub(super) struct Predicted {
    /// The replicates and log likelihoods.
    pub(super) predictive: Predictive,
    /// The comparison of mean, sd, min and max with those of the observed data.
    pub(super) statistics: Vec<PredictiveStatistic>,
}

/// Replicates the observations, and compares the replicates with them. Returns the reason instead where the model has
/// nothing to replicate.
///
/// # Errors
/// When the trace lacks the unconstrained positions of the draws.
pub(super) fn run(
    problem: &dyn Problem,
    sampled: &Sampled,
    seed: u64,
) -> Result<Result<Predicted, String>, Phase0Error> {
    let density = problem.density();
    if density.observations() == 0 {
        return Ok(Err(format!("{} has no observations to predict", density.name())));
    }
    let predictive = Predictive::new(&sampled.draws, problem, seed, PER_CHAIN, PredictiveParts::ALL)?;
    let Some(predictions) = predictions(problem, &predictive) else {
        return Ok(Err(format!("{} adds no observations to a trace that fit its predictions", density.name())));
    };
    let statistics = check_predictive(&predictions.observed, &predictions.replicates(usize::MAX))?;
    Ok(Ok(Predicted { predictive, statistics }))
}

/// Returns the observations with their replicates.
fn predictions(problem: &dyn Problem, predictive: &Predictive) -> Option<Predictions> {
    let mut data = InferenceData::default();
    problem.add_observations(&mut data);
    predictive.add_groups(&mut data);
    Predictions::from_groups(data.group("observed_data")?, data.group("posterior_predictive")?)
}
