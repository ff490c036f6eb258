//! The labels along a dimension: counts, integers, real numbers, flags, words, dates, durations.

use crate::shown;
use crate::time::{Dates, Durations};
use serde::{Deserialize, Serialize};

/// The labels along one dimension. They are equal when their kinds and values are; NaN is equal to NaN.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// `0, 1, ..., n - 1`.
    Range(usize),
    /// Integers that the user chose.
    Integers(Vec<i64>),
    /// Words that the user chose.
    Strings(Vec<String>),
    /// Real numbers, e.g. doses.
    Reals(#[serde(with = "reals")] Vec<f64>),
    /// Real numbers of single precision, as other programs store them: `0.1` is no `0.10000000149011612`.
    Singles(#[serde(with = "reals")] Vec<f32>),
    /// Flags.
    Flags(Vec<bool>),
    /// Points in time of any calendar.
    Dates(Dates),
    /// Lengths of time.
    Durations(Durations),
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Range(one), Self::Range(other)) => one == other,
            (Self::Integers(one), Self::Integers(other)) => one == other,
            (Self::Strings(one), Self::Strings(other)) => one == other,
            (Self::Reals(one), Self::Reals(other)) => {
                let same = |(one, other): (&f64, &f64)| one == other || one.is_nan() && other.is_nan();
                one.len() == other.len() && one.iter().zip(other).all(same)
            }
            (Self::Singles(one), Self::Singles(other)) => {
                let same = |(one, other): (&f32, &f32)| one == other || one.is_nan() && other.is_nan();
                one.len() == other.len() && one.iter().zip(other).all(same)
            }
            (Self::Flags(one), Self::Flags(other)) => one == other,
            (Self::Dates(one), Self::Dates(other)) => one == other,
            (Self::Durations(one), Self::Durations(other)) => one == other,
            _ => false,
        }
    }
}

impl Eq for Labels {}

impl Labels {
    /// Returns the number of labels.
    pub fn len(&self) -> usize {
        match self {
            Self::Range(n) => *n,
            Self::Integers(labels) => labels.len(),
            Self::Strings(labels) => labels.len(),
            Self::Reals(labels) => labels.len(),
            Self::Singles(labels) => labels.len(),
            Self::Flags(labels) => labels.len(),
            Self::Dates(labels) => labels.len(),
            Self::Durations(labels) => labels.len(),
        }
    }

    /// Returns whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the label at `index` as it is shown to people: see [`shown`].
    ///
    /// # Panics
    /// When `index` is not below [`len`](Self::len).
    pub fn show(&self, index: usize) -> String {
        match self {
            Self::Strings(labels) if index < labels.len() => shown(&labels[index]).into_owned(),
            _ => self.text(index),
        }
    }

    /// Returns the label at `index` as text, whole, for data: `7`, `0.25`, `2020-01-31`, `3 days`, `oslo`. A real number
    /// has the shortest digits that tell it from all others of its precision.
    ///
    /// # Panics
    /// When `index` is not below [`len`](Self::len).
    pub fn text(&self, index: usize) -> String {
        assert!(index < self.len(), "label {index} of {}", self.len());
        match self {
            Self::Range(_) => index.to_string(),
            Self::Integers(labels) => labels[index].to_string(),
            Self::Strings(labels) => labels[index].clone(),
            Self::Reals(labels) => format!("{:?}", labels[index]),
            Self::Singles(labels) => format!("{:?}", labels[index]),
            Self::Flags(labels) => labels[index].to_string(),
            Self::Dates(labels) => labels.text(index),
            Self::Durations(labels) => labels.text(index),
        }
    }
}

/// Real numbers as text, since JSON has no NaN: the shortest digits that read back to the same bits.
mod reals {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::fmt::Debug;
    use std::str::FromStr;

    pub(super) fn serialize<T: Debug, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        let parse = |text: String| text.parse().map_err(|_| D::Error::custom(format!("`{text}` is no number")));
        texts.into_iter().map(parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_have_their_shortest_digits() {
        let texts = |labels: Labels| (0..labels.len()).map(|at| labels.text(at)).collect::<Vec<_>>();
        let reals = texts(Labels::Reals(vec![0.1, 1.0, -2.5e300, f64::NAN, f64::INFINITY, 1.0 / 3.0]));
        assert_eq!(reals, ["0.1", "1.0", "-2.5e300", "NaN", "inf", "0.3333333333333333"]);
        let singles = texts(Labels::Singles(vec![0.1, 1.0, f32::NAN, 1.0 / 3.0]));
        assert_eq!(singles, ["0.1", "1.0", "NaN", "0.33333334"]);
        // What single precision could hold as well is told apart as what it is: seconds since 1970, powers of two.
        let doubles = texts(Labels::Reals(vec![0.1f32.into(), 1_577_836_928.0, 2f64.powi(60)]));
        assert_eq!(doubles, ["0.10000000149011612", "1577836928.0", "1.152921504606847e18"]);
    }

    #[test]
    fn labels_are_equal_by_kind_and_value() {
        let reals = |values: &[f64]| Labels::Reals(values.to_vec());
        assert_eq!(reals(&[f64::NAN, 0.5]), reals(&[f64::NAN, 0.5]));
        assert_ne!(reals(&[0.5]), reals(&[0.5, 0.5]));
        assert_ne!(reals(&[0.5]), reals(&[f64::NAN]));
        assert_ne!(reals(&[0.0, 1.0]), Labels::Range(2));
        assert_ne!(reals(&[0.5]), Labels::Singles(vec![0.5]));
        assert_eq!(Labels::Singles(vec![f32::NAN, 0.5]), Labels::Singles(vec![f32::NAN, 0.5]));
        assert_ne!(Labels::Singles(vec![0.5]), Labels::Singles(vec![0.25]));
        assert_ne!(Labels::Integers(vec![0, 1]), Labels::Range(2));
        assert_eq!(Labels::Flags(vec![true]), Labels::Flags(vec![true]));
    }

    #[test]
    fn long_labels_are_whole_in_data_alone() {
        let long = "x".repeat(5000);
        let labels = Labels::Strings(vec![long.clone()]);
        assert!(labels.text(0) == long && labels.show(0).chars().count() <= 80);
    }
}
