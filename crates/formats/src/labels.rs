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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_are_labels_where_they_are_whole() {
        let labels = |values: &[f64]| labels_of(Values::F64(values.to_vec()));
        assert_eq!(labels(&[0.0, 1.0, 2.0]), Labels::Range(3));
        assert_eq!(labels(&[3.0, -2.0]), Labels::Integers(vec![3, -2]));
        assert_eq!(labels(&[8.999e15]), Labels::Integers(vec![8_999_000_000_000_000]));
        for values in [[0.5, 1.0], [9.0e15, 1.0], [1e300, 1.0], [f64::INFINITY, 1.0], [f64::NAN, 1.0]] {
            assert_eq!(labels(&values), Labels::Strings(values.iter().map(ToString::to_string).collect()));
        }
    }
}
