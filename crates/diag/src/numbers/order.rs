//! Order: sorted values with their places, ranks, quantiles.

use crate::numbers::fold;
use crate::numbers::normal::NormalScores;
use crate::numbers::spread::{BinnedValues, MANY};
use pulp::{Arch, Simd, WithSimd};

/// Values in ascending order, and the place that each came from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorted {
    pub(crate) values: Vec<f64>,
    pub(crate) places: Vec<u32>,
}

impl Sorted {
    /// Sorts a copy of `values`, none of which may be NaN.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mut sorted = Self::default();
        Sorter::default().sort(values, &mut sorted);
        sorted
    }

    /// Makes room for `n` values and those that [`fold`](crate::numbers::fold::fold) needs besides: very many are not to move later.
    pub(crate) fn reserve(&mut self, n: usize) {
        self.values.reserve_exact((n + fold::GUARDS).saturating_sub(self.values.len()));
        self.places.reserve_exact(n.saturating_sub(self.places.len()));
    }

    pub(crate) fn resize(&mut self, n: usize) {
        self.reserve(n);
        self.values.resize(n, 0.0);
        self.places.resize(n, 0);
    }
}

/// Bits of one digit of the radix sort, and its values: their counters stay in the first-level cache.
const BITS: u32 = 11;
const RADIX: usize = 1 << BITS;

/// Neighbours that are compared without a branch: few are equal, or out of order.
const BLOCK: usize = 64;

/// Fewer values than this are sorted by comparison.
const FEW: usize = 256;

/// Sorts, keeping its buffers between calls.
#[derive(Clone, Debug)]
pub(crate) struct Sorter {
    records: Vec<u64>,
    passed: Vec<u64>,
    low: Box<[u32; RADIX]>,
    high: Box<[u32; RADIX]>,
}

impl Default for Sorter {
    fn default() -> Self {
        Self { records: Vec::new(), passed: Vec::new(), low: Box::new([0; RADIX]), high: Box::new([0; RADIX]) }
    }
}

impl Sorter {
    /// Writes `values` in ascending order to `out`, with their indices. No value may be NaN.
    ///
    /// Two passes of a radix sort order the values by where they lie between the smallest and the largest,
    /// to 22 bits; few neighbours are then out of order, and insertion corrects them. Where many values
    /// crowd into few cells (heavy tails), a comparison sort takes over. Half the time of the latter.
    /// Very many values are first divided into bins of neighbours.
    pub(crate) fn sort(&mut self, values: &[f64], out: &mut Sorted) {
        if values.len() < MANY || !self.sort_by_bin(values, out) {
            self.sort_at_once(values, out);
        }
    }

    /// False when too many values lie in one bin; `out` is then unfinished.
    fn sort_by_bin(&mut self, values: &[f64], out: &mut Sorted) -> bool {
        /// Most values of a bin are then in the second-level cache.
        const BINS: usize = 256;
        let (min, max) = range(values);
        let scale = (BINS - 1) as f64 / (max - min);
        if !(scale > 0.0 && scale.is_finite()) {
            return false;
        }
        // Monotone in the value, as the cells are.
        let bin = |v: f64| {
            let place = (v - min) * scale;
            (place as usize).min(BINS - 1)
        };
        let mut spread =
            BinnedValues::new(out, BINS, values.iter().enumerate().map(|(place, &v)| (bin(v), v, place as u32)));
        if spread.largest() > values.len() / 8 {
            return false;
        }
        let mut sorted = Sorted::default();
        spread.for_each_bin(|values, places| {
            self.sort_at_once(values, &mut sorted);
            sorted.places.iter_mut().for_each(|place| *place = places[*place as usize]);
            values.copy_from_slice(&sorted.values);
            places.copy_from_slice(&sorted.places);
        });
        true
    }

    fn sort_at_once(&mut self, values: &[f64], out: &mut Sorted) {
        let (min, max) = range(values);
        let cells = f64::from((1u32 << (2 * BITS)) - 1);
        let scale = cells / (max - min);
        let spread = values.len() >= FEW && scale > 0.0 && scale.is_finite();
        if !(spread && self.sort_by_cell(values, min, scale, out)) {
            self.sort_by_comparison(values, out);
        }
    }

    fn sort_by_comparison(&mut self, values: &[f64], out: &mut Sorted) {
        out.places.clear();
        out.places.extend((0u32..).take(values.len()));
        out.places.sort_unstable_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        out.values.clear();
        out.values.extend(out.places.iter().map(|&place| values[place as usize]));
    }

    /// False when too many values share a cell; `out` is then unfinished.
    fn sort_by_cell(&mut self, values: &[f64], min: f64, scale: f64, out: &mut Sorted) -> bool {
        let n = values.len();
        self.low.fill(0);
        self.high.fill(0);
        self.records.clear();
        // Adding 2^52 leaves the rounded cell in the low bits. Each step is monotone in the value.
        self.records.extend(values.iter().zip(0u64..).map(|(&v, place)| {
            let cell = ((v - min) * scale + 2f64.powi(52)).to_bits();
            cell << 32 | place
        }));
        for &record in &self.records {
            self.low[digit(record, 0)] += 1;
            self.high[digit(record, 1)] += 1;
        }
        self.passed.resize(n, 0);
        distribute(&self.records, 0, &mut self.low, &mut self.passed);
        distribute(&self.passed, 1, &mut self.high, &mut self.records);
        self.finish(values, out)
    }

    /// Replaces cells by values, in order; false when that takes too many moves.
    fn finish(&self, values: &[f64], out: &mut Sorted) -> bool {
        out.places.clear();
        out.places.extend(self.records.iter().map(|&record| record as u32));
        out.values.clear();
        out.values.extend(out.places.iter().map(|&place| values[place as usize]));
        let (sorted, places) = (out.values.as_mut_slice(), out.places.as_mut_slice());
        let mut moves_left = 4 * values.len();
        for first in (1..sorted.len()).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(sorted.len());
            let pairs = sorted[first - 1..].iter().zip(&sorted[block.clone()]);
            if !pairs.fold(false, |found, (a, b)| found | (a > b)) {
                continue;
            }
            for k in block {
                let mut hole = k;
                while hole != 0 && sorted[hole - 1] > sorted[hole] {
                    sorted.swap(hole - 1, hole);
                    places.swap(hole - 1, hole);
                    hole -= 1;
                    if moves_left == 0 {
                        return false;
                    }
                    moves_left -= 1;
                }
            }
        }
        true
    }
}

fn digit(record: u64, place: u32) -> usize {
    (record >> (32 + place * BITS)) as usize & (RADIX - 1)
}

/// Moves records to the places that the counts of their digit give them, keeping equal ones in order.
fn distribute(from: &[u64], place: u32, counts: &mut [u32; RADIX], to: &mut [u64]) {
    let mut start = 0;
    for count in counts.iter_mut() {
        start += std::mem::replace(count, start);
    }
    for &record in from {
        let next = &mut counts[digit(record, place)];
        to[*next as usize] = record;
        *next += 1;
    }
}

/// Returns the smallest and the largest value; (inf, -inf) without values. NaN is ignored.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    let (min, max, _) = range_and_nan(values);
    (min, max)
}

/// Returns the range of the values, and whether one of them is NaN.
pub(crate) fn range_and_nan(values: &[f64]) -> (f64, f64, bool) {
    Arch::new().dispatch(Range { values })
}

struct Range<'a> {
    values: &'a [f64],
}

impl WithSimd for Range<'_> {
    type Output = (f64, f64, bool);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        const LANES: usize = 32;
        let mut low = [f64::INFINITY; LANES];
        let mut high = [f64::NEG_INFINITY; LANES];
        let mut nan = [false; LANES];
        let rows = self.values.chunks_exact(LANES);
        let rest = rows.remainder();
        for row in rows {
            for k in 0..LANES {
                low[k] = if row[k] < low[k] { row[k] } else { low[k] };
                high[k] = if row[k] > high[k] { row[k] } else { high[k] };
                nan[k] |= row[k].is_nan();
            }
        }
        let min = low.iter().chain(rest).fold(f64::INFINITY, |a, &b| a.min(b));
        let max = high.iter().chain(rest).fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        (min, max, nan.contains(&true) || rest.iter().any(|v| v.is_nan()))
    }
}

/// Writes the normal scores of `sorted` to `out` at each value's place; ties share the score of their
/// average rank (`scipy.stats.rankdata`, method `average`). `spare` is a buffer, used where there are very many values.
pub(crate) fn rank_normalize(sorted: &Sorted, scores: &NormalScores, out: &mut [f64], spare: &mut Sorted) {
    let scored = sorted.places.iter().zip(scores.all());
    if out.len() < MANY {
        scored.for_each(|(&place, &score)| out[place as usize] = score);
    } else {
        // Neighbouring places together, so many that their scores fit the second-level cache; not a power of two, whose
        // bins would begin in the same lines of the cache.
        const SHARE: usize = 33_000;
        let items = scored.map(|(&place, &score)| (place as usize / SHARE, score, place));
        BinnedValues::new(spare, out.len().div_ceil(SHARE), items).for_each_bin(|scores, places| {
            scores.iter().zip(&*places).for_each(|(&score, &place)| out[place as usize] = score);
        });
    }
    share_ties(sorted, scores, out);
}

/// Gives equal values the score of their average rank.
fn share_ties(sorted: &Sorted, scores: &NormalScores, out: &mut [f64]) {
    let values = sorted.values.as_slice();
    let mut first = 0;
    while first + 1 < values.len() {
        let last = (first + BLOCK).min(values.len() - 1);
        let pairs = values[first..last].iter().zip(&values[first + 1..=last]);
        if !pairs.fold(false, |tied, (a, b)| tied | (a == b)) {
            first = last;
            continue;
        }
        while first < last {
            let run = values[first..].iter().take_while(|&&value| value == values[first]).count();
            if run > 1 {
                correct_ties(sorted, first, first + run, scores, out);
            }
            first += run;
        }
    }
}

/// Gives the equal values at `first..end` their common score.
fn correct_ties(sorted: &Sorted, first: usize, end: usize, scores: &NormalScores, out: &mut [f64]) {
    let score = scores.tied(first, end);
    for &place in &sorted.places[first..end] {
        out[place as usize] = score;
    }
}

/// Returns the `prob` quantile of sorted values by linear interpolation (type 7 of Hyndman and Fan 1996), with the very
/// operations of `scipy.stats.mstats.mquantiles`: indicators `x <= quantile` depend on the last bit.
pub(crate) fn quantile(sorted: &[f64], prob: f64) -> f64 {
    let n = sorted.len();
    if n == 1 {
        return sorted[0];
    }
    let size = n as f64;
    let place = size * prob + (1.0 - prob);
    let k = place.clamp(1.0, size - 1.0).floor();
    let gamma = (place - k).clamp(0.0, 1.0);
    let k = k as usize;
    (1.0 - gamma) * sorted[k - 1] + gamma * sorted[k]
}

/// Returns the quantile of ascending values at `prob` in [0, 1], by linear interpolation between neighbours (Hyndman
/// and Fan 1996, type 7), with the operations of `np.quantile`; the largest value at a larger one. NaN when there is no
/// value.
pub fn quantile_of_sorted(sorted: &[f64], prob: f64) -> f64 {
    if sorted.is_empty() {
        return f64::NAN;
    }
    let place = (sorted.len() - 1) as f64 * prob;
    let below = (place as usize).min(sorted.len() - 1);
    let (low, high) = (sorted[below], sorted[(below + 1).min(sorted.len() - 1)]);
    let gamma = place - below as f64;
    if gamma >= 0.5 { high - (high - low) * (1.0 - gamma) } else { low + (high - low) * gamma }
}

/// Returns the places in `size` sorted values that enclose the quantiles at probabilities `low` and `high`.
pub(crate) fn quantile_index_bounds(low: f64, high: f64, size: usize) -> (usize, usize) {
    let n = size as f64;
    let low = (low * n - 1.0).max(0.0).floor();
    // A probability is at most 1, and so this is at most n - 1.
    let high = (high * n - 1.0).ceil();
    (low as usize, high as usize)
}

/// Returns the median of sorted values: the middle one, or the mean of the two in the middle.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { (sorted[half - 1] + sorted[half]) / 2.0 } else { sorted[half] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_order() -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![
            4 => -3.0..3.0f64,
            1 => (-3i32..3).prop_map(f64::from),
            1 => prop_oneof![Just(f64::MAX), Just(-f64::MAX), Just(-0.0), Just(f64::INFINITY), Just(1e-300)],
        ];
        prop_oneof![prop::collection::vec(value, 1..600), prop::collection::vec(-1.0..1.0f64, 1..600)]
    }

    proptest! {
        #[test]
        fn sorts_as_the_standard_library(values in any_order()) {
            let sorted = Sorted::of(&values);
            let mut expected = values.clone();
            expected.sort_by(f64::total_cmp);
            // -0 and 0 are equal and may stand in any order.
            prop_assert_eq!(&sorted.values, &expected);
            let mut seen = vec![false; values.len()];
            for (&v, &place) in sorted.values.iter().zip(&sorted.places) {
                prop_assert_eq!(v.to_bits(), values[place as usize].to_bits());
                prop_assert!(!std::mem::replace(&mut seen[place as usize], true));
            }
            let (min, max) = range(&values);
            prop_assert!(min == expected[0] && max == expected[expected.len() - 1]);
        }
    }

    #[test]
    fn very_many_values() {
        let hash = |i: usize| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as f64 / 2f64.powi(44) - 0.5;
        let even: Vec<f64> = (0..MANY + 37).map(hash).collect();
        let tied: Vec<f64> = even.iter().map(|v| (v * 1000.0).round()).collect();
        let crowded: Vec<f64> = even.iter().map(|v| v.powi(-9)).collect();
        let below_zero: Vec<f64> = even.iter().map(|v| v - 1.5).collect();
        for values in [even, tied, crowded, below_zero] {
            let sorted = Sorted::of(&values);
            let mut expected = values.clone();
            expected.sort_by(f64::total_cmp);
            assert_eq!(sorted.values, expected);
            assert!(sorted.values.iter().zip(&sorted.places).all(|(&v, &place)| values[place as usize] == v));
            let scores = NormalScores::new(values.len());
            let mut out = vec![f64::NAN; values.len()];
            rank_normalize(&sorted, &scores, &mut out, &mut Sorted::default());
            let first = |v: f64| expected.partition_point(|&e| e < v);
            let end = |v: f64| expected.partition_point(|&e| e <= v);
            assert!(values.iter().zip(&out).step_by(97).all(|(&v, &z)| z == scores.tied(first(v), end(v))));
        }
    }

    /// Of 600 ascending values a run, so near to each other that they share a cell, descends.
    #[test]
    fn a_run_in_one_cell_is_turned_round_wherever_it_stands() {
        for (start, length) in [(600usize, 0), (10, 2), (64, 67), (590, 10)] {
            let run = start..start + length;
            let value = |k: usize| if run.contains(&k) { start as f64 - 1e-9 * (k - start) as f64 } else { k as f64 };
            let values: Vec<f64> = (0..600).map(value).collect();
            let sorted = Sorted::of(&values);
            let mut expected = values.clone();
            expected.sort_by(f64::total_cmp);
            assert_eq!(sorted.values, expected, "{start}");
            let places = sorted.places.iter().map(|&place| values[place as usize]);
            assert!(places.eq(expected), "{start}");
        }
    }

    #[test]
    fn quantiles_of_ten() {
        let sorted: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(quantile(&sorted, 0.5), 4.5);
        assert!((quantile(&sorted, 0.05) - 0.45).abs() < 1e-15);
        assert_eq!(quantile(&sorted, 0.0), 0.0);
        assert_eq!(quantile(&sorted, 1.0), 9.0);
        assert_eq!(median(&sorted[..3]), 1.0);
        assert_eq!([0.25, 1.0, 1.5].map(|prob| quantile_of_sorted(&sorted, prob)), [2.25, 9.0, 9.0]);
    }

    #[test]
    fn ties_share_a_score() {
        let scores = NormalScores::new(4);
        for (values, tied) in [([1.0, 2.0, 1.0, 3.0], [0, 2]), ([3.0, 1.0, 0.0, 3.0], [0, 3])] {
            let mut out = [0.0; 4];
            rank_normalize(&Sorted::of(&values), &scores, &mut out, &mut Sorted::default());
            assert_eq!(out[tied[0]], out[tied[1]]);
            assert_eq!(out[tied[0]], -scores.tied(if tied[1] == 2 { 2 } else { 0 }, if tied[1] == 2 { 4 } else { 2 }));
        }
    }

    /// np.quantile (NumPy 2.4): one formula below the middle of two neighbours and another above, told apart by the last bit.
    #[test]
    fn quantiles_have_the_last_bit_of_numpy() {
        let sorted: Vec<f64> = (0..11).map(|i| f64::from(i * i + 1) / 7.0).collect();
        for (prob, expected) in [
            (3.0 / 41.0, 0.247_386_759_581_881_53),
            (21.0 / 41.0, 3.905_923_344_947_735_3),
            (22.0 / 67.0, 1.712_153_518_123_667_6),
            (31.0 / 67.0, 3.234_541_577_825_160_7),
            (3.0 / 89.0, 0.191_011_235_955_056_17),
            (29.0 / 89.0, 1.686_998_394_863_563_8),
            (43.0 / 101.0, 2.759_547_383_309_76),
        ] {
            assert_eq!(quantile_of_sorted(&sorted, prob), expected, "{prob}");
        }
    }

    #[test]
    fn the_range_is_found_in_every_lane() {
        for n in [1, 31, 32, 33, 64, 70] {
            for place in 0..n {
                let mut values = vec![0.5; n];
                values[place] = -2.0;
                assert_eq!(range_and_nan(&values), (-2.0, if n == 1 { -2.0 } else { 0.5 }, false), "{n} {place}");
                values[place] = 3.0;
                assert_eq!(range_and_nan(&values), (if n == 1 { 3.0 } else { 0.5 }, 3.0, false), "{n} {place}");
                values[place] = f64::NAN;
                assert!(range_and_nan(&values).2, "{n} {place}");
            }
        }
        assert_eq!(range_and_nan(&[]), (f64::INFINITY, f64::NEG_INFINITY, false));
    }

    /// Pairs of equal values, at every place of a block, over its end, and alone in the last one.
    #[test]
    fn two_that_are_tied_share_a_score_wherever_they_stand() {
        for (n, tied) in [2, 66, 150].into_iter().flat_map(|n| (0..n - 1).map(move |tied| (n, tied))) {
            let scores = NormalScores::new(n);
            let values: Vec<f64> = (0..n).map(|k| if k == tied + 1 { tied } else { k } as f64).collect();
            let mut out = vec![0.0; n];
            rank_normalize(&Sorted::of(&values), &scores, &mut out, &mut Sorted::default());
            let common = scores.tied(tied, tied + 2);
            for (k, &found) in out.iter().enumerate() {
                assert_eq!(found, if k == tied || k == tied + 1 { common } else { scores.all()[k] }, "{n} {tied} {k}");
            }
        }
    }
}
