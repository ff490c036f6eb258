//! Labels of a dimension as a coordinate variable, and back.

use octopus_trace::{Labels, Values};

/// Labels as the values of a coordinate variable: of dates and durations their counts.
pub(crate) fn label_values(labels: &Labels) -> Values {
    match labels {
        Labels::Range(n) => Values::I64((0..*n as i64).collect()),
        Labels::Integers(values) => Values::I64(values.clone()),
        Labels::Strings(words) => Values::Strings(words.clone()),
        Labels::Reals(values) => Values::F64(values.clone()),
        Labels::Singles(values) => Values::F64(values.iter().copied().map(f64::from).collect()),
        Labels::Flags(flags) => Values::Bool(flags.clone()),
        Labels::Dates(dates) => Values::I64(dates.counts().to_vec()),
        Labels::Durations(durations) => Values::I64(durations.counts().to_vec()),
    }
}

/// Returns the values of a coordinate variable as labels of the same type.
pub(crate) fn labels_of(values: Values) -> Labels {
    match values {
        Values::Strings(words) => Labels::Strings(words),
        Values::Bool(flags) => Labels::Flags(flags),
        Values::F64(values) => Labels::Reals(values),
        Values::I64(values) => {
            let is_range = values.iter().enumerate().all(|(index, &value)| i64::try_from(index) == Ok(value));
            if is_range { Labels::Range(values.len()) } else { Labels::Integers(values) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_type_of_their_values() {
        for (values, expected) in [
            (Values::I64(vec![0, 1, 2]), Labels::Range(3)),
            (Values::I64(vec![1, 2]), Labels::Integers(vec![1, 2])),
            (Values::F64(vec![0.0, 1.0]), Labels::Reals(vec![0.0, 1.0])),
            (Values::F64(vec![f64::NAN]), Labels::Reals(vec![f64::NAN])),
            (Values::Bool(vec![true, false]), Labels::Flags(vec![true, false])),
            (Values::Strings(vec!["a".into()]), Labels::Strings(vec!["a".into()])),
        ] {
            assert_eq!(labels_of(values.clone()), expected);
            assert_eq!(format!("{:?}", label_values(&expected)), format!("{values:?}"));
        }
    }
}
