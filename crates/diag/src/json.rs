//! Summaries and diagnoses as JSON, schema 1. What is not finite is `null`.

use crate::diagnosis::Diagnosis;
use crate::summary::{ParameterSummary, Summary};
use crate::table::percent;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// The version of the schema; it rises when a field changes its meaning.
const SCHEMA: u32 = 1;

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        summary_fields(self, &mut map)?;
        map.end()
    }
}

impl Serialize for Diagnosis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        summary_fields(&self.summary, &mut map)?;
        map.serialize_entry("divergences", &self.divergences)?;
        map.serialize_entry("reached_max_treedepth", &self.reached_max_treedepth)?;
        map.serialize_entry("bfmi", &self.bfmi.iter().map(|&v| finite(v)).collect::<Vec<_>>())?;
        map.serialize_entry("good", &self.good())?;
        map.serialize_entry("checks", &self.checks)?;
        map.serialize_entry("advice", &self.advice())?;
        map.end()
    }
}

fn summary_fields<M: SerializeMap>(summary: &Summary, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("schema", &SCHEMA)?;
    map.serialize_entry("chains", &summary.chains)?;
    map.serialize_entry("draws", &summary.draws)?;
    if let Some(superchains) = summary.superchains {
        map.serialize_entry("superchains", &superchains)?;
    }
    map.serialize_entry("parameters", &Rows(summary))?;
    map.serialize_entry("max_rhat", &finite(summary.max_rhat()))?;
    map.serialize_entry("min_ess_bulk", &finite(summary.min_ess_bulk()))?;
    map.serialize_entry("min_ess_tail", &finite(summary.min_ess_tail()))
}

struct Rows<'a>(&'a Summary);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let share = percent(self.0.prob);
        let keys = [format!("hdi{share}"), format!("eti{share}")];
        let mut rows = serializer.serialize_seq(Some(self.0.parameters.len()))?;
        for parameter in &self.0.parameters {
            rows.serialize_element(&Row { parameter, keys: &keys })?;
        }
        rows.end()
    }
}

struct Row<'a> {
    parameter: &'a ParameterSummary,
    /// The names of the intervals, e.g. `hdi89` and `eti89`.
    keys: &'a [String; 2],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let p = self.parameter;
        let mut map = serializer.serialize_map(Some(10))?;
        map.serialize_entry("name", &p.name)?;
        map.serialize_entry("mean", &finite(p.mean))?;
        map.serialize_entry("sd", &finite(p.sd))?;
        map.serialize_entry(&self.keys[0], &p.hdi.map(finite))?;
        map.serialize_entry(&self.keys[1], &p.eti.map(finite))?;
        map.serialize_entry("mcse_mean", &finite(p.mcse_mean))?;
        map.serialize_entry("mcse_sd", &finite(p.mcse_sd))?;
        map.serialize_entry("ess_bulk", &finite(p.ess_bulk))?;
        map.serialize_entry("ess_tail", &finite(p.ess_tail))?;
        map.serialize_entry("rhat", &finite(p.rhat))?;
        map.end()
    }
}

/// Returns a number that JSON can hold.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
