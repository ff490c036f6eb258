//! Tables of settings of models: functions that put a value in its place, and read and write whole tables.
//!
//! An unknown setting, or one of the wrong type, is refused here.

use crate::BuildError;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// Puts a value at a place such as `prior.mu_sd`, and makes the tables on the way to it. Data come from one source: a
/// value that is put into a source in the table `data` removes all other sources from that table.
pub fn put(settings: &mut Table, place: &str, value: Value) {
    let Some((table, rest)) = place.split_once('.') else {
        settings.insert(place.to_owned(), value);
        return;
    };
    let inner = settings.entry(table).or_insert_with(|| Value::Table(Table::new()));
    if !inner.is_table() {
        *inner = Value::Table(Table::new());
    }
    if let Value::Table(inner) = inner {
        if table == "data" {
            let source = rest.split('.').next().unwrap_or_default();
            inner.retain(|key, _| key == source);
        }
        put(inner, rest, value);
    }
}

/// Reads a model's settings from a table.
///
/// # Errors
/// When a setting is unknown or has the wrong type; the error names the setting.
pub fn read<T: DeserializeOwned>(settings: &Table) -> Result<T, BuildError> {
    serde_path_to_error::deserialize(Value::Table(settings.clone())).map_err(|error| {
        let (field, what) = (error.path().to_string(), error.inner().message().to_owned());
        BuildError::Form { field: if field == "." { String::new() } else { field }, what }
    })
}

/// Writes a model's settings, which may be any plain structure, to a table.
///
/// # Errors
/// When TOML has no form for a value, such as a number above 2^63.
pub fn write<T: serde::Serialize>(settings: &T) -> Result<Table, BuildError> {
    Table::try_from(settings).map_err(|error| BuildError::Form { field: String::new(), what: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn a_value_comes_to_its_place() {
        let mut settings = table("likelihood = 'pointwise'\n[prior]\nmu_sd = 1.0");
        put(&mut settings, "prior.mu_mean", Value::Float(3.0));
        put(&mut settings, "prior.mu_sd", Value::Float(2.0));
        put(&mut settings, "likelihood", Value::String("collapsed".into()));
        assert_eq!(settings, table("likelihood = 'collapsed'\n[prior]\nmu_sd = 2.0\nmu_mean = 3.0"));
    }

    #[test]
    fn data_have_one_source() {
        let mut settings = table("[data.file]\npath = 'a.csv'\n[prior.file]\nx = 1");
        put(&mut settings, "data.synthetic.groups", Value::Integer(5));
        put(&mut settings, "data.synthetic.seed", Value::Integer(1));
        put(&mut settings, "prior.other.x", Value::Integer(2));
        let expected = "[data.synthetic]\ngroups = 5\nseed = 1\n[prior.file]\nx = 1\n[prior.other]\nx = 2";
        assert_eq!(settings, table(expected));
    }

    #[test]
    fn what_is_wrong_is_named() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Outer {
            #[allow(dead_code, reason = "only read")]
            prior: std::collections::BTreeMap<String, f64>,
        }
        let told = |text: &str| read::<Outer>(&table(text)).unwrap_err().to_string();
        assert!(told("[prior]\nmu = 'much'").starts_with("field `prior.mu`: invalid type"));
        assert!(told("colour = 1\n[prior]").starts_with("field `colour`: unknown field"));
    }
}
