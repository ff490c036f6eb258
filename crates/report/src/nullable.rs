//! NaN in JSON: written as `null`, which is read back as NaN. Infinite numbers are words ([`octopus_files::WithInfinities`]).

use octopus_files::infinity_of;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    known(*value).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number(Option::deserialize(deserializer)?)
}

/// What stands for a number that a file does not have.
pub(crate) fn nan() -> f64 {
    f64::NAN
}

fn known(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value)
}

/// What stands in JSON where a number is meant.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Word(String),
}

fn number<E: Error>(written: Option<Written>) -> Result<f64, E> {
    match written {
        None => Ok(f64::NAN),
        Some(Written::Number(value)) => Ok(value),
        Some(Written::Word(word)) => infinity_of(&word).ok_or_else(|| {
            E::custom(format!("{word:?} is no number: a number, null, \"Infinity\" or \"-Infinity\" is needed"))
        }),
    }
}

/// JSON of a list: NaN is `null`, and is read back so.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, Serializer, Written, known, number};

    pub(crate) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|&value| known(value)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Vec::<Option<Written>>::deserialize(deserializer)?.into_iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_files::WithInfinities;

    #[derive(Debug, Serialize, Deserialize)]
    struct Numbers {
        #[serde(with = "super")]
        one: f64,
        #[serde(with = "super::list")]
        all: Vec<f64>,
    }

    #[test]
    fn every_number_comes_back() {
        let all = vec![1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0];
        for one in all.clone() {
            let text = serde_json::to_string(&WithInfinities(Numbers { one, all: all.clone() })).unwrap();
            let found: Numbers = serde_json::from_str(&text).unwrap();
            let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(same(found.one, one) && found.all.iter().zip(&all).all(|(&a, &b)| same(a, b)), "{text}");
        }
        let error = serde_json::from_str::<Numbers>(r#"{"one": "many", "all": []}"#).unwrap_err().to_string();
        assert!(error.contains("many") && error.contains("Infinity"), "{error}");
    }
}
