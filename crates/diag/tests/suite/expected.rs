//! What ArviZ says, as stored in `arviz/`, and how far a value may be from it.

use serde_json::Value;
use std::path::Path;

const TOLERANCE: f64 = 1e-10;

pub(crate) fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arviz").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn expected() -> Value {
    serde_json::from_slice(&file("expected.json")).expect("expected.json is JSON")
}

/// The array that a stored case is of, with its numbers of chains and draws.
pub(crate) fn array(case: &Value) -> (String, Vec<f64>, usize, usize) {
    let whole = |key: &str| case[key].as_u64().unwrap() as usize;
    let (kind, chains, draws) = (case["kind"].as_str().unwrap(), whole("chains"), whole("draws"));
    let values = crate::support::make(kind, chains, draws, case["seed"].as_u64().unwrap());
    (format!("{kind} {chains}x{draws}"), values, chains, draws)
}

/// The draws of the eight schools: `(name, chains, draws, values)`.
pub(crate) fn schools(document: &Value) -> Vec<(&str, Vec<f64>)> {
    let schools = &document["eight_schools"];
    let size = (schools["chains"].as_u64().unwrap() * schools["draws"].as_u64().unwrap()) as usize;
    let values: Vec<f64> =
        file("eight_schools.f64").chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    let arrays = schools["arrays"].as_array().unwrap();
    assert_eq!(values.len(), arrays.len() * size);
    arrays.iter().map(|a| a["name"].as_str().unwrap()).zip(values.chunks_exact(size).map(<[f64]>::to_vec)).collect()
}

/// A number, or NaN and infinities as Python writes them.
pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::String(word) => word.parse().unwrap_or_else(|_| panic!("{word} is not a number")),
        _ => value.as_f64().unwrap_or_else(|| panic!("{value} is not a number")),
    }
}

/// What differs from ArviZ; empty when all agrees.
#[derive(Default)]
pub(crate) struct Differences {
    pub(crate) lines: Vec<String>,
    pub(crate) compared: usize,
    pub(crate) worst: f64,
}

impl Differences {
    pub(crate) fn compare(&mut self, label: &str, found: f64, expected: f64, scale: f64) {
        self.compared += 1;
        let same = found == expected || (found.is_nan() && expected.is_nan());
        let error = (found - expected).abs() / expected.abs().max(scale);
        if !same {
            self.worst = self.worst.max(error);
        }
        if !(same || error <= TOLERANCE) {
            self.lines.push(format!("{label}: {found} here, {expected} in ArviZ"));
        }
    }

    pub(crate) fn all(&mut self, label: &str, found: &[f64], expected: &Value, scale: f64) {
        let Some(expected) = expected.as_array() else { return };
        assert!(found.len() >= expected.len(), "{label}");
        for (i, (&found, expected)) in found.iter().zip(expected).enumerate() {
            self.compare(&format!("{label}[{i}]"), found, number(expected), scale);
        }
    }
}

pub(crate) fn report(differences: Differences, at_least: usize) {
    assert!(differences.compared >= at_least, "only {} numbers were compared", differences.compared);
    assert!(
        differences.lines.is_empty(),
        "{} of {} differ:\n{}",
        differences.lines.len(),
        differences.compared,
        differences.lines.join("\n")
    );
    println!("{} numbers agree, largest relative difference {:.1e}", differences.compared, differences.worst);
}
