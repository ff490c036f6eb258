//! Posterior predictive check: would the fitted model make data like the observed ones?

use super::sample::Sampled;
use crate::observed::{Predictive, Wanted};
use anyhow::Result;
use octopus_diag::{BayesianPValue, Statistic, bayesian_p_value};
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
    let predictive = Predictive::new(&sampled.draws, problem, seed, PER_CHAIN, Wanted::ALL)?;
    let statistics = check(problem.model().data().values(), &predictive.replicates)?;
    Ok(Predicted { predictive, statistics })
}

/// Mean, standard deviation, smallest and largest value: observed, replicated, and the Bayesian p-value, the share of
/// replicates that are at most the observed value.
///
/// # Errors
/// When a replicate has not as many values as were observed.
pub(crate) fn check(observed: &[f64], replicates: &[Vec<f64>]) -> Result<Vec<PredictiveStatistic>> {
    let all = replicates.concat();
    [("mean", Statistic::Mean), ("sd", Statistic::Sd), ("min", Statistic::Min), ("max", Statistic::Max)]
        .into_iter()
        // One observation does not vary.
        .filter(|(name, _)| *name != "sd" || observed.len() > 1)
        .map(|(name, statistic)| {
            let BayesianPValue { observed, replicated, p_value } = bayesian_p_value(&all, observed, statistic)?;
            Ok(PredictiveStatistic { name: name.to_owned(), observed, replicated, p_value })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_shares() {
        let replicates: Vec<Vec<f64>> = (0..10).map(|k| vec![f64::from(k), f64::from(k) + 2.0]).collect();
        let found = check(&[6.0, 8.0], &replicates).unwrap();
        let p = |name: &str| found.iter().find(|s| s.name == name).unwrap().p_value;
        // The replicates 0 to 6 are at most the observed one, and all vary as much.
        assert_eq!((p("mean"), p("min"), p("max"), p("sd")), (0.7, 0.7, 0.7, 1.0));
        assert_eq!(found.iter().find(|s| s.name == "sd").unwrap().observed, 1.0);
    }

    #[test]
    fn one_observation_has_no_standard_deviation() {
        let names: Vec<String> = check(&[1.0], &[vec![2.0]]).unwrap().into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["mean", "min", "max"]);
    }
}
