//! Summaries as JSON, and the version of its schema. NaN is `null`, as everywhere in JSON.

use super::Summary;
use super::parameter::{JSON, ParameterSummary};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// The version of the schema; it rises when a field changes its meaning.
const SCHEMA: u32 = 2;

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        summary_fields(self, &mut map)?;
        map.end()
    }
}

/// Writes the fields of a summary, which a diagnosis has as well.
pub(crate) fn summary_fields<M: SerializeMap>(summary: &Summary, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("schema", &SCHEMA)?;
    map.serialize_entry("chains", &summary.chains)?;
    map.serialize_entry("draws", &summary.draws)?;
    if let Some(superchains) = summary.superchains {
        map.serialize_entry("superchains", &superchains)?;
    }
    map.serialize_entry("prob", &summary.prob)?;
    map.serialize_entry("parameters", &ParameterRows(summary))?;
    map.serialize_entry("max_rhat", &summary.max_rhat())?;
    map.serialize_entry("min_ess_bulk", &summary.min_ess_bulk())?;
    map.serialize_entry("min_ess_tail", &summary.min_ess_tail())
}

struct ParameterRows<'a>(&'a Summary);

impl Serialize for ParameterRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.parameters.len()))?;
        for parameter in &self.0.parameters {
            rows.serialize_element(&ParameterRow(parameter))?;
        }
        rows.end()
    }
}

struct ParameterRow<'a>(&'a ParameterSummary);

impl Serialize for ParameterRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.0.name)?;
        for column in JSON {
            map.serialize_entry(column.json, &column.cell(self.0))?;
        }
        map.end()
    }
}
