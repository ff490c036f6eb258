//! The numbers (summary rows) of each parameter, as the diagnostics computed them.

use std::ops::{Deref, DerefMut};

use octopus_diag::parameter::{Numbers, REPORT};
use octopus_diag::{DEFAULT_PROB, ParameterSummary};
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::nullable;

/// One scalar of the posterior: a parameter, or one element of an array. Its numbers are the fields of its summary.
///
/// As JSON it is the columns of a [`REPORT`]. A diagnostic that is not defined (a constant chain, too few draws) is NaN,
/// in JSON `null`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Written")]
pub struct SummaryRow {
    /// The numbers, with intervals of 89%.
    pub summary: ParameterSummary,
    /// The value that made the data, where it is known.
    pub truth: Option<f64>,
}

impl Deref for SummaryRow {
    type Target = ParameterSummary;

    fn deref(&self) -> &ParameterSummary {
        &self.summary
    }
}

impl DerefMut for SummaryRow {
    fn deref_mut(&mut self) -> &mut ParameterSummary {
        &mut self.summary
    }
}

impl PartialEq for SummaryRow {
    /// Compares only what a report stores: the name, the truth and its columns.
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.truth) == (&other.name, other.truth)
            && REPORT.iter().all(|column| column.cell(self) == column.cell(other))
    }
}

impl Serialize for SummaryRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        for column in REPORT {
            map.serialize_entry(&column.json_name(DEFAULT_PROB), &column.cell(self))?;
        }
        if let Some(truth) = self.truth {
            map.serialize_entry("truth", &truth)?;
        }
        map.end()
    }
}

/// A row as JSON has it.
#[derive(Deserialize)]
struct Written {
    name: String,
    #[serde(default)]
    truth: Option<f64>,
    #[serde(flatten)]
    numbers: Map<String, Value>,
}

impl TryFrom<Written> for SummaryRow {
    type Error = serde_json::Error;

    fn try_from(written: Written) -> Result<Self, serde_json::Error> {
        let known = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let mut summary = ParameterSummary { name: written.name, ..ParameterSummary::default() };
        for column in REPORT {
            let name = column.json_name(DEFAULT_PROB);
            let Some(value) = written.numbers.get(&name) else {
                return Err(serde_json::Error::custom(format!("missing field `{name}`")));
            };
            match column.numbers {
                Numbers::One(_, place) => *place(&mut summary) = known(Option::deserialize(value)?),
                Numbers::Two(_, place) => *place(&mut summary) = <[Option<f64>; 2]>::deserialize(value)?.map(known),
            }
        }
        Ok(Self { summary, truth: written.truth })
    }
}

impl SummaryRow {
    /// Returns whether this is one element of an array, such as `z[3]`.
    pub fn is_element(&self) -> bool {
        self.name.ends_with(']')
    }

    /// Returns whether the truth lies inside the 89% HDI; `None` where it is not known.
    pub fn truth_inside(&self) -> Option<bool> {
        self.truth.map(|truth| truth >= self.hdi[0] && truth <= self.hdi[1])
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
    pub(crate) fn with_rhat(name: &str, rhat: f64) -> Self {
        let summary = ParameterSummary {
            name: name.to_owned(),
            mean: 0.0,
            sd: 1.0,
            hdi: [-1.6, 1.6],
            eti: [-1.6, 1.6],
            rhat,
            ess_bulk: 1000.0,
            ess_tail: 1000.0,
            mcse_mean: 0.03,
            ..ParameterSummary::default()
        };
        Self { summary, truth: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_defined_is_null_and_comes_back() {
        let summary = ParameterSummary {
            name: "z[0]".to_owned(),
            mean: 1.0,
            sd: 0.0,
            hdi: [1.0, f64::NAN],
            eti: [1.0, 1.0],
            rhat: f64::NAN,
            ess_bulk: f64::INFINITY,
            ess_tail: 400.0,
            mcse_mean: 0.0,
            ..ParameterSummary::default()
        };
        let row = SummaryRow { summary, truth: None };
        let json = serde_json::to_string(&row).unwrap();
        assert!(json.contains("\"rhat\":null") && json.contains("\"hdi89\":[1.0,null]"), "{json}");
        assert!(!json.contains("truth"), "{json}");
        let back: SummaryRow = serde_json::from_str(&json).unwrap();
        assert!(back.rhat.is_nan() && back.ess_bulk.is_nan() && back.hdi[1].is_nan());
        assert_eq!((&back.name, back.ess_tail), (&row.name, 400.0));
        let lacks = json.replace("ess_tail", "other");
        let error = serde_json::from_str::<SummaryRow>(&lacks).unwrap_err().to_string();
        assert!(error.contains("missing field `ess_tail`"), "{error}");
    }

    #[test]
    fn rows_differ_by_name_truth_or_a_number_of_the_report() {
        let row = SummaryRow::with_rhat("z[0]", 1.0);
        assert_eq!(row, row.clone());
        assert_ne!(row, SummaryRow::with_rhat("z[1]", 1.0));
        assert_ne!(row, SummaryRow::with_rhat("z[0]", 1.1));
        assert_ne!(row, SummaryRow { truth: Some(0.5), ..row.clone() });
    }

    #[test]
    fn nan_is_the_worst_rhat() {
        let row = |rhat: f64| {
            let mut row = SummaryRow { truth: Some(1.0), ..SummaryRow::with_rhat(&format!("{rhat}"), rhat) };
            row.hdi = [-1.0, 1.0];
            row
        };
        let mut rows = [row(1.0), row(f64::NAN), row(1.5)];
        rows.sort_by(by_worst_rhat);
        assert_eq!(rows.each_ref().map(|r| r.name.as_str()), ["NaN", "1.5", "1"]);
        assert_eq!(rows[0].truth_inside(), Some(true), "the bound belongs to the interval");
    }
}
