//! Stan's JSON: an object of numbers and nested arrays; `"NaN"`, `"Infinity"` and `"-Infinity"` are reals too, also without
//! quotes, as Python writes them.

use super::{DataNumbers, DataValue};
use crate::error::BindError;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Words that are numbers to those who write them, and none in JSON.
const BARE: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// DataNumbers as they are met; whole until a real comes.
#[derive(Default)]
struct Flat {
    reals: Vec<f64>,
    ints: Vec<i64>,
    has_real: bool,
}

/// Reads all variables of a text.
pub(super) fn read(source: &str, text: &str) -> Result<BTreeMap<String, DataValue>, BindError> {
    values(source, &parsed::<Variables>(source, text)?)
}

/// Reads a text that is an object of variables, or a list of such objects.
pub(super) fn read_sets(source: &str, text: &str) -> Result<Vec<BTreeMap<String, DataValue>>, BindError> {
    if !text.trim_start().starts_with('[') {
        return Ok(vec![read(source, text)?]);
    }
    let sets = parsed::<Vec<Variables>>(source, text)?;
    let of_set = |(k, set)| values(&format!("{source} (object {})", k + 1), set);
    sets.iter().enumerate().map(of_set).collect()
}

fn parsed<T: DeserializeOwned>(source: &str, text: &str) -> Result<T, BindError> {
    let parse = |text: &str| serde_json::from_str::<T>(text);
    let parsed = parse(text).or_else(|error| parse(&quoted(text)).map_err(|_| error));
    parsed.map_err(|error| BindError::Format {
        source_name: source.to_owned(),
        line: error.line(),
        reason: error.to_string(),
    })
}

fn values(source: &str, whole: &Variables) -> Result<BTreeMap<String, DataValue>, BindError> {
    let format = |line, reason| BindError::Format { source_name: source.to_owned(), line, reason };
    let mut values = BTreeMap::new();
    for (name, value) in &whole.0 {
        let mut flat = Flat::default();
        let mut shape = Vec::new();
        walk(value, 0, &mut shape, &mut flat).map_err(|reason| format(0, format!("`{name}`: {reason}")))?;
        let numbers = if flat.has_real { DataNumbers::Reals(flat.reals) } else { DataNumbers::Ints(flat.ints) };
        values.insert(name.clone(), DataValue { shape, numbers });
    }
    Ok(values)
}

/// An object whose names differ.
struct Variables(BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for Variables {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Variables;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of variables, as {\"N\": 3, \"y\": [1, 0, 1]}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Variables, A::Error> {
                let mut variables = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if variables.contains_key(&name) {
                        return Err(A::Error::custom(format!("`{name}` has two values: leave out one")));
                    }
                    variables.insert(name, value);
                }
                Ok(Variables(variables))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// The text with quotes around bare words for numbers.
fn quoted(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let (mut rest, mut in_text) = (text, false);
    while let Some(c) = rest.chars().next() {
        let word = BARE.iter().find(|&&word| !in_text && rest.starts_with(word));
        let taken = word.map_or(c.len_utf8(), |word| word.len());
        match (word, c) {
            (Some(word), _) => result.extend(["\"", word, "\""]),
            (None, '\\') if in_text => {
                // What follows is no end of the text.
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                result.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            (None, _) => {
                in_text ^= c == '"';
                result.push(c);
            }
        }
        rest = &rest[taken..];
    }
    result
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

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<DataNumbers> {
        read("data.json", text).expect(text).into_values().map(|value| value.numbers).collect()
    }

    fn fault(text: &str) -> String {
        read("data.json", text).expect_err(text).to_string()
    }

    #[test]
    fn what_others_write_is_read() {
        let y = |text: &str| match &numbers(text)[..] {
            [DataNumbers::Reals(values)] => values.clone(),
            other => panic!("{other:?}"),
        };
        let bare = y(r#"{"y": [NaN, -Infinity, 2, Infinity]}"#);
        assert!(bare[0].is_nan());
        assert_eq!(bare[1..], [f64::NEG_INFINITY, 2.0, f64::INFINITY]);
        let names = read("data.json", r#"{"a\"NaN": 1, "NaN": NaN, "\\": 2}"#).expect("data");
        assert_eq!(names.keys().collect::<Vec<_>>(), ["NaN", "\\", "a\"NaN"]);
    }

    #[test]
    fn faults_have_their_line_where_it_is_known() {
        assert!(fault("{\"N\": 1,\n \"N\": 2}").starts_with("data.json:2: `N` has two values"));
        assert!(fault("{\"N\": [1,\n NaM]}").starts_with("data.json:2: expected value"));
        assert!(fault("[1]").contains("expected an object of variables"), "{}", fault("[1]"));
        assert_eq!(fault("{\"y\": null}"), "data.json: `y`: null is no number and no array");
    }
}
