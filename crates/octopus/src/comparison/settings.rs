//! The settings in which two traces differ.

use crate::Trace;
use octopus_trace::Attribute;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The fields of a run's record that are not settings but results of the run.
const OUTCOMES: [&str; 12] = [
    "schema",
    "created",
    "command",
    "status",
    "device_reason",
    "strategy_reason",
    "ending",
    "timing",
    "adaptation",
    "usage",
    "parts",
    "layout",
];

/// A setting that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferingSetting {
    /// The setting's place in `run.toml`, e.g. `sampler.seed`; for a file of another program, the name of an attribute.
    pub name: String,
    /// The value in the first trace, then the value in the second; `None` where a trace has no such setting.
    pub values: [Option<String>; 2],
}

/// Returns the settings in which two traces differ, ordered by name.
pub(super) fn differing(traces: &[Trace; 2]) -> Vec<DifferingSetting> {
    difference(settings_of(&traces[0]), settings_of(&traces[1]))
}

/// Returns the settings in which two sides differ, ordered by name.
pub(super) fn difference(
    first: BTreeMap<String, String>,
    mut second: BTreeMap<String, String>,
) -> Vec<DifferingSetting> {
    let mut found: BTreeMap<String, [Option<String>; 2]> =
        first.into_iter().map(|(name, value)| (name.clone(), [Some(value), second.remove(&name)])).collect();
    found.extend(second.into_iter().map(|(name, value)| (name, [None, Some(value)])));
    found.retain(|_, values| values[0] != values[1]);
    found.into_iter().map(|(name, values)| DifferingSetting { name, values }).collect()
}

fn settings_of(trace: &Trace) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    match &trace.record {
        Some(record) => {
            // A record that has been read can be written.
            if let Ok(Value::Object(mut fields)) = serde_json::to_value(record) {
                fields.retain(|name, _| !OUTCOMES.contains(&name.as_str()));
                flatten("", &Value::Object(fields), &mut found);
            }
        }
        None => {
            let attrs = trace.data.posterior().map(|posterior| &posterior.attrs);
            for name in ["inference_library", "inference_library_version", "tuning_steps"] {
                if let Some(value) = attrs.and_then(|attrs| attrs.get(name)) {
                    found.insert(name.to_owned(), attribute_text(value));
                }
            }
        }
    }
    found
}

/// Puts each value of a tree under its place, names joined by dots.
pub(super) fn flatten(place: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                flatten(&place, value, found);
            }
        }
        Value::Null => {}
        Value::String(text) => {
            found.insert(place.to_owned(), text.clone());
        }
        other => {
            found.insert(place.to_owned(), other.to_string());
        }
    }
}

/// Returns an attribute in words.
fn attribute_text(value: &Attribute) -> String {
    match value {
        Attribute::Text(text) => text.clone(),
        Attribute::F64(value) => value.to_string(),
        Attribute::I64(value) => value.to_string(),
        Attribute::List(values) => values.iter().map(attribute_text).collect::<Vec<_>>().join(", "),
    }
}
