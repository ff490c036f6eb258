//! The numbers of each parameter, as the diagnostics computed them.

use serde::{Deserialize, Serialize};

use crate::nullable;

/// One scalar of the posterior: a parameter, or one element of an array.
///
/// A diagnostic that is not defined (a constant chain, too few draws) is NaN, in JSON `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// The name, e.g. `mu_pop` or `mu_group[berlin]`.
    pub name: String,
    /// Posterior mean.
    #[serde(with = "nullable")]
    pub mean: f64,
    /// Posterior standard deviation.
    #[serde(with = "nullable")]
    pub sd: f64,
    /// Highest-density interval of 89%.
    #[serde(with = "nullable::pair")]
    pub hdi89: (f64, f64),
    /// Equal-tailed interval of 89%.
    #[serde(with = "nullable::pair")]
    pub eti89: (f64, f64),
    /// Rank-normalised split R-hat (Vehtari et al. 2021).
    #[serde(with = "nullable")]
    pub rhat: f64,
    /// Effective sample size of the bulk.
    #[serde(with = "nullable")]
    pub ess_bulk: f64,
    /// Effective sample size of the tails.
    #[serde(with = "nullable")]
    pub ess_tail: f64,
    /// Monte Carlo standard error of the mean.
    #[serde(with = "nullable")]
    pub mcse_mean: f64,
    /// The value that made the data, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<f64>,
}

impl SummaryRow {
    /// Returns whether this is one element of an array, such as `z[3]`.
    pub fn is_element(&self) -> bool {
        self.name.ends_with(']')
    }

    /// Returns whether the truth lies inside the 89% HDI; `None` where it is not known.
    pub fn truth_inside(&self) -> Option<bool> {
        self.truth.map(|truth| truth >= self.hdi89.0 && truth <= self.hdi89.1)
    }
}

/// Orders rows from the worst R-hat to the best; NaN, which says that a chain never moved, is worst.
pub(crate) fn by_worst_rhat(a: &SummaryRow, b: &SummaryRow) -> std::cmp::Ordering {
    b.rhat.is_nan().cmp(&a.rhat.is_nan()).then(b.rhat.total_cmp(&a.rhat))
}

/// A posterior predictive test statistic (Gelman, Meng and Stern 1996).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictiveStatistic {
    /// The name of the statistic: `mean`, `sd`, `min` or `max`.
    pub name: String,
    /// The statistic of the observations.
    #[serde(with = "nullable")]
    pub observed: f64,
    /// The statistic of each replicated data set.
    #[serde(with = "nullable::list", skip_serializing, default)]
    pub replicated: Vec<f64>,
    /// The share of replicated values that are at most the observed one.
    #[serde(with = "nullable")]
    pub p_value: f64,
}

#[cfg(test)]
impl SummaryRow {
    /// A parameter of which all is well but, perhaps, its R-hat.
    pub(crate) fn of(name: &str, rhat: f64) -> Self {
        Self {
            name: name.to_owned(),
            mean: 0.0,
            sd: 1.0,
            hdi89: (-1.6, 1.6),
            eti89: (-1.6, 1.6),
            rhat,
            ess_bulk: 1000.0,
            ess_tail: 1000.0,
            mcse_mean: 0.03,
            truth: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_defined_is_null_and_comes_back() {
        let row = SummaryRow {
            name: "z[0]".to_owned(),
            mean: 1.0,
            sd: 0.0,
            hdi89: (1.0, f64::NAN),
            eti89: (1.0, 1.0),
            rhat: f64::NAN,
            ess_bulk: f64::INFINITY,
            ess_tail: 400.0,
            mcse_mean: 0.0,
            truth: None,
        };
        let json = serde_json::to_string(&row).unwrap();
        assert!(json.contains("\"rhat\":null") && json.contains("\"hdi89\":[1.0,null]"), "{json}");
        assert!(!json.contains("truth"), "{json}");
        let back: SummaryRow = serde_json::from_str(&json).unwrap();
        assert!(back.rhat.is_nan() && back.ess_bulk.is_nan() && back.hdi89.1.is_nan());
        assert_eq!((back.name, back.ess_tail), (row.name, 400.0));
    }

    #[test]
    fn nan_is_the_worst_rhat() {
        let row = |rhat: f64| {
            let bound = SummaryRow::of(&format!("{rhat}"), rhat);
            SummaryRow { hdi89: (-1.0, 1.0), truth: Some(1.0), ..bound }
        };
        let mut rows = [row(1.0), row(f64::NAN), row(1.5)];
        rows.sort_by(by_worst_rhat);
        assert_eq!(rows.each_ref().map(|r| r.name.as_str()), ["NaN", "1.5", "1"]);
        assert_eq!(rows[0].truth_inside(), Some(true), "the bound belongs to the interval");
    }
}
