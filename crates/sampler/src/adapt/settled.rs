//! Whether warm-up of chains that learn together has settled, so that it ends early.
//!
//! It has when the chains of two windows in a row agree and the variances that they give differ little from the metric in
//! use. This file has both limits.

use super::f_quantile;
use crate::draw::ChainBlock;
use crate::kernel::MetricEstimate;
use serde::{Deserialize, Serialize};

/// R-hat of a window's draws by many short chains: far above what the draws' autocorrelation makes of it, far below that
/// of chains that are still on their way.
const RHAT: f64 = 1.2;
/// R-hat of a window's draws by chains that all learn. Slow chains have a larger one, and learn longer.
const RHAT_OF_ALL: f64 = 1.05;
/// The share of windows of independent draws whose largest R-hat may be larger than allowed.
const MISSED: f64 = 0.01;
/// The logarithms of variances may change by this much from one window to the next, in the mean square and at the most.
/// A variance that is wrong by a factor shortens the step size by the factor's square root.
const VARIANCE_CHANGE: (f64, f64) = (0.15, 0.7);

/// Sums over the draws of a window, for each chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WindowVariance {
    dim: usize,
    /// Draws of each chain.
    draws: usize,
    /// The first draw of the first chain: sums are of differences from it, so that they do not cancel.
    origin: Vec<f64>,
    /// `chains x dim`.
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl WindowVariance {
    /// Makes the sums of an empty window.
    pub(crate) fn new(chains: usize, dim: usize) -> Self {
        let sums = vec![0.0; chains * dim];
        Self { dim, draws: 0, origin: Vec::new(), squares: sums.clone(), sums }
    }

    /// Adds what the chains have drawn, but for the first `skip` draws of each.
    pub(crate) fn add(&mut self, blocks: &[ChainBlock], skip: usize) {
        let dim = self.dim;
        let kept = |block: &'_ ChainBlock| block.positions.chunks_exact(dim).skip(skip).count();
        let Some(first) = blocks.first().filter(|block| kept(block) > 0) else { return };
        if self.origin.is_empty() {
            self.origin = first.positions[skip * dim..][..dim].to_vec();
        }
        let rows = self.sums.chunks_exact_mut(dim).zip(self.squares.chunks_exact_mut(dim));
        for (block, (sums, squares)) in blocks.iter().zip(rows) {
            for draw in block.positions.chunks_exact(dim).skip(skip) {
                for (i, (x, origin)) in draw.iter().zip(&self.origin).enumerate() {
                    let difference = x - origin;
                    sums[i] += difference;
                    squares[i] += difference * difference;
                }
            }
        }
        self.draws += kept(first);
    }

    /// Returns the largest R-hat (Gelman and Rubin 1992) of all coordinates; NaN for fewer than two chains or draws.
    pub(crate) fn largest_rhat(&self) -> f64 {
        let rhat = |i: usize| {
            let column = |sums: &'_ [f64]| -> Vec<f64> { sums.iter().skip(i).step_by(self.dim).copied().collect() };
            rhat_of_sums(&column(&self.sums), &column(&self.squares), self.draws)
        };
        (0..self.dim).map(rhat).fold(f64::NEG_INFINITY, |largest, rhat| if rhat <= largest { largest } else { rhat })
    }

    /// Returns whether the window's chains agree: no coordinate's R-hat reaches 1.2.
    pub(crate) fn agrees(&self) -> bool {
        self.largest_rhat() < RHAT
    }

    /// Returns whether the window's chains agree as those do that mix well: no coordinate's R-hat reaches 1.05, or what
    /// chance makes of independent draws, which with few draws of many coordinates is more.
    pub(crate) fn agrees_closely(&self) -> bool {
        let (chains, n) = ((self.sums.len() / self.dim) as f64, self.draws as f64);
        let f = f_quantile(MISSED / self.dim as f64, chains - 1.0, chains * (n - 1.0));
        // A few draws may agree or differ by chance: they settle nothing.
        let chance = if f.is_finite() { ((n - 1.0 + f) / n).sqrt() } else { 0.0 };
        self.largest_rhat() < RHAT_OF_ALL.max(chance)
    }

    /// Returns whether the sums were made for `chains` chains of `dim` coordinates; a checkpoint must agree.
    pub(crate) fn is_of(&self, chains: usize, dim: usize) -> bool {
        let len = chains * dim;
        self.dim == dim && [&self.sums, &self.squares].iter().all(|sums| sums.len() == len)
    }
}

/// Returns R-hat (Gelman and Rubin 1992) of `draws` draws of each chain, from each chain's sum and sum of squares; NaN
/// for fewer than two chains or draws.
fn rhat_of_sums(sums: &[f64], squares: &[f64], draws: usize) -> f64 {
    let (chains, n) = (sums.len() as f64, draws as f64);
    let mean = sums.iter().sum::<f64>() / (n * chains);
    let between = sums.iter().map(|sum| (sum / n - mean) * (sum / n - mean)).sum::<f64>() / (chains - 1.0);
    let within = sums.iter().zip(squares).map(|(sum, square)| square - sum * sum / n).sum::<f64>();
    let within = within / (chains * (n - 1.0));
    (between / within + (n - 1.0) / n).sqrt()
}

/// Returns whether two metrics are alike, so that the next window need not be waited for.
pub(crate) fn are_alike(old: &MetricEstimate, new: &MetricEstimate) -> bool {
    let changes = changes(old, new);
    let mean_square = changes.iter().map(|change| change * change).sum::<f64>() / changes.len() as f64;
    let (typical, most) = VARIANCE_CHANGE;
    mean_square.sqrt() < typical && changes.iter().all(|change| change.abs() < most)
}

/// Returns how much the logarithms of variances differ between two metrics: the variances of the coordinates, and those
/// along each direction that stands out in either metric.
fn changes(old: &MetricEstimate, new: &MetricEstimate) -> Vec<f64> {
    let dim = new.diagonal.len();
    let axes = (0..dim).map(|i| {
        let variance = |metric: &MetricEstimate| {
            let along = metric.directions.iter().zip(&metric.variances).map(|(u, v)| (v - 1.0) * u[i] * u[i]);
            metric.diagonal[i] * (1.0 + along.sum::<f64>())
        };
        (variance(new) / variance(old)).ln()
    });
    let directions = [old, new].into_iter().flat_map(|metric| {
        metric.directions.iter().map(|u| {
            let functional: Vec<f64> = u.iter().zip(&metric.diagonal).map(|(u, d)| u / d.sqrt()).collect();
            (variance_of(new, &functional) / variance_of(old, &functional)).ln()
        })
    });
    axes.chain(directions).collect()
}

/// Returns the variance of `a x` under a metric: with b = D^1/2 a it is b b + sum over directions of (v - 1) (u b)^2.
fn variance_of(metric: &MetricEstimate, a: &[f64]) -> f64 {
    let b: Vec<f64> = a.iter().zip(&metric.diagonal).map(|(a, d)| a * d.sqrt()).collect();
    let dot = |u: &[f64]| u.iter().zip(&b).map(|(u, b)| u * b).sum::<f64>();
    let along = metric.directions.iter().zip(&metric.variances).map(|(u, v)| (v - 1.0) * dot(u) * dot(u));
    dot(&b) + along.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    fn blocks(values: [&[f64]; 2]) -> Vec<ChainBlock> {
        // A second coordinate, so that rows and columns cannot be mixed up.
        let positions = |values: &[f64]| values.iter().flat_map(|&x| [x, 5.0]).collect();
        values.map(|values| ChainBlock { positions: positions(values), stats: Vec::new() }).to_vec()
    }

    /// A window of four chains with independent standard normal draws, `apart` between one chain's mean and the next.
    fn window(dim: usize, draws: usize, apart: f64, seed: u64) -> WindowVariance {
        let mut window = WindowVariance::new(4, dim);
        let chains: Vec<ChainBlock> = (0..4)
            .map(|chain| {
                let mut random = Stream::new(seed, chain, 0, Purpose::User);
                let positions = (0..dim * draws).map(|_| random.normal() + apart * f64::from(chain)).collect();
                ChainBlock { positions, stats: Vec::new() }
            })
            .collect();
        window.add(&chains, 0);
        window
    }

    /// Independent draws agree, however many coordinates and however few draws they have: one window of a hundred may not.
    /// The limit of 1.05 counts where there are many draws: an R-hat of 1.03 agrees, and one of 1.07 does not.
    #[test]
    fn chains_that_mix_well_agree_closely() {
        for (dim, draws) in [(1, 15), (10, 30), (103, 60), (1003, 15)] {
            let agree = (0..200).filter(|&seed| window(dim, draws, 0.0, seed).agrees_closely()).count();
            assert!(agree >= 194, "{agree} of 200 windows of {draws} draws, {dim} coordinates");
        }
        // R-hat^2 is about 1 + 5/3 apart^2, since the means 0, 1, 2 and 3 have that variance.
        for (rhat, agrees) in [(1.03_f64, true), (1.07, false)] {
            let apart = ((rhat * rhat - 1.0) * 3.0 / 5.0).sqrt();
            let window = window(3, 4000, apart, 1);
            assert!((window.largest_rhat() - rhat).abs() < 0.01, "{}", window.largest_rhat());
            assert_eq!(window.agrees_closely(), agrees, "R-hat {rhat}");
            assert!(window.agrees(), "as many short chains do");
        }
        // What 60 draws of 1003 coordinates make of chance is more than 1.05, and less than chains that are apart.
        assert!(window(1003, 60, 0.0, 2).largest_rhat() > 1.04 && !window(1003, 60, 0.5, 2).agrees_closely());
        assert!(!window(1003, 2, 5.0, 1).agrees_closely(), "two draws of each chain are too few to be believed");
    }

    /// Means 2 and 4, variances 1 and 1: R-hat^2 = (2 + 2 / 3) / 1. Whatever the cut into blocks.
    #[test]
    fn rhat_by_hand() {
        let mut spread = WindowVariance::new(2, 2);
        spread.add(&blocks([&[-7.0, 1.0, 2.0], &[70.0, 3.0, 4.0]]), 1);
        spread.add(&blocks([&[3.0], &[5.0]]), 0);
        spread.add(&blocks([&[3.0], &[5.0]]), 1);
        assert!(spread.largest_rhat().is_nan(), "the second coordinate has no variance");
        spread.dim = 1;
        let of_first = |sums: &[f64]| sums.iter().step_by(2).copied().collect::<Vec<f64>>();
        (spread.sums, spread.squares) = (of_first(&spread.sums), of_first(&spread.squares));
        assert!((spread.largest_rhat() - (8.0f64 / 3.0).sqrt()).abs() < 1e-14);
        assert!(!spread.agrees());
    }

    /// Chains `-1 + d, 1 + d` and `-1 - d, 1 - d` have variances of 2, their means one of 2 d^2: R-hat^2 = d^2 + 1 / 2.
    #[test]
    fn chains_agree_below_an_rhat_of_1_2() {
        for (rhat, agree) in [(0.75, true), (1.19, true), (1.21, false), (2.0, false)] {
            let d = f64::sqrt(rhat * rhat - 0.5);
            let mut window = WindowVariance::new(2, 1);
            let chain = |d: f64| ChainBlock { positions: vec![d - 1.0, d + 1.0], stats: Vec::new() };
            window.add(&[chain(d), chain(-d)], 0);
            assert!((window.largest_rhat() - rhat).abs() < 1e-14);
            assert_eq!(window.agrees(), agree, "{rhat}");
        }
    }

    /// All logarithms of variances change by the same, or one of a hundred does.
    #[test]
    fn metrics_are_alike_below_changes_of_0_15_and_0_7() {
        let old = metric(&[1.0; 100], &[]);
        let changed = |some: usize, by: f64| {
            let new: Vec<f64> = (0..100).map(|i| if i < some { by.exp() } else { 1.0 }).collect();
            are_alike(&old, &metric(&new, &[]))
        };
        for (some, limit) in [(100, 0.15), (1, 0.7)] {
            for sign in [-1.0, 1.0] {
                assert!(changed(some, sign * 0.99 * limit) && !changed(some, sign * 1.01 * limit), "{some} {sign}");
            }
        }
    }

    fn metric(diagonal: &[f64], directions: &[(&[f64], f64)]) -> MetricEstimate {
        let (directions, variances) = directions.iter().map(|(u, v)| (u.to_vec(), *v)).unzip();
        MetricEstimate { diagonal: diagonal.to_vec(), directions, variances }
    }

    #[test]
    fn changes_of_any_part_are_seen() {
        let old = metric(&[1.0, 4.0, 9.0], &[]);
        assert!(are_alike(&old, &metric(&[1.1, 3.8, 9.0], &[])));
        assert!(!are_alike(&old, &metric(&[1.0, 4.0, 20.0], &[])));
        let u: &[f64] = &[0.6, 0.8, 0.0];
        let spiked = metric(&[1.0, 4.0, 9.0], &[(u, 200.0)]);
        assert!(!are_alike(&old, &spiked) && !are_alike(&spiked, &old));
        assert!(are_alike(&spiked, &metric(&[1.0, 4.0, 9.0], &[(u, 210.0)])));
        let other: &[f64] = &[0.8, -0.6, 0.0];
        assert!(!are_alike(&spiked, &metric(&[1.0, 4.0, 9.0], &[(other, 200.0)])));
    }

    /// Sigma = D^1/2 (I + (v - 1) u u^T) D^1/2 multiplied out.
    #[test]
    fn variances_along_any_line() {
        let metric = metric(&[1.0, 4.0], &[(&[0.6, 0.8], 11.0)]);
        let sigma = [[1.0 + 3.6, 2.0 * 4.8], [2.0 * 4.8, 4.0 * (1.0 + 6.4)]];
        for a in [[1.0, 0.0], [0.0, 1.0], [0.3, -2.0]] {
            let product: f64 =
                (0..2).flat_map(|i| (0..2).map(move |j| (i, j))).map(|(i, j)| a[i] * sigma[i][j] * a[j]).sum();
            assert!((variance_of(&metric, &a) / product - 1.0).abs() < 1e-12);
        }
    }

    /// The logarithms of variances of coordinates and along directions, of covariances multiplied out.
    #[test]
    fn changes_are_those_of_dense_covariances() {
        let (u, v): (&[f64], &[f64]) = (&[0.6, 0.8, 0.0], &[-0.48, 0.36, 0.8]);
        let old = metric(&[1.0, 4.0, 0.25], &[(u, 11.0)]);
        let new = metric(&[1.5, 3.0, 0.3], &[(u, 9.0), (v, 0.2)]);
        let variance = |metric: &MetricEstimate, a: &[f64]| -> f64 {
            let entry = |i: usize, j: usize| -> f64 {
                let spikes = metric.directions.iter().zip(&metric.variances).map(|(u, l)| (l - 1.0) * u[i] * u[j]);
                let inner = f64::from(u8::from(i == j)) + spikes.sum::<f64>();
                (metric.diagonal[i] * metric.diagonal[j]).sqrt() * inner
            };
            (0..9).map(|k| a[k / 3] * entry(k / 3, k % 3) * a[k % 3]).sum()
        };
        let along = |u: &[f64], metric: &MetricEstimate| -> Vec<f64> {
            (0..3).map(|i| u[i] / metric.diagonal[i].sqrt()).collect()
        };
        let axis = |i: usize| (0..3).map(|j| f64::from(u8::from(i == j))).collect();
        let lines: [Vec<f64>; 6] = [axis(0), axis(1), axis(2), along(u, &old), along(u, &new), along(v, &new)];
        let found = changes(&old, &new);
        assert_eq!(found.len(), 6);
        for (found, line) in found.iter().zip(&lines) {
            let expected = (variance(&new, line) / variance(&old, line)).ln();
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
    }

    /// Three chains of four draws, of which the first of each is left out; by Python's statistics.
    #[test]
    fn rhat_is_of_the_draws_that_are_kept() {
        let mut window = WindowVariance::new(3, 1);
        let chain = |draws: [f64; 4]| ChainBlock { positions: draws.to_vec(), stats: Vec::new() };
        window.add(&[chain([90.0, 1.0, 4.0, 2.0]), chain([9.0, 3.0, 5.0, 6.0]), chain([0.0, 2.0, 2.0, 5.0])], 1);
        assert!((window.largest_rhat() - 1.1099027245533792).abs() < 1e-14, "{}", window.largest_rhat());
        // A block of which nothing is kept changes nothing.
        let before = window.clone();
        window.add(&[chain([7.0; 4]), chain([8.0; 4]), chain([9.0; 4])], 4);
        assert_eq!(window, before);
    }
}
