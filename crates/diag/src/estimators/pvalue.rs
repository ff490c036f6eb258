//! Bayesian p-values: the rank of a statistic of the data among the statistics of replicated data.
//!
//! Gelman, A., Meng, X.-L., Stern, H. (1996). Posterior predictive assessment of model fitness via realized discrepancies.
//! Statistica Sinica 6, 733-807.

use crate::error::DiagError;
use crate::numbers::moments::{mean, sum_by};
use crate::numbers::order::{median, quantile_of_sorted, range};
use rayon::prelude::*;

/// A statistic of a data set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The standard deviation, divisor n.
    Sd,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The median.
    Median,
    /// A quantile, by linear interpolation; the probability lies from 0 to 1.
    Quantile(f64),
}

impl Statistic {
    /// Returns the statistic of `values`; NaN when one of them is, or there is none.
    pub fn of(self, values: &[f64]) -> f64 {
        if values.is_empty() || crate::chains::has_nan(values) {
            return f64::NAN;
        }
        let sorted = || {
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        };
        match self {
            Self::Mean => mean(values),
            Self::Sd => {
                let center = mean(values);
                (sum_by(values, |v| (v - center) * (v - center)) / values.len() as f64).sqrt()
            }
            Self::Min => range(values).0,
            Self::Max => range(values).1,
            Self::Median => median(&sorted()),
            Self::Quantile(prob) => quantile_of_sorted(&sorted(), prob),
        }
    }
}

/// A statistic of the data beside those of replicated data.
#[derive(Clone, Debug, PartialEq)]
pub struct BayesianPValue {
    /// The statistic of the data.
    pub observed: f64,
    /// The statistic of each replicated data set.
    pub replicated: Vec<f64>,
    /// The share of `replicated` that is at most `observed`; near 0 or 1 the model does not reproduce the statistic.
    pub p_value: f64,
}

/// Compares `statistic` of the data with the statistic of data replicated from the posterior: `replicated` is `samples
/// x observations`, row-major. NaN counts as larger. `az.plot_bpv(kind="t_stat")` shows the p-value.
///
/// # Errors
/// [`DiagError::Size`] when there is no observation, or `replicated` does not have a whole number of rows;
/// [`DiagError::Probability`] when `statistic` is a quantile outside 0 to 1.
pub fn bayesian_p_value(
    replicated: &[f64],
    observed: &[f64],
    statistic: Statistic,
) -> Result<BayesianPValue, DiagError> {
    check_rows(replicated, observed)?;
    if let Statistic::Quantile(value) = statistic
        && !(0.0..=1.0).contains(&value)
    {
        return Err(DiagError::Probability { name: "quantile", value, expected: "from 0 to 1" });
    }
    let truth = statistic.of(observed);
    let found: Vec<f64> = replicated.par_chunks_exact(observed.len()).map(|row| statistic.of(row)).collect();
    let below = found.iter().filter(|&&v| v <= truth).count();
    Ok(BayesianPValue { observed: truth, p_value: below as f64 / found.len() as f64, replicated: found })
}

/// Returns for each replicated data set the share of its values that are at most the observed values, place by place.
/// The shares are around 1/2 if the model predicts well on the whole. `az.plot_bpv(kind="p_value")` draws them.
///
/// # Errors
/// [`DiagError::Size`] when there is no observation, or `replicated` does not have a whole number of rows.
pub fn bayesian_p_values(replicated: &[f64], observed: &[f64]) -> Result<Vec<f64>, DiagError> {
    check_rows(replicated, observed)?;
    Ok(replicated.chunks_exact(observed.len()).map(|row| share_below(row.iter().zip(observed))).collect())
}

/// Returns for each observation the share of its replicated values that are at most the observed value. The shares are
/// uniform if the model predicts well. `az.plot_bpv(kind="u_value")` draws them.
///
/// # Errors
/// [`DiagError::Size`] when there is no observation, or `replicated` does not have a whole number of rows.
pub fn bayesian_u_values(replicated: &[f64], observed: &[f64]) -> Result<Vec<f64>, DiagError> {
    check_rows(replicated, observed)?;
    let width = observed.len();
    let mut below = vec![0u64; width];
    for row in replicated.chunks_exact(width) {
        for ((count, value), truth) in below.iter_mut().zip(row).zip(observed) {
            *count += u64::from(value <= truth);
        }
    }
    let samples = (replicated.len() / width) as f64;
    Ok(below.into_iter().map(|count| count as f64 / samples).collect())
}

fn share_below<'a>(pairs: impl ExactSizeIterator<Item = (&'a f64, &'a f64)>) -> f64 {
    let total = pairs.len() as f64;
    pairs.filter(|(value, truth)| value <= truth).count() as f64 / total
}

pub(crate) fn check_rows(replicated: &[f64], observed: &[f64]) -> Result<(), DiagError> {
    if observed.is_empty() {
        return Err(DiagError::Size { what: "observed data", found: 0, expected: 1 });
    }
    if replicated.is_empty() || !replicated.len().is_multiple_of(observed.len()) {
        let expected = (replicated.len() / observed.len()).max(1) * observed.len();
        return Err(DiagError::Size {
            what: "replicated data (samples x observations)",
            found: replicated.len(),
            expected,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let replicated = [1.0, 2.0, 6.0, 0.0, 3.0, 9.0, 2.0, 2.0, 2.0, 5.0, 5.0, 8.0];
        let observed = [1.0, 4.0, 4.0];
        let check = |statistic, truth: f64, expected: &[f64], p| {
            let found = bayesian_p_value(&replicated, &observed, statistic).unwrap();
            assert!((found.observed - truth).abs() < 1e-15, "{statistic:?}: {found:?}");
            assert!(found.replicated.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?}");
            assert_eq!(found.p_value, p, "{statistic:?}");
        };
        check(Statistic::Mean, 3.0, &[3.0, 4.0, 2.0, 6.0], 0.5);
        check(Statistic::Min, 1.0, &[1.0, 0.0, 2.0, 5.0], 0.5);
        check(Statistic::Max, 4.0, &[6.0, 9.0, 2.0, 8.0], 0.25);
        check(Statistic::Median, 4.0, &[2.0, 3.0, 2.0, 5.0], 0.75);
        check(Statistic::Quantile(0.25), 2.5, &[1.5, 1.5, 2.0, 5.0], 0.75);
        check(Statistic::Sd, 2f64.sqrt(), &[(14f64 / 3.0).sqrt(), 14f64.sqrt(), 0.0, 2f64.sqrt()], 0.5);
        let thirds = bayesian_p_values(&replicated, &observed).unwrap();
        assert_eq!(thirds, [2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 0.0]);
        assert_eq!(bayesian_u_values(&replicated, &observed).unwrap(), [0.5, 0.75, 0.25]);
    }

    #[test]
    fn what_does_not_fit() {
        let uneven = bayesian_p_value(&[1.0; 7], &[1.0; 3], Statistic::Mean).unwrap_err();
        assert!(matches!(uneven, DiagError::Size { found: 7, expected: 6, .. }), "{uneven:?}");
        assert!(bayesian_p_values(&[], &[1.0]).is_err() && bayesian_u_values(&[1.0], &[]).is_err());
        assert!(bayesian_p_value(&[1.0], &[1.0], Statistic::Quantile(1.5)).is_err());
        let nan = bayesian_p_value(&[f64::NAN, 0.5], &[1.0], Statistic::Mean).unwrap();
        assert_eq!(nan.p_value, 0.5);
        let all = [Statistic::Mean, Statistic::Sd, Statistic::Min, Statistic::Max, Statistic::Median];
        for statistic in all.into_iter().chain([Statistic::Quantile(0.1)]) {
            assert!(statistic.of(&[]).is_nan() && statistic.of(&[1.0, f64::NAN, 2.0]).is_nan(), "{statistic:?}");
        }
    }

    /// The deviations are -2/3, 1/3 and 1/3, whose squares have the mean 2/9.
    #[test]
    fn values_far_from_zero_keep_their_standard_deviation() {
        let found = Statistic::Sd.of(&[1e8, 1e8 + 1.0, 1e8 + 1.0]);
        assert!((found - 2f64.sqrt() / 3.0).abs() < 1e-7, "{found}");
    }

    #[test]
    fn errors_tell_both_sizes() {
        let size = |replicated: &[f64], observed: &[f64]| match bayesian_u_values(replicated, observed) {
            Err(DiagError::Size { what, found, expected }) => (what, found, expected),
            other => panic!("{other:?}"),
        };
        assert_eq!(size(&[1.0], &[]), ("observed data", 0, 1));
        let rows = "replicated data (samples x observations)";
        assert_eq!(size(&[], &[1.0; 3]), (rows, 0, 3));
        assert_eq!(size(&[1.0; 2], &[1.0; 3]), (rows, 2, 3));
        assert_eq!(size(&[1.0; 8], &[1.0; 3]), (rows, 8, 6));
        for (prob, defined) in [(0.0, true), (1.0, true), (1.01, false), (-0.01, false)] {
            let found = bayesian_p_value(&[1.0, 2.0], &[1.5], Statistic::Quantile(prob));
            assert_eq!(found.is_ok(), defined, "{prob}");
        }
    }
}
