//! Attributes as JSON, for the formats whose metadata are JSON.

use indexmap::IndexMap;
use octopus_trace::{Attribute, Labels};
use serde_json::{Map, Value, json};

/// Returns attributes as JSON, which has no NaN and no infinity: those become words.
pub(crate) fn attributes_to_json(attributes: &IndexMap<String, Attribute>) -> Map<String, Value> {
    attributes.iter().map(|(name, value)| (name.clone(), to_json(value))).collect()
}

/// Reads the attributes that other programs wrote: flags become 0 and 1, and a value that [`Attribute`] cannot hold, also
/// an integer beyond 2^63 - 1, becomes its JSON text.
pub(crate) fn attributes_from_json(attributes: &Map<String, Value>) -> IndexMap<String, Attribute> {
    attributes.iter().map(|(name, value)| (name.clone(), from_json(value))).collect()
}

/// Returns the names of the attributes with integers that only text can hold.
pub(crate) fn names_of_digits(attributes: &Map<String, Value>) -> impl Iterator<Item = &String> {
    let has_digits = |value: &Value| match value {
        Value::Array(items) => items.iter().any(is_beyond),
        value => is_beyond(value),
    };
    attributes.iter().filter(move |(_, value)| has_digits(value)).map(|(name, _)| name)
}

fn is_beyond(value: &Value) -> bool {
    value.is_u64() && !value.is_i64()
}

/// Returns the labels of dimensions as the metadata hold them.
pub(crate) fn labels_from_json(described: &Map<String, Value>) -> Result<IndexMap<String, Labels>, String> {
    let labels = |(dim, labels): (&String, &Value)| {
        let labels = serde_json::from_value(labels.clone()).map_err(|error| format!("labels of {dim}: {error}"))?;
        Ok((dim.clone(), labels))
    };
    described.iter().map(labels).collect()
}

fn to_json(attribute: &Attribute) -> Value {
    match attribute {
        Attribute::Text(text) => json!(text),
        Attribute::F64(value) if value.is_finite() => json!(value),
        Attribute::F64(value) => json!(value.to_string()),
        Attribute::I64(value) => json!(value),
        Attribute::List(items) => Value::Array(items.iter().map(to_json).collect()),
    }
}

fn from_json(value: &Value) -> Attribute {
    match value {
        Value::String(text) => Attribute::Text(text.clone()),
        Value::Bool(flag) => Attribute::I64((*flag).into()),
        Value::Number(_) if is_beyond(value) => Attribute::Text(value.to_string()),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Attribute::I64(integer),
            None => Attribute::F64(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::Array(items) if items.iter().all(|item| !item.is_array() && !item.is_object() && !item.is_null()) => {
            Attribute::List(items.iter().map(from_json).collect())
        }
        other => Attribute::Text(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_cannot_hold_becomes_words() {
        let attributes =
            [("one", 1.0), ("none", f64::NAN)].map(|(name, value)| (name.to_owned(), Attribute::F64(value)));
        let json = attributes_to_json(&IndexMap::from(attributes));
        assert_eq!(Value::Object(json.clone()).to_string(), r#"{"none":"NaN","one":1.0}"#);
        assert_eq!(attributes_from_json(&json)["one"], Attribute::F64(1.0));
        let Value::Object(theirs) = json!({ "a": true, "b": null, "c": [1, "x"], "d": { "e": 1 }, "f": u64::MAX,
            "g": [1, null], "h": [[1], 2], "i": [{ "e": 1 }, 2], "j": [1, u64::MAX] })
        else {
            unreachable!()
        };
        assert_eq!(names_of_digits(&theirs).collect::<Vec<_>>(), ["f", "j"]);
        let theirs = attributes_from_json(&theirs);
        assert_eq!(theirs["a"], Attribute::I64(1));
        assert_eq!(theirs["b"], Attribute::from("null"));
        assert_eq!(theirs["c"], Attribute::List(vec![Attribute::I64(1), Attribute::from("x")]));
        assert_eq!(theirs["d"], Attribute::from(r#"{"e":1}"#));
        assert_eq!(theirs["f"], Attribute::from("18446744073709551615"));
        for (name, text) in [("g", "[1,null]"), ("h", "[[1],2]"), ("i", r#"[{"e":1},2]"#)] {
            assert_eq!(theirs[name], Attribute::from(text));
        }
    }
}
