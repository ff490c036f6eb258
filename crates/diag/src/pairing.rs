//! Which element of one thing is which of another, by their labels: observations of models, elements of variables.

use std::collections::{HashMap, HashSet};

/// How the elements of a second thing belong to those of a first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelPairing {
    /// Both have the same labels in the same order.
    Same,
    /// Both have the same labels; the first's `i`-th element is the second's at the `i`-th of these places.
    Reordered(Vec<usize>),
    /// One of the two has no labels but numbers that count, from 0 or from 1: its elements stand in the other's order.
    ByPosition,
    /// A label that only one of the two has, and whether that is the first.
    Different {
        /// The label.
        label: String,
        /// Whether the first has it.
        first: bool,
    },
}

/// Pairs the elements of two things by their labels, of which each has as many.
pub fn pair_labels(first: &[String], second: &[String]) -> LabelPairing {
    if first == second {
        return LabelPairing::Same;
    }
    let places: HashMap<&str, usize> = second.iter().map(String::as_str).zip(0..).collect();
    let own: HashSet<&str> = first.iter().map(String::as_str).collect();
    // Labels that come twice tell nothing apart.
    if own.len() == first.len() && places.len() == second.len() {
        let order: Option<Vec<usize>> = first.iter().map(|label| places.get(label.as_str()).copied()).collect();
        if let Some(order) = order {
            return LabelPairing::Reordered(order);
        }
    }
    if counts(first) || counts(second) {
        return LabelPairing::ByPosition;
    }
    let missing = |from: &[String], known: &dyn Fn(&str) -> bool| from.iter().find(|label| !known(label)).cloned();
    let alone = missing(first, &|label| places.contains_key(label)).map(|label| (label, true));
    let alone = alone.or_else(|| missing(second, &|label| own.contains(label)).map(|label| (label, false)));
    // Without such a label some come twice, in another order.
    let (label, first) = alone.unwrap_or_else(|| (first.first().cloned().unwrap_or_default(), true));
    LabelPairing::Different { label, first }
}

/// Returns whether labels are numbers that only count places, from whichever number on: `0, 1, 2`, or of two axes `1, 1`,
/// `1, 2`, `2, 1`, `2, 2`.
pub(crate) fn counts(labels: &[String]) -> bool {
    let parsed: Option<Vec<Vec<i64>>> =
        labels.iter().map(|label| label.split(", ").map(|part| part.parse().ok()).collect()).collect();
    let Some(parsed) = parsed else { return false };
    let (Some(start), Some(end)) = (parsed.first(), parsed.last()) else { return false };
    let axes = start.len();
    let lengths: Vec<i64> = start.iter().zip(end).map(|(a, b)| b.saturating_sub(*a).saturating_add(1)).collect();
    parsed.iter().enumerate().all(|(place, numbers)| {
        let mut rest = place as i64;
        numbers.len() == axes
            && (0..axes).rev().all(|axis| {
                let length = lengths.get(axis).copied().unwrap_or(1).max(1);
                let expected = if axis == 0 { rest } else { rest % length };
                rest /= length;
                numbers[axis].checked_sub(start[axis]) == Some(expected)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|&label| label.to_owned()).collect()
    }

    fn pair(first: &[&str], second: &[&str]) -> LabelPairing {
        pair_labels(&owned(first), &owned(second))
    }

    #[test]
    fn labels_decide_and_not_places() {
        assert_eq!(pair(&["a", "b", "c"], &["a", "b", "c"]), LabelPairing::Same);
        assert_eq!(pair(&["a", "b", "c"], &["c", "a", "b"]), LabelPairing::Reordered(vec![1, 2, 0]));
        // Numbers are labels as well, where both have the same ones.
        assert_eq!(pair(&["0", "1", "2"], &["2", "0", "1"]), LabelPairing::Reordered(vec![1, 2, 0]));
    }

    #[test]
    fn numbers_that_count_are_places() {
        assert_eq!(pair(&["0", "1", "2"], &["1", "2", "3"]), LabelPairing::ByPosition);
        assert_eq!(pair(&["berlin", "rome"], &["0", "1"]), LabelPairing::ByPosition);
        let (two, axes) = (["0, 0", "0, 1", "1, 0", "1, 1"], ["1, 1", "1, 2", "2, 1", "2, 2"]);
        assert_eq!(pair(&two, &axes), LabelPairing::ByPosition);
        assert!(
            counts(&owned(&axes)) && !counts(&owned(&["0", "2", "3"])) && !counts(&owned(&["0, 0", "1, 0", "0, 1"]))
        );
        assert!(!counts(&owned(&["0", "1", "1, 2"])) && !counts(&[]) && !counts(&owned(&["9223372036854775807", "0"])));
    }

    #[test]
    fn other_labels_are_named() {
        let different = |label: &str, first| LabelPairing::Different { label: label.to_owned(), first };
        assert_eq!(pair(&["a", "b"], &["a", "c"]), different("b", true));
        assert_eq!(pair(&["2001", "2004"], &["2001", "2005"]), different("2004", true));
        assert_eq!(pair(&["a", "a", "b"], &["a", "b", "c"]), different("c", false));
        assert_eq!(pair(&["a", "b", "b"], &["b", "a", "b"]), different("a", true));
    }
}
