//! Many observations at once, draw after draw as they lie in memory: one pass gives the sums of likelihoods and of weights,
//! and the few weights that may belong to the tail.
//!
//! A threshold that is likely to let a few more than the tail pass is read off a sample of the draws. Columns for which that
//! goes wrong (too few or too many pass, numbers are not finite or too far apart) are left to the slower way.

use super::{Left, density};
use crate::exp::exp_both;
use crate::likelihood::Columns;
use crate::psis::{Tail, nearest, sample};
use pulp::{Arch, Simd, WithSimd};

/// Columns that are worked on side by side.
const LANES: usize = 8;

/// Columns of one pass at most: so much of each row is read in one go.
const MOST: usize = 128;

/// So many times [`TOGETHER`] rows' terms are added before they are added to the rest, which keeps rounding errors small.
const CHUNK: usize = 16;

/// Rows between two accesses to the sums: the bits of a byte.
const TOGETHER: usize = 8;

/// The first bit of each byte.
const FIRST_BITS: u64 = 0x0101_0101_0101_0101;

/// How far from the threshold a value may be: [`exp_both`] reaches to 700.
const REACH: f64 = 690.0;

/// How many neighbouring columns of `width` to work on together: all threads have some to do. A multiple of [`LANES`], so that
/// the same columns are left over whatever it is.
pub(super) fn block(width: usize) -> usize {
    (width / (4 * rayon::current_num_threads())).next_multiple_of(LANES).clamp(LANES, MOST)
}

/// Sums of neighbouring columns.
#[derive(Clone, Copy, Debug)]
struct Sums {
    /// Values up to it are kept; exponentials are taken about it.
    threshold: [f64; LANES],
    low: [f64; LANES],
    high: [f64; LANES],
    /// `sum exp(l - threshold)`.
    likelihood: Pair,
    /// `sum exp(threshold - l)` of the values above the threshold.
    weight: Pair,
}

/// Sums of this chunk of rows, and of all before.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    chunk: [f64; LANES],
    total: [f64; LANES],
}

impl Pair {
    #[inline(always)]
    fn close(&mut self) {
        for k in 0..LANES {
            self.total[k] += std::mem::take(&mut self.chunk[k]);
        }
    }
}

/// One pass, and its buffers.
#[derive(Debug, Default)]
pub(super) struct Stream {
    samples: usize,
    /// How many of the smallest values are needed.
    count: usize,
    sums: Vec<Sums>,
    kept: Kept,
    sampled: Vec<f64>,
}

/// The values up to the thresholds, column after column.
#[derive(Debug, Default)]
struct Kept {
    values: Vec<f64>,
    counts: Vec<usize>,
    /// Places of a column.
    room: usize,
}

impl Stream {
    /// Reads `columns`; returns how many of them, from the first on, were read.
    pub(super) fn run(&mut self, columns: &Columns, reff: f64) -> usize {
        let whole = columns.count - columns.count % LANES;
        self.samples = columns.values.len() / columns.width;
        self.count = nearest(self.samples, reff);
        let Some((stride, place)) = sample(self.samples, self.count) else {
            return 0;
        };
        self.find_thresholds(columns, whole, stride, place);
        self.kept.room = 4 * self.count;
        self.kept.values.resize(whole * self.kept.room, 0.0);
        self.kept.counts.clear();
        self.kept.counts.resize(whole, 0);
        Arch::new().dispatch(Pass { columns, sums: &mut self.sums, kept: &mut self.kept });
        whole
    }

    fn find_thresholds(&mut self, columns: &Columns, whole: usize, stride: usize, place: usize) {
        let rows = self.samples.div_ceil(stride);
        self.sampled.resize(whole * rows, 0.0);
        for (i, row) in columns.values.chunks_exact(columns.width).step_by(stride).enumerate() {
            for (k, &value) in row[columns.first..columns.first + whole].iter().enumerate() {
                self.sampled[k * rows + i] = value;
            }
        }
        self.sums.clear();
        for lanes in self.sampled.chunks_exact_mut(LANES * rows) {
            let mut thresholds = lanes.chunks_exact_mut(rows);
            let mut next = || thresholds.next().map_or(f64::NAN, |column| threshold(column, place));
            self.sums.push(Sums {
                threshold: std::array::from_fn(|_| next()),
                low: [f64::INFINITY; LANES],
                high: [f64::NEG_INFINITY; LANES],
                likelihood: Pair::default(),
                weight: Pair::default(),
            });
        }
    }

    /// What column `k` tells; none where it must be looked at by itself.
    pub(super) fn left(&self, k: usize, tail: &mut Tail) -> Option<Left> {
        let (sums, lane) = (&self.sums[k / LANES], k % LANES);
        let (threshold, low, high) = (sums.threshold[lane], sums.low[lane], sums.high[lane]);
        let (likelihood, weight) = (sums.likelihood.total[lane], sums.weight.total[lane]);
        let kept = self.kept.counts[k];
        let near = high - threshold < REACH && threshold - low < REACH;
        // A NaN has made the first sum NaN.
        if !near || !likelihood.is_finite() || !(self.count..=self.kept.room).contains(&kept) {
            return None;
        }
        let start = k * self.kept.room;
        tail.fit_smallest((low, high), &self.kept.values[start..start + kept], self.count);
        let rest = weight * (low - threshold).exp() + tail.untouched();
        Some(Left {
            density: density(tail, self.samples, rest),
            pareto_k: tail.pareto_k,
            log_sum: likelihood.ln() + threshold,
        })
    }
}

/// The value at `place` in order.
fn threshold(values: &mut [f64], place: usize) -> f64 {
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

struct Pass<'a> {
    columns: &'a Columns<'a>,
    sums: &'a mut [Sums],
    kept: &'a mut Kept,
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { columns, sums, kept } = self;
        let (width, whole) = (columns.width, sums.len() * LANES);
        // The memory is kept busy with the rows to come while exponentials are taken of these.
        let (mut near, mut ahead) = (vec![0.0; TOGETHER * whole], vec![0.0; TOGETHER * whole]);
        let mut tiles = columns.values.chunks(TOGETHER * width).peekable();
        if let Some(tile) = tiles.peek() {
            (0..sums.len()).for_each(|block| copy_block(tile, columns, block, &mut near));
        }
        let mut number = 0;
        while let Some(tile) = tiles.next() {
            let rows = tile.len() / width;
            for (block, sums) in sums.iter_mut().enumerate() {
                let Sums { threshold, mut low, mut high, mut likelihood, mut weight } = *sums;
                let mut few = 0u64;
                for (i, row) in near[block * LANES * TOGETHER..][..rows * LANES].chunks_exact(LANES).enumerate() {
                    let values: [f64; LANES] = std::array::from_fn(|k| row[k]);
                    let mut is_kept = [0u8; LANES];
                    for k in 0..LANES {
                        let value = values[k];
                        let (up, down) = exp_both(value - threshold[k]);
                        likelihood.chunk[k] += up;
                        weight.chunk[k] += if value <= threshold[k] { 0.0 } else { down };
                        low[k] = if value < low[k] { value } else { low[k] };
                        high[k] = if value > high[k] { value } else { high[k] };
                        is_kept[k] = if value <= threshold[k] { u8::MAX } else { 0 };
                    }
                    few |= u64::from_le_bytes(is_kept) & (FIRST_BITS << i);
                }
                // What is kept is rare, and known only late: looked for once in many values.
                while few != 0 {
                    let (k, i) = (few.trailing_zeros() as usize / TOGETHER, few.trailing_zeros() as usize % TOGETHER);
                    few &= few - 1;
                    kept.push(block * LANES + k, near[(block * TOGETHER + i) * LANES + k]);
                }
                *sums = Sums { threshold, low, high, likelihood, weight };
                if let Some(next) = tiles.peek() {
                    copy_block(next, columns, block, &mut ahead);
                }
            }
            std::mem::swap(&mut near, &mut ahead);
            number += 1;
            if number % CHUNK == 0 || tiles.peek().is_none() {
                for sums in sums.iter_mut() {
                    sums.likelihood.close();
                    sums.weight.close();
                }
            }
        }
    }
}

/// Copies [`LANES`] columns of some rows to where the block has its place.
#[inline(always)]
fn copy_block(rows: &[f64], columns: &Columns, block: usize, to: &mut [f64]) {
    let first = columns.first + block * LANES;
    let to = to[block * LANES * TOGETHER..][..LANES * TOGETHER].chunks_exact_mut(LANES);
    for (row, to) in rows.chunks_exact(columns.width).zip(to) {
        to.copy_from_slice(&row[first..first + LANES]);
    }
}

impl Kept {
    /// Keeps a value of a column; counts it where there is no room.
    #[inline(always)]
    fn push(&mut self, column: usize, value: f64) {
        let count = self.counts[column];
        if count < self.room {
            self.values[column * self.room + count] = value;
        }
        self.counts[column] = count + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Work, leave_one_out};
    use super::*;
    use octopus_random::{Purpose, Stream as Random};

    /// Observations of every kind: calm, wild, spread over many powers of ten, tied, constant, drifting, damaged.
    fn matrix(samples: usize, width: usize) -> Vec<f64> {
        let mut random = Random::new(7, 0, 0, Purpose::User);
        let mut values = vec![0.0; samples * width];
        for (i, row) in values.chunks_exact_mut(width).enumerate() {
            for (k, value) in row.iter_mut().enumerate() {
                let z = random.normal();
                *value = match k % 12 {
                    0 => -1.0 - 20.0 * z * z,
                    1 => 300.0 * z,
                    2 => (4.0 * z).round(),
                    3 => -3.5,
                    4 => i as f64 / samples as f64,
                    5 if i == samples / 3 => f64::NAN,
                    6 if i == samples / 2 => f64::NEG_INFINITY,
                    7 if i == samples - 1 => f64::INFINITY,
                    8 => f64::from(u8::from(i % 40 == 0)),
                    // The sample sees none of the many that are small.
                    9 if i % 4 == 1 => -1.0 - z * z,
                    9 => 5.0,
                    _ => -1.0 - 0.1 * z * z,
                };
            }
        }
        values
    }

    #[test]
    fn together_or_alone_observations_tell_the_same() {
        for (samples, width, reff) in
            [(8000, 29, 0.9), (2048, 24, 1.0), (1100, 12, 0.4), (700, 12, 1.0), (3000, 5, f64::NAN)]
        {
            let values = matrix(samples, width);
            let columns = Columns { values: &values, width, first: 0, count: width };
            let mut work = Work::default();
            let streamed = work.stream.run(&columns, reff);
            assert_eq!(streamed, if samples < 1024 { 0 } else { width / 8 * 8 });
            for k in 0..streamed {
                let alone = work.stream.left(k, &mut work.tail).is_none();
                match k % 12 {
                    0 | 4 | 10 | 11 => assert!(!alone, "{k}"),
                    1 | 3 | 5..=8 => assert!(alone, "{k}"),
                    _ => {}
                }
            }
            let found = work.leave_out(columns, reff);
            for (k, found) in found.into_iter().enumerate() {
                let column: Vec<f64> = values.iter().skip(k).step_by(width).copied().collect();
                let expected = leave_one_out(&mut Tail::default(), &column, reff);
                let near =
                    |a: f64, b: f64| a == b || (a - b).abs() < 1e-12 * b.abs().max(1.0) || (a.is_nan() && b.is_nan());
                assert!(
                    near(found.density, expected.density)
                        && found.pareto_k == expected.pareto_k
                        && near(found.log_sum, expected.log_sum),
                    "{samples} x {width}, {k}: {found:?} {expected:?}"
                );
            }
        }
    }
}
