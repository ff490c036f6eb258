//! Labels of a dimension as a coordinate variable, and back.

use octopus_trace::Labels;
use octopus_trace::Values;

/// Labels as the values of a coordinate variable.
pub(crate) fn label_values(labels: &Labels) -> Values {
    match labels {
        Labels::Range(n) => Values::I64((0..*n as i64).collect()),
        Labels::Integers(values) => Values::I64(values.clone()),
        Labels::Strings(words) => Values::Strings(words.clone()),
    }
}

/// Returns the values of a coordinate variable as labels: real numbers become words unless all are whole.
pub(crate) fn labels_of(values: Values) -> Labels {
    let of_integers = |values: Vec<i64>| {
        let is_range = values.iter().enumerate().all(|(index, &value)| i64::try_from(index) == Ok(value));
        if is_range { Labels::Range(values.len()) } else { Labels::Integers(values) }
    };
    match values {
        Values::Strings(words) => Labels::Strings(words),
        Values::I64(values) => of_integers(values),
        Values::Bool(flags) => Labels::Strings(flags.iter().map(ToString::to_string).collect()),
        Values::F64(values) => {
            // Below 2^53 every whole number is exact.
            let whole = |value: &f64| value.fract() == 0.0 && value.abs() < 9.0e15;
            if values.iter().all(whole) {
                of_integers(values.iter().map(|&value| value as i64).collect())
            } else {
                Labels::Strings(values.iter().map(ToString::to_string).collect())
            }
        }
    }
}
