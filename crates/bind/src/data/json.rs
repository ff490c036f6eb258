//! Stan's JSON: an object of numbers and nested arrays; `"NaN"`, `"Infinity"` and `"-Infinity"` are reals too.

use super::{DataNumbers, DataValue};
use crate::error::BindError;
use serde_json::Value;
use std::collections::BTreeMap;

/// DataNumbers as they are met; whole until a real comes.
#[derive(Default)]
struct Flat {
    reals: Vec<f64>,
    ints: Vec<i64>,
    has_real: bool,
}

/// Reads all variables of a text.
pub(super) fn read(source: &str, text: &str) -> Result<BTreeMap<String, DataValue>, BindError> {
    let whole: serde_json::Map<String, Value> = serde_json::from_str(text).map_err(|error| BindError::Format {
        source_name: source.to_owned(),
        line: error.line(),
        reason: error.to_string(),
    })?;
    let mut values = BTreeMap::new();
    for (name, value) in &whole {
        let mut flat = Flat::default();
        let mut shape = Vec::new();
        walk(value, 0, &mut shape, &mut flat).map_err(|reason| BindError::Format {
            source_name: source.to_owned(),
            line: 0,
            reason: format!("`{name}`: {reason}"),
        })?;
        let numbers = if flat.has_real { DataNumbers::Reals(flat.reals) } else { DataNumbers::Ints(flat.ints) };
        values.insert(name.clone(), DataValue { shape, numbers });
    }
    Ok(values)
}

fn walk(value: &Value, depth: usize, shape: &mut Vec<usize>, flat: &mut Flat) -> Result<(), String> {
    if let Value::Array(elements) = value {
        match shape.get(depth) {
            None if flat.reals.is_empty() => shape.push(elements.len()),
            Some(&length) if length == elements.len() => {}
            Some(&length) => {
                return Err(format!("arrays of {length} and {} elements stand side by side", elements.len()));
            }
            None => return Err("arrays and numbers stand side by side".into()),
        }
        return elements.iter().try_for_each(|element| walk(element, depth + 1, shape, flat));
    }
    if depth != shape.len() {
        return Err("arrays and numbers stand side by side".into());
    }
    let (int, real) = match value {
        Value::Number(number) => match number.as_i64() {
            Some(int) => (Some(int), int as f64),
            None => (None, number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::Bool(truth) => (Some(i64::from(*truth)), f64::from(u8::from(*truth))),
        Value::String(text) => match text.trim_start_matches('+') {
            "NaN" | "nan" => (None, f64::NAN),
            "Infinity" | "Inf" | "inf" => (None, f64::INFINITY),
            "-Infinity" | "-Inf" | "-inf" => (None, f64::NEG_INFINITY),
            other => {
                return Err(format!("\"{other}\" is no number; texts may be \"NaN\", \"Infinity\" or \"-Infinity\""));
            }
        },
        other => return Err(format!("{other} is no number and no array")),
    };
    flat.reals.push(real);
    match int {
        Some(int) => flat.ints.push(int),
        None => flat.has_real = true,
    }
    Ok(())
}
