//! Posterior predictive check: would the fitted model make data like the observed ones?

use super::sample::Sampled;
use crate::observed::{Predictive, Wanted};
use crate::problem::Problem;
use anyhow::Result;
use octopus_report::PredictiveStatistic;

/// A number that sums up all observations.
type Statistic = fn(&[f64]) -> f64;

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
pub(super) fn run(problem: &Problem, sampled: &Sampled, seed: u64) -> Result<Predicted> {
    let predictive = Predictive::new(&sampled.draws, &problem.model, seed, PER_CHAIN, Wanted::ALL)?;
    let statistics = check(problem.model.data().values(), &predictive.replicates);
    Ok(Predicted { predictive, statistics })
}

/// Mean, standard deviation, smallest and largest value: observed, replicated, and the Bayesian p-value, the
/// share of replicates that are at least the observed value (Gelman, Meng and Stern 1996).
pub(crate) fn check(observed: &[f64], replicates: &[Vec<f64>]) -> Vec<PredictiveStatistic> {
    let statistics: [(&str, Statistic); 4] = [("mean", mean), ("sd", sd), ("min", min), ("max", max)];
    statistics
        .into_iter()
        // One observation has no standard deviation.
        .filter(|(name, _)| *name != "sd" || observed.len() > 1)
        .map(|(name, statistic)| {
            let own = statistic(observed);
            let replicated: Vec<f64> = replicates.iter().map(|values| statistic(values)).collect();
            let above = replicated.iter().filter(|&&value| value >= own).count();
            let p_value = above as f64 / replicated.len() as f64;
            PredictiveStatistic { name: name.to_owned(), observed: own, replicated, p_value }
        })
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sd(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (values.len() as f64 - 1.0)).sqrt()
}

fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_shares() {
        let replicates: Vec<Vec<f64>> = (0..10).map(|k| vec![f64::from(k), f64::from(k) + 2.0]).collect();
        let found = check(&[6.0, 8.0], &replicates);
        let p = |name: &str| found.iter().find(|s| s.name == name).unwrap().p_value;
        // The replicates 6, 7, 8 and 9 are at least the observed one.
        assert_eq!((p("mean"), p("min"), p("max"), p("sd")), (0.4, 0.4, 0.4, 1.0));
        let sd = found.iter().find(|s| s.name == "sd").unwrap();
        assert!((sd.observed - 2f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn one_observation_has_no_standard_deviation() {
        let names: Vec<String> = check(&[1.0], &[vec![2.0]]).into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["mean", "min", "max"]);
    }
}
