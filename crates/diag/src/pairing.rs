//! Which element of one thing is which of another, by their labels: observations of models, elements of variables.

use std::collections::{HashMap, HashSet};

/// How the elements of a second thing belong to those of a first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelPairing {
    /// Both have the same labels in the same order.
    Same,
    /// Both have the same labels; the first's `i`-th element is the second's at the `i`-th of these places.
    Reordered(Vec<usize>),
    /// One of the two has no labels but numbers that count, from 0 or from 1: the first's `i`-th element is the second's at
    /// the `i`-th of these places.
    ByPosition(Vec<usize>),
    /// A label that only one of the two has, and whether that is the first.
    Different {
        /// The label.
        label: String,
        /// Whether the first has it.
        first: bool,
    },
}

/// Pairs the elements of two things by their labels, of which each has as many. An integer is the same label as the real
/// number of its value.
pub fn pair_labels(first: &[String], second: &[String]) -> LabelPairing {
    let values = [by_value(first), by_value(second)];
    match pair_values(&values[0], &values[1]) {
        LabelPairing::Different { label, first: of_first } => {
            // As it was given.
            let (values, labels) = if of_first { (&values[0], first) } else { (&values[1], second) };
            let given = values.iter().zip(labels).find(|(value, _)| **value == label).map(|(_, given)| given.clone());
            LabelPairing::Different { label: given.unwrap_or(label), first: of_first }
        }
        pairing => pairing,
    }
}

/// Returns labels as what they stand for: a whole number is written as an integer is, whether its file holds integers or
/// real numbers, `1.0` as `1`. Where that would mix labels up, they stay as they are.
pub(crate) fn by_value(labels: &[String]) -> Vec<String> {
    let values: Vec<String> = labels.iter().map(|label| value_of(label)).collect();
    let count = |labels: &[String]| labels.iter().collect::<HashSet<_>>().len();
    if count(&values) == count(labels) { values } else { labels.to_vec() }
}

/// Returns one label, also of several axes, `1.0, a`, and with the name of its variable, `y[1.0]`.
fn value_of(label: &str) -> String {
    let inner = label.strip_suffix(']').and_then(|label| label.split_once('['));
    let (name, numbers) = inner.unwrap_or(("", label));
    let part = |part: &str| {
        let number = part.trim();
        integer_of(number).map_or_else(|| part.to_owned(), |integer| part.replacen(number, &integer, 1))
    };
    let numbers = numbers.split(',').map(part).collect::<Vec<_>>().join(",");
    if inner.is_some() { format!("{name}[{numbers}]") } else { numbers }
}

/// Returns the digits of a whole real number as labels write it, `1.0` or `1e16`; words such as `1.00` are none.
fn integer_of(number: &str) -> Option<String> {
    let value = number.parse::<f64>().ok().filter(|value| value.fract() == 0.0 && value.abs() < 1e38)?;
    (format!("{value:?}") == number).then(|| (value as i128).to_string())
}

fn pair_values(first: &[String], second: &[String]) -> LabelPairing {
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
    if let Some(order) = by_position(first, second) {
        return LabelPairing::ByPosition(order);
    }
    let missing = |from: &[String], known: &dyn Fn(&str) -> bool| from.iter().find(|label| !known(label)).cloned();
    let alone = missing(first, &|label| places.contains_key(label)).map(|label| (label, true));
    let alone = alone.or_else(|| missing(second, &|label| own.contains(label)).map(|label| (label, false)));
    // Without such a label some come twice, in another order.
    let (label, first) = alone.unwrap_or_else(|| (first.first().cloned().unwrap_or_default(), true));
    LabelPairing::Different { label, first }
}

/// Pairs elements in the order in which one of the two, or both, count them; a side that does not count stands in order.
fn by_position(first: &[String], second: &[String]) -> Option<Vec<usize>> {
    let (ours, theirs) = (Counted::of(first), Counted::of(second));
    match (&ours, &theirs) {
        (None, None) => return None,
        // A table of 2 x 3 has the size of one of 3 x 2, and other elements.
        (Some(a), Some(b)) if a.lengths.len() == b.lengths.len() && a.lengths != b.lengths => return None,
        _ => {}
    }
    let places = |side: Option<Counted>| side.map_or_else(|| (0..first.len()).collect(), |side| side.places);
    let mut order = vec![0; first.len()];
    for (ours, theirs) in places(ours).into_iter().zip(places(theirs)) {
        order[ours] = theirs;
    }
    Some(order)
}

/// Returns the number, 0 or 1, from which labels count along each axis; `None` where they do not.
pub(crate) fn counted_from(labels: &[String]) -> Option<i64> {
    start(&numbers(labels)?)
}

/// Returns the numbers that labels are, one for each axis: `1, 2` of two.
fn numbers(labels: &[String]) -> Option<Vec<Vec<i64>>> {
    labels.iter().map(|label| label.split(',').map(|part| part.trim().parse().ok()).collect()).collect()
}

fn start(labels: &[Vec<i64>]) -> Option<i64> {
    let axes = labels.first()?.len();
    let least = |axis: usize| labels.iter().map(|numbers| numbers.get(axis).copied()).min()?;
    let first = least(0).filter(|first| (0..=1).contains(first))?;
    (0..axes).all(|axis| least(axis) == Some(first)).then_some(first)
}

/// Labels that only count places, each axis from 0 or each from 1: `0, 1, 2`, or of two axes `1, 1`, `1, 2`, `2, 1`,
/// `2, 2`. R, Stan and Julia let the first axis run fastest.
struct Counted {
    /// How many numbers each axis has.
    lengths: Vec<i64>,
    /// The places of the labels, the last axis running fastest.
    places: Vec<usize>,
}

impl Counted {
    fn of(labels: &[String]) -> Option<Self> {
        let numbers = numbers(labels)?;
        let start = start(&numbers)?;
        let mut places: Vec<usize> = (0..labels.len()).collect();
        places.sort_by_key(|&place| &numbers[place]);
        let lengths: Vec<i64> = numbers[*places.last()?].iter().map(|last| (last - start).saturating_add(1)).collect();
        let all_there = places.iter().enumerate().all(|(rank, &place)| {
            let mut rest = rank as i64;
            numbers[place].len() == lengths.len()
                && numbers[place].iter().zip(&lengths).rev().all(|(number, &length)| {
                    let expected = start + rest % length;
                    rest /= length;
                    *number == expected
                })
                && rest == 0
        });
        all_there.then_some(Self { lengths, places })
    }
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
        let placed = |order: &[usize]| LabelPairing::ByPosition(order.to_vec());
        assert_eq!(pair(&["0", "1", "2"], &["1", "2", "3"]), placed(&[0, 1, 2]));
        assert_eq!(pair(&["berlin", "rome"], &["0", "1"]), placed(&[0, 1]));
        assert_eq!(pair(&["berlin", "rome"], &["2", "1"]), placed(&[1, 0]));
        assert_eq!(pair(&["2", "1"], &["berlin", "rome"]), placed(&[1, 0]));
        // R's matrices begin with a column.
        let (rows, columns) =
            (["0, 0", "0, 1", "0, 2", "1, 0", "1, 1", "1, 2"], ["1,1", "2,1", "1,2", "2,2", "1,3", "2,3"]);
        assert_eq!(pair(&rows, &columns), placed(&[0, 2, 4, 1, 3, 5]));
        assert_eq!(pair(&columns, &rows), placed(&[0, 3, 1, 4, 2, 5]));
        let three = ["0, 0", "0, 1", "1, 0", "1, 1", "2, 0", "2, 1"];
        assert!(matches!(pair(&three, &columns), LabelPairing::Different { .. }));
        assert_eq!(pair(&["1", "2", "3", "4", "5", "6"], &three), placed(&[0, 1, 2, 3, 4, 5]));
        // Years are labels.
        assert!(matches!(pair(&["2001", "2002"], &["2002", "2003"]), LabelPairing::Different { .. }));
        let counts = |labels: &[&str]| Counted::of(&owned(labels)).is_some();
        assert!(counts(&columns) && counts(&["1"]) && !counts(&["2"]) && !counts(&["0", "2", "3"]));
        assert!(!counts(&["1", "1", "2"]) && !counts(&["0, 0", "1, 0", "0, 1"]) && !counts(&["0, 1", "1, 1"]));
        assert!(!counts(&["0", "1", "1, 2"]) && !counts(&[]) && !counts(&["9223372036854775807", "0"]));
        let from = |labels: &[&str]| counted_from(&owned(labels));
        assert_eq!(
            [from(&["0", "5"]), from(&["3", "1"]), from(&["2", "3"]), from(&["-1", "0"])],
            [Some(0), Some(1), None, None]
        );
        assert_eq!(
            [from(&["0, 1", "1, 0"]), from(&["0, 1", "1, 1"]), from(&["a", "0"]), from(&[])],
            [Some(0), None, None, None]
        );
    }

    #[test]
    fn integers_and_real_numbers_of_one_value_are_one_label() {
        assert_eq!(pair(&["1", "2", "3"], &["1.0", "2.0", "3.0"]), LabelPairing::Same);
        assert_eq!(pair(&["1", "2", "3"], &["3.0", "1.0", "2.0"]), LabelPairing::Reordered(vec![1, 2, 0]));
        assert_eq!(pair(&["20000000000000000", "0"], &["-0.0", "2e16"]), LabelPairing::Reordered(vec![1, 0]));
        assert_eq!(pair(&["1, a", "2, a"], &["2.0, a", "1.0, a"]), LabelPairing::Reordered(vec![1, 0]));
        assert_eq!(pair(&["y[1]", "y[2]"], &["y[2.0]", "y[1.0]"]), LabelPairing::Reordered(vec![1, 0]));
        // Halves, words, and labels that would be mixed up are what they are.
        assert_eq!(pair(&["0.5", "1.0"], &["1", "0.5"]), LabelPairing::Reordered(vec![1, 0]));
        assert!(matches!(pair(&["7", "8"], &["7.00", "8.00"]), LabelPairing::Different { .. }));
        assert_eq!(pair(&["1", "1.0"], &["1.0", "1"]), LabelPairing::Reordered(vec![1, 0]));
        let lacks = LabelPairing::Different { label: "9.0".into(), first: false };
        assert_eq!(pair(&["7", "8", "8"], &["7.0", "8.0", "9.0"]), lacks);
    }

    #[test]
    fn other_labels_are_named() {
        let different = |label: &str, first| LabelPairing::Different { label: label.to_owned(), first };
        assert_eq!(pair(&["a", "b"], &["a", "c"]), different("b", true));
        assert_eq!(pair(&["2001", "2004"], &["2001", "2005"]), different("2004", true));
        assert_eq!(pair(&["a", "a", "b"], &["a", "b", "c"]), different("c", false));
        assert_eq!(pair(&["a", "b", "b"], &["b", "a", "b"]), different("a", true));
    }

    #[test]
    fn whole_numbers_are_written_out_up_to_a_size() {
        assert_eq!(integer_of("1e16"), Some("10000000000000000".to_owned()));
        assert!(integer_of("9e37").is_some() && integer_of("1e38").is_none() && integer_of("1.5e38").is_none());
        assert!(integer_of("0.5").is_none() && integer_of("1").is_none());
        // One number of a label is written anew, also where it comes twice.
        assert_eq!(value_of("11.0, 11.0"), "11, 11");
        let different = LabelPairing::Different { label: "b".to_owned(), first: true };
        assert_eq!(pair(&["a", "b"], &["a", "c"]), different);
    }
}
