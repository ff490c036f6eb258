//! Distances from a center in order, from values that are.

use crate::numbers::order::Sorted;

/// Values that are written beside those that are folded.
pub(crate) const GUARDS: usize = 3;

/// Writes the distances `|v - center|` of `sorted` to `out`, sorted, with the values' places. False when one is NaN (an
/// infinite center), `out` being then without meaning; else `sorted` has lost its values to the work.
///
/// The distances below the center descend, those above ascend, and a merge puts them in order. Which side comes next cannot
/// be predicted, so it is selected without a branch, and the merge runs in four places at once to hide the time that this
/// takes: from both ends, and from the middle both ways.
pub(crate) fn fold(sorted: &mut Sorted, center: f64, out: &mut Sorted) -> bool {
    let Sorted { values, places } = sorted;
    let n = values.len();
    // NaN arises only from inf - inf, and infinite values stand at the ends.
    if [values.first(), values.last()].into_iter().flatten().any(|v| (v - center).is_nan()) {
        return false;
    }
    let middle = values.partition_point(|&v| v < center);
    spread(values, middle, center);
    let sides = Sides { distances: values, places, middle };
    out.resize(n);
    let half = n / 2;
    let (mut first, mut third) = (sides.start(0), sides.start(half));
    let (mut second, mut fourth) = (sides.end(half), sides.end(n));
    // As many steps of each; one or two more of the last.
    let steps = half / 2;
    let (values, last_values) = out.values.split_at_mut(half);
    let (places, last_places) = out.places.split_at_mut(half);
    for k in 0..steps {
        (values[k], places[k]) = sides.next(&mut first);
        (values[half - 1 - k], places[half - 1 - k]) = sides.next_back(&mut second);
        (last_values[k], last_places[k]) = sides.next(&mut third);
        (last_values[n - half - 1 - k], last_places[n - half - 1 - k]) = sides.next_back(&mut fourth);
    }
    for k in steps..half - steps {
        (values[k], places[k]) = sides.next(&mut first);
    }
    for k in steps..n - half - steps {
        (last_values[k], last_places[k]) = sides.next(&mut third);
    }
    sorted.values.clear();
    true
}

/// Turns values, the first `middle` of them below the center, into distances, and puts guards around both sides.
fn spread(values: &mut Vec<f64>, middle: usize, center: f64) {
    let n = values.len();
    values.reserve_exact(GUARDS);
    values.resize(n + GUARDS, 0.0);
    values.copy_within(middle..n, middle + 2);
    values.copy_within(..middle, 1);
    values.iter_mut().for_each(|v| *v = (*v - center).abs());
    // Nothing is nearer than NaN and nothing farther than infinity, when there is none left on that side; every distance is
    // farther than -1.
    values[0] = f64::NAN;
    values[middle + 1] = -1.0;
    values[n + 2] = f64::INFINITY;
}

/// The distances of both sides: guard, those below the center (descending), guard, those above (ascending), guard.
struct Sides<'a> {
    distances: &'a [f64],
    /// The places that the values of both sides came from.
    places: &'a [u32],
    middle: usize,
}

/// The position of a merge on both sides.
struct Cursor {
    below: usize,
    above: usize,
}

impl Sides<'_> {
    /// Returns where an upward merge stands that has `count` distances behind it.
    fn start(&self, count: usize) -> Cursor {
        let taken = self.below_among(count);
        Cursor { below: self.middle - taken, above: self.middle + 2 + count - taken }
    }

    /// Returns where a downward merge stands that has `count` distances before it.
    fn end(&self, count: usize) -> Cursor {
        let taken = self.below_among(count);
        Cursor { below: self.middle + 1 - taken, above: self.middle + 1 + count - taken }
    }

    /// Returns how many of the `count` smallest distances are below the center.
    fn below_among(&self, count: usize) -> usize {
        let above = self.places.len() - self.middle;
        let (mut low, mut high) = (count.saturating_sub(above), count.min(self.middle));
        while low < high {
            let taken = (low + high) / 2;
            if self.distances[self.middle - taken] <= self.distances[self.middle + 1 + count - taken] {
                low = taken + 1;
            } else {
                high = taken;
            }
        }
        low
    }

    /// Returns the next larger distance. Of equal distances the one below the center comes first, seen from either end.
    #[inline(always)]
    fn next(&self, cursor: &mut Cursor) -> (f64, u32) {
        let low = self.distances[cursor.below] <= self.distances[cursor.above];
        let found = self.at(low, cursor);
        cursor.below -= usize::from(low);
        cursor.above += usize::from(!low);
        found
    }

    /// Returns the next smaller distance.
    #[inline(always)]
    fn next_back(&self, cursor: &mut Cursor) -> (f64, u32) {
        let low = self.distances[cursor.below] > self.distances[cursor.above];
        let found = self.at(low, cursor);
        cursor.below += usize::from(low);
        cursor.above -= usize::from(!low);
        found
    }

    /// Returns the distance below or above the center, and its place.
    #[inline(always)]
    fn at(&self, low: bool, cursor: &Cursor) -> (f64, u32) {
        let from = select(low, cursor.below, cursor.above);
        (self.distances[from], self.places[from - 1 - usize::from(!low)])
    }
}

/// `yes` or `no`, without a branch.
#[inline(always)]
fn select(condition: bool, yes: usize, no: usize) -> usize {
    let mask = usize::from(condition).wrapping_neg();
    (yes & mask) | (no & !mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::normal::NormalScores;
    use crate::numbers::order::{median, rank_normalize};
    use proptest::prelude::*;

    proptest! {
        /// Compares the merge of two halves with `Sorted::of` of the distances, this crate's sort, which `order.rs` holds to the
        /// standard library's.
        #[test]
        fn folded_ranks_are_ranks_of_distances(
            values in prop::collection::vec(prop_oneof![-3.0..3.0f64, (-3i32..3).prop_map(f64::from)], 1..300),
            shift in prop_oneof![Just(0.0), -5.0..5.0f64],
        ) {
            let mut sorted = Sorted::of(&values);
            let scores = NormalScores::new(values.len());
            let center = median(&sorted.values) + shift;
            let mut folded = Sorted::default();
            prop_assert!(fold(&mut sorted, center, &mut folded));
            let distances: Vec<f64> = values.iter().map(|v| (v - center).abs()).collect();
            let expected = Sorted::of(&distances);
            prop_assert_eq!(&folded.values, &expected.values);
            let (mut found, mut by_sort) = (vec![0.0; values.len()], vec![0.0; values.len()]);
            rank_normalize(&folded, &scores, &mut found, &mut sorted);
            rank_normalize(&expected, &scores, &mut by_sort, &mut sorted);
            prop_assert_eq!(found, by_sort);
        }
    }

    #[test]
    fn an_infinite_center_cannot_be_folded() {
        let inf = f64::INFINITY;
        let mut sorted = Sorted::of(&[0.0, inf, inf]);
        assert!(!fold(&mut sorted, inf, &mut Sorted::default()));
        let mut folded = Sorted::default();
        for (values, expected) in [
            ([-inf, 0.0, 1.0, inf, inf], [0.0, 1.0, inf, inf, inf]),
            ([-inf, -inf, -inf, 0.0, 1.0], [0.0, 1.0, inf, inf, inf]),
            ([1.0, 3.0, inf, inf, inf], [0.0, 2.0, inf, inf, inf]),
        ] {
            assert!(fold(&mut Sorted::of(&values), 1.0, &mut folded));
            assert_eq!(folded.values, expected);
            let mut places = folded.places.clone();
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3, 4]);
        }
    }

    /// Few values, of each number, with the center at each place among them.
    #[test]
    fn few_values_are_folded_about_any_center() {
        for n in 1..24usize {
            let values: Vec<f64> = (0..n).map(|k| ((k * k * 5 + 3 * k) % 29) as f64).collect();
            for twice in -2..60 {
                let center = f64::from(twice) / 2.0 + 0.125;
                let mut folded = Sorted::default();
                assert!(fold(&mut Sorted::of(&values), center, &mut folded));
                let mut expected: Vec<f64> = values.iter().map(|v| (v - center).abs()).collect();
                expected.sort_by(f64::total_cmp);
                assert_eq!(folded.values, expected, "{n} {center}");
                assert!(
                    folded.values.iter().zip(&folded.places).all(|(d, &k)| (values[k as usize] - center).abs() == *d)
                );
                let mut places = folded.places.clone();
                places.sort_unstable();
                assert!(places.iter().zip(0..).all(|(&found, k)| found == k), "{n} {center}");
            }
        }
    }
}
