//! Posterior predictive checks: would the fitted model make data like the observed ones?
//!
//! The statistics (mean, sd, min, max) and their p-values are chosen here.

use octopus_diag::{BayesianPValue, DiagError, Statistic, bayesian_p_value};
use octopus_report::PredictiveStatistic;

/// Compares four statistics of the observed data with those of replicates: mean, standard deviation, smallest and
/// largest value. Each comes with its Bayesian p-value: the share of replicates whose statistic is at most the observed
/// one.
///
/// # Errors
/// When there is no observation, or the replicates together do not hold a whole number of data sets.
pub fn check_predictive(observed: &[f64], replicates: &[Vec<f64>]) -> Result<Vec<PredictiveStatistic>, DiagError> {
    let all = replicates.concat();
    [("mean", Statistic::Mean), ("sd", Statistic::Sd), ("min", Statistic::Min), ("max", Statistic::Max)]
        .into_iter()
        // A single observation has no standard deviation.
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
        let found = check_predictive(&[6.0, 8.0], &replicates).unwrap();
        let p = |name: &str| found.iter().find(|s| s.name == name).unwrap().p_value;
        // The replicates 0 to 6 are at most the observed one, and all vary as much.
        assert_eq!((p("mean"), p("min"), p("max"), p("sd")), (0.7, 0.7, 0.7, 1.0));
        assert_eq!(found.iter().find(|s| s.name == "sd").unwrap().observed, 1.0);
    }

    #[test]
    fn one_observation_has_no_standard_deviation() {
        let names: Vec<String> = check_predictive(&[1.0], &[vec![2.0]]).unwrap().into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["mean", "min", "max"]);
    }
}
