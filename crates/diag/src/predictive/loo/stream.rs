//! LOO of many observations at once, draw after draw as they lie in memory.
//!
//! One pass gives the sums of likelihoods and of weights, and the few weights that may belong to the tail.
//!
//! A threshold that is likely to let a few more than the tail pass is read off a sample of the draws. Columns for which that
//! goes wrong (too few or too many pass, numbers are not finite or too far apart) are left to the slower way.

use super::threshold::thresholds;
use super::{PointwiseLoo, density};
use crate::numbers::exp::exp_both;
use crate::numbers::prefetch::prefetch;
use crate::predictive::likelihood::Columns;
use crate::predictive::psis::{Tail, nearest, sample};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Columns that are worked on side by side: a block.
pub(super) const LANES: usize = 8;

/// One number of each column of a block.
pub(super) type Lanes = [f64; LANES];

/// Columns of one pass at most: two tiles of rows and the sums fit the second-level cache.
pub(super) const MOST: usize = 512;

/// Rows of a part at most; threads share parts. Sums are made of the same parts whatever the number of threads.
const ROWS: usize = 1024;

/// Rows of a tile, between two accesses to the sums: the bits of a byte.
const TILE: usize = 8;

/// The first bit of each byte.
const FIRST_BITS: u64 = 0x0101_0101_0101_0101;

/// How far from the threshold a value may be: [`exp_both`] reaches to 700.
const REACH: f64 = 690.0;

/// The room for values, as a multiple of what is expected, or needed.
const ROOM: usize = 4;

/// Columns that have been read.
#[derive(Debug)]
pub(super) struct LooStream {
    samples: usize,
    /// How many of the smallest values are needed.
    count: usize,
    /// The threshold of each block: values up to it are kept, and exponentials are taken about it.
    thresholds: Vec<Lanes>,
    parts: Vec<RowSums>,
}

/// The sums and kept values of some of the rows, block after block.
#[derive(Debug)]
struct RowSums {
    sums: Vec<LaneSums>,
    kept: Vec<Kept>,
}

#[derive(Clone, Copy, Debug)]
struct LaneSums {
    low: Lanes,
    high: Lanes,
    /// `sum exp(l - threshold)`.
    likelihood: Lanes,
    /// `sum exp(threshold - l)` of the values above the threshold.
    weight: Lanes,
}

/// The values of a block that are not above their thresholds, as they come, and the column of each.
#[derive(Debug, Default)]
struct Kept {
    values: Vec<f64>,
    lanes: Vec<u8>,
    /// There was no room for some.
    lost: bool,
}

/// The kept values column by column; its buffer serves many blocks.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    values: Vec<f64>,
    /// Places of a column.
    room: usize,
    counts: [usize; LANES],
}

impl LooStream {
    /// Reads `columns`, as many as fill blocks. None where there are too few draws to have a sample of them.
    pub(super) fn read(columns: &Columns, reff: f64) -> Option<Self> {
        let blocks = columns.count / LANES;
        let samples = columns.values.len() / columns.width;
        let count = nearest(samples, reff);
        let (stride, place) = sample(samples, count)?;
        let thresholds = thresholds(columns, blocks, stride, place);
        let rows = samples.div_ceil(samples.div_ceil(ROWS)).next_multiple_of(TILE);
        let expected = LANES * rows * place * stride / samples;
        let parts = (columns.values.par_chunks(rows * columns.width))
            .map(|values| {
                let mut part = RowSums::new(blocks, expected + expected / 4);
                let rows = Columns { values, ..*columns };
                Arch::new().dispatch(Pass {
                    rows,
                    thresholds: &thresholds,
                    room: ROOM * expected * blocks,
                    part: &mut part,
                });
                part
            })
            .collect();
        Some(Self { samples, count, thresholds, parts })
    }

    /// Returns how many blocks were read.
    pub(super) fn blocks(&self) -> usize {
        self.thresholds.len()
    }

    /// Returns the results for the columns of a block; `None` where a column must be looked at by itself.
    pub(super) fn left(&self, block: usize, gathered: &mut Gathered, tail: &mut Tail) -> [Option<PointwiseLoo>; LANES] {
        let mut sums = LaneSums::NONE;
        gathered.begin(ROOM * self.count);
        for part in &self.parts {
            sums.add(&part.sums[block]);
            gathered.add(&part.kept[block]);
        }
        if self.parts.iter().any(|part| part.kept[block].lost) {
            return [None; LANES];
        }
        std::array::from_fn(|k| {
            let (threshold, low, high) = (self.thresholds[block][k], sums.low[k], sums.high[k]);
            let near = high - threshold < REACH && threshold - low < REACH;
            let smallest = gathered.column(k).filter(|smallest| smallest.len() >= self.count)?;
            // A NaN has made the first sum NaN.
            if !near || !sums.likelihood[k].is_finite() {
                return None;
            }
            tail.fit_smallest((low, high), smallest, self.count);
            let rest = sums.weight[k] * (low - threshold).exp() + tail.untouched();
            Some(PointwiseLoo {
                density: density(tail, self.samples, rest),
                pareto_k: tail.pareto_k,
                log_sum: sums.likelihood[k].ln() + threshold,
            })
        })
    }
}

impl RowSums {
    /// Makes empty sums of `blocks` blocks, with room for what is likely to be kept of each.
    fn new(blocks: usize, likely: usize) -> Self {
        let kept = || Kept { values: Vec::with_capacity(likely), lanes: Vec::with_capacity(likely), lost: false };
        Self { sums: vec![LaneSums::NONE; blocks], kept: std::iter::repeat_with(kept).take(blocks).collect() }
    }
}

impl LaneSums {
    /// The sums of no rows.
    const NONE: Self = Self {
        low: [f64::INFINITY; LANES],
        high: [f64::NEG_INFINITY; LANES],
        likelihood: [0.0; LANES],
        weight: [0.0; LANES],
    };

    fn add(&mut self, other: &Self) {
        for k in 0..LANES {
            self.low[k] = self.low[k].min(other.low[k]);
            self.high[k] = self.high[k].max(other.high[k]);
            self.likelihood[k] += other.likelihood[k];
            self.weight[k] += other.weight[k];
        }
    }
}

impl Gathered {
    fn begin(&mut self, room: usize) {
        (self.room, self.counts) = (room, [0; LANES]);
        self.values.resize(LANES * room, 0.0);
    }

    fn add(&mut self, kept: &Kept) {
        for (&value, &lane) in kept.values.iter().zip(&kept.lanes) {
            let lane = usize::from(lane) % LANES;
            if self.counts[lane] < self.room {
                self.values[lane * self.room + self.counts[lane]] = value;
            }
            self.counts[lane] += 1;
        }
    }

    /// Returns the kept values of a column; `None` where there was not room for all.
    fn column(&self, lane: usize) -> Option<&[f64]> {
        let start = lane * self.room;
        (self.counts[lane] <= self.room).then(|| &self.values[start..start + self.counts[lane]])
    }
}

/// Reads the rows of one part.
struct Pass<'a> {
    rows: Columns<'a>,
    thresholds: &'a [Lanes],
    /// How many values may be kept.
    room: usize,
    part: &'a mut RowSums,
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { rows: Columns { values, width, first, .. }, thresholds, mut room, part } = self;
        let mut tiles = values.chunks(TILE * width).peekable();
        while let Some(tile) = tiles.next() {
            let next = tiles.peek().copied().unwrap_or_default();
            let blocks = thresholds.iter().zip(&mut part.sums).zip(&mut part.kept);
            for (block, ((threshold, sums), kept)) in blocks.enumerate() {
                let column = first + block * LANES;
                // The rows are far from each other: the machine does not guess that they are read side by side.
                for row in next.chunks_exact(width) {
                    prefetch(&row[column + LANES - 1]);
                }
                let LaneSums { mut low, mut high, mut likelihood, mut weight } = *sums;
                let mut few = 0u64;
                for (i, row) in tile.chunks_exact(width).enumerate() {
                    let row = &row[column..column + LANES];
                    let values: Lanes = std::array::from_fn(|k| row[k]);
                    let mut is_kept = [0u8; LANES];
                    for k in 0..LANES {
                        let value = values[k];
                        let [up, down] = exp_both(value - threshold[k]);
                        likelihood[k] = up.fraction.mul_add(up.power, likelihood[k]);
                        let power = if value <= threshold[k] { 0.0 } else { down.power };
                        weight[k] = down.fraction.mul_add(power, weight[k]);
                        low[k] = if value < low[k] { value } else { low[k] };
                        high[k] = if value > high[k] { value } else { high[k] };
                        is_kept[k] = if value <= threshold[k] { u8::MAX } else { 0 };
                    }
                    few |= u64::from_le_bytes(is_kept) & (FIRST_BITS << i);
                }
                *sums = LaneSums { low, high, likelihood, weight };
                // What is kept is rare, and known only late: looked for once in many values.
                while few != 0 {
                    let (lane, i) = (few.trailing_zeros() as usize / TILE, few.trailing_zeros() as usize % TILE);
                    few &= few - 1;
                    if room == 0 {
                        kept.lost = true;
                        break;
                    }
                    room -= 1;
                    kept.values.push(tile[i * width + column + lane]);
                    kept.lanes.push(lane as u8);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LooBuffers, WorkspacePool, leave_one_out, leave_out};
    use super::*;
    use octopus_random::{Purpose, Stream};

    /// Observations of every kind: calm, wild, spread over many powers of ten, tied, constant, drifting, damaged.
    fn matrix(samples: usize, width: usize) -> Vec<f64> {
        let mut random = Stream::new(7, 0, 0, Purpose::User);
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

    /// Compares two codes of this crate, eight observations at once with `leave_one_out` of each; `tests/suite/predictive.rs`
    /// holds both to ArviZ's numbers.
    #[test]
    fn together_or_alone_observations_tell_the_same() {
        for (samples, width, reff) in
            [(8000, 29, 0.9), (2048, 24, 1.0), (1100, 12, 0.4), (700, 12, 1.0), (3000, 5, f64::NAN)]
        {
            let values = matrix(samples, width);
            let columns = Columns { values: &values, width, first: 0, count: width };
            let stream = LooStream::read(&columns, reff);
            assert_eq!(stream.as_ref().map(LooStream::blocks), (samples >= 1024).then_some(width / 8));
            let (mut gathered, mut tail) = (Gathered::default(), Tail::default());
            for (block, stream) in stream.iter().flat_map(|s| (0..s.blocks()).map(move |block| (block, s))) {
                for (lane, left) in stream.left(block, &mut gathered, &mut tail).into_iter().enumerate() {
                    let k = block * LANES + lane;
                    match k % 12 {
                        0 | 4 | 10 | 11 => assert!(left.is_some(), "{k}"),
                        1 | 3 | 5..=8 => assert!(left.is_none(), "{k}"),
                        _ => {}
                    }
                }
            }
            let found = leave_out(&columns, reff, &WorkspacePool::new(LooBuffers::default));
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

    #[test]
    fn where_values_lie_does_not_matter_when_they_are_near_each_other() {
        let mut random = Stream::new(9, 0, 0, Purpose::User);
        for place in [1000.0, -1000.0] {
            let values: Vec<f64> = (0..2048 * LANES).map(|_| place - 0.1 * random.normal().powi(2)).collect();
            let columns = Columns { values: &values, width: LANES, first: 0, count: LANES };
            let stream = LooStream::read(&columns, 1.0).unwrap();
            let left = stream.left(0, &mut Gathered::default(), &mut Tail::default());
            // Of one in a thousand columns the sample says too little.
            assert!(left.iter().flatten().count() > LANES / 2, "{place}: {left:?}");
        }
    }

    #[test]
    fn a_column_without_room_leaves_its_neighbour_alone() {
        let mut gathered = Gathered::default();
        gathered.begin(2);
        gathered.add(&Kept { values: vec![7.0, 1.0, 2.0, 3.0, 8.0], lanes: vec![1, 0, 0, 0, 7], lost: false });
        let found = [0, 1, 2, 7].map(|lane| gathered.column(lane).map(<[f64]>::to_vec));
        assert_eq!(found, [None, Some(vec![7.0]), Some(vec![]), Some(vec![8.0])]);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let values = [-1.0; 16 * LANES];
        let rows = Columns { values: &values, width: LANES, first: 0, count: LANES };
        let mut part = RowSums::new(1, 0);
        Arch::new().dispatch(Pass { rows, thresholds: &[[0.0; LANES]], room: 5, part: &mut part });
        assert!(part.kept[0].lost && part.kept[0].values == [-1.0; 5] && part.kept[0].lanes == [0; 5]);
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let (samples, width) = (5000, 600);
        let values = matrix(samples, width);
        let columns = Columns { values: &values, width, first: 0, count: width };
        let with = |threads| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = threads.install(|| leave_out(&columns, 0.9, &WorkspacePool::new(LooBuffers::default)));
            found
                .iter()
                .flat_map(|left| [left.density, left.pareto_k, left.log_sum].map(f64::to_bits))
                .collect::<Vec<_>>()
        };
        let one = with(1);
        assert_eq!(one.len(), 3 * width);
        assert!(one == with(2) && one == with(7));
    }

    /// Values may be 690 away from the threshold; farther ones are looked at one by one.
    #[test]
    fn values_beyond_the_reach_of_exponentials_are_left() {
        let mut random = Stream::new(10, 0, 0, Purpose::User);
        let far = [0.0, 100.0, 650.0, 720.0, 900.0, 1200.0, 1390.0, 1500.0];
        let (samples, width) = (2048, LANES);
        let mut values: Vec<f64> = (0..samples * width).map(|_| -0.1 * random.normal().powi(2)).collect();
        // One value far above all others in each column.
        far.iter().enumerate().for_each(|(k, far)| values[(3 * k + 1) * width + k] = *far);
        let columns = Columns { values: &values, width, first: 0, count: width };
        let stream = LooStream::read(&columns, 1.0).unwrap();
        let left = stream.left(0, &mut Gathered::default(), &mut Tail::default());
        assert!(left[3..].iter().all(Option::is_none) && left[..3].iter().flatten().count() > 0, "{left:?}");
        let found = leave_out(&columns, 1.0, &WorkspacePool::new(LooBuffers::default));
        for (k, found) in found.into_iter().enumerate() {
            let column: Vec<f64> = values.iter().skip(k).step_by(width).copied().collect();
            let expected = leave_one_out(&mut Tail::default(), &column, 1.0);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * b.abs().max(1.0);
            assert!(near(found.density, expected.density) && near(found.log_sum, expected.log_sum), "{k}: {found:?}");
        }
    }
}
