//! Thresholds above which the tail's weights are looked for, read off a sample of the rows.
//!
//! They are likely to let a few more values pass than are needed.

use super::stream::{LANES, Lanes};
use crate::predictive::likelihood::Columns;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Blocks of columns whose sample is copied together.
const GROUP: usize = 16;

/// Times that the range is halved at most. Log likelihoods that need more are too far apart for exponentials.
const HALVINGS: usize = 24;

/// Finds a threshold for each of the first `blocks` blocks of [`LANES`] columns: in a sample of every `stride`-th row,
/// a few more than `place` values are not above it. The threshold is NaN where no such number was found.
pub(super) fn thresholds(columns: &Columns, blocks: usize, stride: usize, place: usize) -> Vec<Lanes> {
    let rows = (columns.values.len() / columns.width).div_ceil(stride);
    let mut thresholds = vec![[f64::NAN; LANES]; blocks];
    thresholds.par_chunks_mut(GROUP).enumerate().for_each(|(group, thresholds)| {
        let mut sample = vec![[0.0; LANES]; rows * thresholds.len()];
        let first = columns.first + group * GROUP * LANES;
        for (i, row) in columns.values.chunks_exact(columns.width).step_by(stride).enumerate() {
            for (block, lanes) in row[first..].as_chunks().0.iter().take(thresholds.len()).enumerate() {
                sample[block * rows + i] = *lanes;
            }
        }
        for (threshold, sample) in thresholds.iter_mut().zip(sample.chunks_exact(rows)) {
            *threshold = Arch::new().dispatch(Bisect { sample, place });
        }
    });
    thresholds
}

/// Finds the threshold of each column by halving the range it must be in.
struct Bisect<'a> {
    sample: &'a [Lanes],
    place: usize,
}

impl WithSimd for Bisect<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Lanes {
        let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        for row in self.sample {
            for k in 0..LANES {
                low[k] = if row[k] < low[k] { row[k] } else { low[k] };
                high[k] = if row[k] > high[k] { row[k] } else { high[k] };
            }
        }
        // A few too many do no harm; equal values can make it very many.
        let place = self.place as f64;
        let (good, most) = (place + 1.0 + place / 16.0, 2.0 * place);
        let mut pass = [f64::INFINITY; LANES];
        for _ in 0..HALVINGS {
            let middle: Lanes = std::array::from_fn(|k| 0.5 * low[k] + 0.5 * high[k]);
            let mut count = [0.0; LANES];
            for row in self.sample {
                for k in 0..LANES {
                    count[k] += if row[k] <= middle[k] { 1.0 } else { 0.0 };
                }
            }
            for k in 0..LANES {
                if count[k] > place {
                    (high[k], pass[k]) = (middle[k], count[k]);
                } else {
                    low[k] = middle[k];
                }
            }
            if pass.iter().all(|&pass| pass <= good) {
                break;
            }
        }
        std::array::from_fn(|k| if pass[k] <= most { high[k] } else { f64::NAN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    #[test]
    fn a_column_has_its_own_threshold_wherever_it_stands() {
        let (rows, blocks) = (40, GROUP + 1);
        let width = (blocks + 1) * LANES;
        let value = |i: usize, k: usize| ((i * 37 + k * k * 11) % 101) as f64 * (k + 1) as f64;
        let values: Vec<f64> = (0..rows * width).map(|at| value(at / width, at % width)).collect();
        let columns = Columns { values: &values, width, first: LANES, count: blocks * LANES };
        let found = thresholds(&columns, blocks, 1, 4);
        for (block, found) in found.into_iter().enumerate() {
            let first = (block + 1) * LANES;
            let own: Vec<f64> = (0..rows * LANES).map(|at| value(at / LANES, first + at % LANES)).collect();
            let alone = Columns { values: &own, width: LANES, first: 0, count: LANES };
            assert_eq!(found, thresholds(&alone, 1, 1, 4)[0], "{block}");
            assert!(found.iter().all(|threshold| threshold.is_finite()), "{block}: {found:?}");
        }
    }

    #[test]
    fn a_few_more_than_wanted_pass() {
        let (rows, width, stride, place) = (900, 17, 3, 20);
        let mut random = Stream::new(3, 0, 0, Purpose::User);
        let value = |k: usize, z: f64| match k {
            0..=7 => 10f64.powi(2 * k as i32 - 6) * z,
            8 => z.tan(),
            9 => (2.0 * z).exp(),
            10 => -(5.0 * z).exp(),
            11 => 1e300 * z,
            12 => f64::NAN,
            13 => 4.0,
            14 => (z / 4.0).round(),
            _ => 1e6 + z,
        };
        let values: Vec<f64> = (0..rows * width).map(|i| value(i % width, random.normal())).collect();
        let columns = Columns { values: &values, width, first: 0, count: width };
        let found = thresholds(&columns, 2, stride, place);
        assert_eq!(found.len(), 2);
        for (k, threshold) in found.into_iter().flatten().enumerate() {
            let sample = values.iter().skip(k).step_by(width * stride);
            let pass = sample.filter(|&&v| v <= threshold).count();
            match k {
                // Not a number, all equal, many equal.
                12..=14 => assert!(threshold.is_nan(), "{k}: {threshold}"),
                _ => assert!((place + 1..place + 4).contains(&pass), "{k}: {pass} pass {threshold}"),
            }
        }
    }
}
