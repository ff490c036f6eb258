//! The mean length of trajectories, learned from all chains by climbing a criterion.
//!
//! Each draw of warm-up estimates the criterion's slope, which is 0 at the length that is sought: ChEES-HMC's is of the change
//! of the estimator of the expected square (Hoffman, Radul and Sountsov 2021), MAMS' stands in `kernel/mams.rs`. A round of
//! a few iterations adds its slopes up, and Adam (Kingma and Ba 2015) makes one step on the logarithm of the length.

use crate::draw::ChainBlock;
use octopus_random::exact;
use serde::{Deserialize, Serialize};

/// Iterations of a round.
const ROUND: usize = 4;
/// Adam's rate, and the weights of what it remembers of slopes and their squares. The weight of squares forgets fast, as in
/// the paper: slopes are far larger while chains are on their way.
const RATE: f64 = 0.05;
const BETA: (f64, f64) = (0.9, 0.95);
/// The most rounds whose points make the middle of the chains.
const REMEMBERED: u32 = 50;
/// Bounds of the length relative to the one it began with.
const RANGE: (f64, f64) = (1.0 / 32.0, 32.0);

/// The length, and what the open round has seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrajectoryLength {
    first: f64,
    log_length: f64,
    /// Adam's memory of slopes and of their squares, and its number of steps.
    slope: f64,
    square: f64,
    steps: u32,
    /// The slopes of the open round, for each chain in order of its draws.
    open: Vec<f64>,
    /// The middle of the chains in the sampler's coordinates, and the rounds that it was made of.
    center: Vec<f64>,
    rounds: u32,
}

impl TrajectoryLength {
    /// Begins with this length.
    pub(crate) fn new(first: f64) -> Self {
        Self {
            first,
            log_length: exact::ln(first),
            slope: 0.0,
            square: 0.0,
            steps: 0,
            open: Vec::new(),
            center: Vec::new(),
            rounds: 0,
        }
    }

    /// Returns the mean length of trajectories.
    pub(crate) fn current(&self) -> f64 {
        exact::exp(self.log_length)
    }

    /// Returns the middle of the chains, about which draws tell slopes; `None` before the first round.
    pub(crate) fn center(&self) -> Option<&[f64]> {
        (self.rounds > 0).then_some(self.center.as_slice())
    }

    /// Returns the iteration at which the round that is open after `done` ends.
    pub(crate) fn round_end(done: usize) -> usize {
        (done / ROUND + 1) * ROUND
    }

    /// Adds what the chains have drawn.
    pub(crate) fn add(&mut self, blocks: &[ChainBlock]) {
        self.open.resize(blocks.len(), 0.0);
        for (sum, block) in self.open.iter_mut().zip(blocks) {
            block.stats.iter().for_each(|draw| *sum += draw.length_slope);
        }
    }

    /// Ends a round after which the chains stand at these points.
    pub(crate) fn learn(&mut self, points: &[&[f64]]) {
        let slope: f64 = self.open.iter().sum();
        if slope != 0.0 && slope.is_finite() {
            self.climb(slope);
        }
        self.open.fill(0.0);
        self.move_center(points);
    }

    fn climb(&mut self, slope: f64) {
        self.steps += 1;
        self.slope = BETA.0 * self.slope + (1.0 - BETA.0) * slope;
        self.square = BETA.1 * self.square + (1.0 - BETA.1) * slope * slope;
        let unbiased = |value: f64, beta: f64| value / (1.0 - exact::exp(f64::from(self.steps) * exact::ln(beta)));
        let change = RATE * unbiased(self.slope, BETA.0) / unbiased(self.square, BETA.1).sqrt();
        let (least, most) = (exact::ln(RANGE.0 * self.first), exact::ln(RANGE.1 * self.first));
        self.log_length = (self.log_length + change).clamp(least, most);
    }

    fn move_center(&mut self, points: &[&[f64]]) {
        let Some(first) = points.first() else { return };
        self.center.resize(first.len(), 0.0);
        self.rounds = (self.rounds + 1).min(REMEMBERED);
        let share = 1.0 / f64::from(self.rounds);
        for (i, center) in self.center.iter_mut().enumerate() {
            let mean = points.iter().map(|x| x[i]).sum::<f64>() / points.len() as f64;
            *center += share * (mean - *center);
        }
    }

    /// Forgets the middle of the chains: coordinates have changed.
    pub(crate) fn forget_center(&mut self) {
        (self.rounds, self.slope, self.square, self.steps) = (0, 0.0, 0.0, 0);
        self.center.clear();
        self.open.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::DrawStats;

    fn round(length: &mut TrajectoryLength, slopes: &[f64]) {
        let block = |&length_slope| ChainBlock {
            positions: vec![],
            stats: vec![DrawStats { length_slope, ..DrawStats::default() }],
        };
        length.add(&slopes.iter().map(block).collect::<Vec<_>>());
        length.learn(&[&[1.0, 3.0], &[3.0, 5.0]]);
    }

    /// A criterion whose maximum is at 2.5 is climbed from below and from above, whatever its scale.
    #[test]
    fn the_maximum_is_found() {
        for (first, scale) in [(0.5, 1.0), (9.0, 1e-8), (2.5, 1e12)] {
            let mut length = TrajectoryLength::new(first);
            for number in 0..400 {
                let noise = if number % 2 == 0 { 0.3 } else { -0.3 };
                let slope = scale * ((2.5 / length.current()).ln() + noise);
                round(&mut length, &[0.25 * slope, 0.75 * slope]);
            }
            assert!((length.current() / 2.5 - 1.0).abs() < 0.1, "{first}: {}", length.current());
        }
    }

    #[test]
    fn lengths_keep_to_their_range_and_nothing_is_learned_from_nothing() {
        let mut length = TrajectoryLength::new(2.0);
        for slope in [0.0, f64::NAN, f64::INFINITY] {
            round(&mut length, &[slope]);
            assert!((length.current() - 2.0).abs() < 1e-12);
        }
        for (slope, bound) in [(1.0, 64.0), (-1.0, 1.0 / 16.0)] {
            (0..400).for_each(|_| round(&mut length, &[slope]));
            assert!((length.current() / bound - 1.0).abs() < 1e-12, "{}", length.current());
        }
    }

    #[test]
    fn the_center_is_the_mean_of_the_rounds() {
        let mut length = TrajectoryLength::new(1.0);
        assert_eq!(length.center(), None);
        round(&mut length, &[0.0]);
        length.learn(&[&[5.0, 10.0]]);
        assert_eq!(length.center(), Some(&[3.5, 7.0][..]));
        length.forget_center();
        assert_eq!(length.center(), None);
        assert_eq!(
            (TrajectoryLength::round_end(0), TrajectoryLength::round_end(3), TrajectoryLength::round_end(4)),
            (4, 4, 8)
        );
    }
}
