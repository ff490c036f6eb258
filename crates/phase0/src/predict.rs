//! The stage of posterior predictive checks: would the fitted model make data like the observed ones?
//!
//! The number of replicates from each chain stands here.

use super::sample::Sampled;
use crate::error::Phase0Error;
use octopus::{Predictive, PredictiveParts, check_predictive};
use octopus_models::HierarchicalNormalProblem;
use octopus_report::PredictiveStatistic;

/// The number of replicated data sets from each chain.
const PER_CHAIN: usize = 100;

/// Replicated observations, and their statistics.
pub(super) struct Predicted {
    /// The replicates and log likelihoods.
    pub(super) predictive: Predictive,
    /// The comparison of mean, sd, min and max with those of the observed data.
    pub(super) statistics: Vec<PredictiveStatistic>,
}

/// Replicates the observations, and compares the replicates with them.
///
/// # Errors
/// When the trace lacks the unconstrained positions of the draws.
pub(super) fn run(problem: &HierarchicalNormalProblem, sampled: &Sampled, seed: u64) -> Result<Predicted, Phase0Error> {
    let predictive = Predictive::new(&sampled.draws, problem, seed, PER_CHAIN, PredictiveParts::ALL)?;
    let statistics = check_predictive(problem.model().data().values(), &predictive.replicates)?;
    Ok(Predicted { predictive, statistics })
}
