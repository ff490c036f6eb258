//! Posterior predictive check: would the fitted model make data like the observed ones?

use super::sample::Sampled;
use anyhow::Result;
use octopus::{Predictive, PredictiveParts, check_predictive};
use octopus_models::HierarchicalNormalProblem;
use octopus_report::PredictiveStatistic;

/// Replicated data sets of each chain.
const PER_CHAIN: usize = 100;

/// Replicates and what they say.
pub(super) struct Predicted {
    /// Replicates and log likelihoods.
    pub(super) predictive: Predictive,
    /// Mean, sd, min, max.
    pub(super) statistics: Vec<PredictiveStatistic>,
}

/// Replicates the observations.
///
/// # Errors
/// When the trace lacks the positions.
pub(super) fn run(problem: &HierarchicalNormalProblem, sampled: &Sampled, seed: u64) -> Result<Predicted> {
    let predictive = Predictive::new(&sampled.draws, problem, seed, PER_CHAIN, PredictiveParts::ALL)?;
    let statistics = check_predictive(problem.model().data().values(), &predictive.replicates)?;
    Ok(Predicted { predictive, statistics })
}
