//! Sorting a few hundred numbers that spread evenly enough: by cells, in the time of a few passes.

/// Cells for each number.
const CELLS: usize = 2;

/// Sorts numbers that are not negative, keeping its buffers between calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorter {
    ends: Vec<u32>,
    sorted: Vec<f64>,
}

impl Sorter {
    /// Puts the `count` smallest of `values` first, in order; none may be negative or NaN. The others follow in any order.
    pub(crate) fn sort_smallest(&mut self, values: &mut [f64], count: usize) {
        if !self.sort_by_cell(values, count) {
            values.sort_unstable_by(f64::total_cmp);
        }
    }

    /// False when too many values share a cell; they are then left as they were.
    fn sort_by_cell(&mut self, values: &mut [f64], count: usize) -> bool {
        let cells = CELLS * values.len();
        let largest = values.iter().fold(0.0, |a: f64, &b| if b > a { b } else { a });
        let scale = (cells as f64 - 1.0) / largest;
        if !(scale > 0.0 && scale.is_finite() && cells < 1 << 31) {
            return false;
        }
        // Adding 2^52 leaves the rounded cell in the low bits. Each step is monotone in the value.
        let cell = |v: f64| (v * scale + 2f64.powi(52)).to_bits() as u32 as usize;
        self.ends.clear();
        self.ends.resize(cells, 0);
        values.iter().for_each(|&v| self.ends[cell(v)] += 1);
        let mut end = 0;
        for count in &mut self.ends {
            end += *count;
            *count = end;
        }
        self.sorted.resize(values.len(), 0.0);
        for &value in values.iter().rev() {
            let end = &mut self.ends[cell(value)];
            *end -= 1;
            self.sorted[*end as usize] = value;
        }
        if count > 0 && !self.finish(count, cell) {
            return false;
        }
        values.copy_from_slice(&self.sorted);
        true
    }

    /// Puts the values of each cell in order, up to the cell of the last of `count`; false when that takes too many moves.
    fn finish(&mut self, count: usize, cell: impl Fn(f64) -> usize) -> bool {
        let sorted = self.sorted.as_mut_slice();
        let last = cell(sorted[count - 1]);
        let (mut moves, most) = (0, 4 * sorted.len());
        for k in 1..sorted.len() {
            let value = sorted[k];
            if k >= count && cell(value) > last {
                break;
            }
            let mut hole = k;
            while hole > 0 && sorted[hole - 1] > value {
                sorted[hole] = sorted[hole - 1];
                hole -= 1;
            }
            sorted[hole] = value;
            moves += k - hole;
            if moves > most {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library(
            even in prop::collection::vec(0.0..9.0f64, 0..700),
            crowded in prop::collection::vec(prop_oneof![0.0..1e-9f64, Just(0.0), Just(3.0), Just(f64::INFINITY)], 0..300),
            huge in prop::collection::vec(0.0..f64::MAX, 0..9),
            share in 0.0..=1.0f64,
        ) {
            let mut sorter = Sorter::default();
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
