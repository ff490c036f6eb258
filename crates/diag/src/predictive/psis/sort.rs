//! Sorting a few hundred numbers that spread evenly enough: by cells, in the time of a few passes.

use crate::numbers::lanes;
use crate::numbers::order::range;
use pulp::{Arch, Simd, WithSimd};

/// Cells for each number.
const CELLS: usize = 2;

/// Sorts numbers that are not negative, keeping its buffers between calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct TailSorter {
    cells: Vec<u32>,
    starts: Vec<u32>,
    sorted: Vec<f64>,
}

impl TailSorter {
    /// Puts the `count` smallest of `values` first, in order; none may be negative or NaN. The others follow in any order.
    pub(crate) fn sort_smallest(&mut self, values: &mut [f64], count: usize) {
        if !self.sort_by_cell(values, count) {
            values.sort_unstable_by(f64::total_cmp);
        }
    }

    /// False when too many values share a cell; they are then left as they were.
    fn sort_by_cell(&mut self, values: &mut [f64], count: usize) -> bool {
        let cells = CELLS * values.len();
        self.cells.resize(values.len(), 0);
        let spread = Spread { values, cells: &mut self.cells, largest: range(values).1 };
        if cells >= 1 << 31 || !Arch::new().dispatch(spread) {
            return false;
        }
        self.starts.clear();
        self.starts.resize(cells + 1, 0);
        self.cells.iter().for_each(|&cell| self.starts[cell as usize] += 1);
        let mut end = 0;
        for count in &mut self.starts {
            end += *count;
            *count = end;
        }
        self.sorted.resize(values.len(), 0.0);
        for (&value, &cell) in values.iter().zip(&self.cells) {
            let start = &mut self.starts[cell as usize];
            *start -= 1;
            self.sorted[*start as usize] = value;
        }
        let end = self.starts.partition_point(|&start| (start as usize) < count);
        let sorted = &mut self.sorted[..self.starts.get(end).map_or(values.len(), |&end| end as usize)];
        if !Arch::new().dispatch(Exchange(sorted)) {
            return false;
        }
        values.copy_from_slice(&self.sorted);
        true
    }
}

/// Puts values that are nearly in order in order; false when they are not near enough.
struct Exchange<'a>(&'a mut [f64]);

impl WithSimd for Exchange<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        /// Times that each value is set against both neighbours.
        const ROUNDS: usize = 8;
        let values = self.0;
        for _ in 0..ROUNDS {
            exchange(values);
            exchange(values.get_mut(1..).unwrap_or_default());
            if values.windows(2).fold(true, |sorted, pair| sorted & (pair[0] <= pair[1])) {
                return true;
            }
        }
        false
    }
}

/// Puts every second value and the one after it in order: no branch to predict.
#[inline(always)]
fn exchange(values: &mut [f64]) {
    for [a, b] in values.as_chunks_mut::<2>().0 {
        (*a, *b) = (if *b < *a { *b } else { *a }, if *b < *a { *a } else { *b });
    }
}

/// Finds the cell that each value belongs to; the result is false where there are no cells for the values.
struct Spread<'a> {
    values: &'a [f64],
    cells: &'a mut [u32],
    largest: f64,
}

impl WithSimd for Spread<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        const LANES: usize = 16;
        let Self { values, cells, largest } = self;
        // How far they are from the largest is spread like an exponential or a Pareto variable, u: 1 / (1 + u / mean) is
        // spread evenly enough. Each step is monotone in the value.
        let mean = lanes::sum::<LANES>(values, |value| largest - value) / values.len() as f64;
        let scale = ((CELLS * values.len()) as f64 - 1.0) * mean;
        if !(mean > 0.0 && scale.is_finite()) {
            return false;
        }
        for (cell, value) in cells.iter_mut().zip(values) {
            // Adding 2^52 leaves the rounded cell in the low bits.
            *cell = (scale / (largest - value + mean) + 2f64.powi(52)).to_bits() as u32;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One number far from the rest puts these, in no order, into one cell.
    #[test]
    fn numbers_that_share_a_cell_are_sorted() {
        let mut values: Vec<f64> = (0..300).map(|i| f64::from(i * 7919 % 300) * 1e-12).collect();
        values.push(1.0);
        let expected: Vec<f64> = (0..200).map(|i| f64::from(i) * 1e-12).collect();
        TailSorter::default().sort_smallest(&mut values, 200);
        assert_eq!(values[..200], expected);
    }

    proptest! {
        #[test]
        fn sorts_as_the_standard_library(
            even in prop::collection::vec(0.0..9.0f64, 0..700),
            crowded in prop::collection::vec(prop_oneof![0.0..1e-9f64, Just(0.0), Just(3.0), Just(f64::INFINITY)], 0..300),
            huge in prop::collection::vec(0.0..f64::MAX, 0..9),
            share in 0.0..=1.0f64,
        ) {
            let mut sorter = TailSorter::default();
            for values in [even, crowded, huge] {
                let count = (share * values.len() as f64) as usize;
                let (mut found, mut expected) = (values.clone(), values);
                sorter.sort_smallest(&mut found, count);
                expected.sort_by(f64::total_cmp);
                prop_assert_eq!(&found[..count], &expected[..count]);
                found.sort_by(f64::total_cmp);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
