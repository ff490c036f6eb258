//! Where the scales of hierarchical blocks have been in a window, and the centering that suits all of these places.

use crate::draw::ChainBlock;
use crate::settled::rhat_of_sums;
use octopus_density::Hierarchy;
use octopus_random::exact;
use serde::{Deserialize, Serialize};

/// Chains disagree about a scale when R-hat of its logarithm is above this and their means differ by more than
/// [`FAR`]: a chain that is merely slow has one of the two, a chain that is lost has both.
const DISAGREE: f64 = 2.0;
/// A factor of 20 between the scales of two chains.
const FAR: f64 = 3.0;

/// The scales of all hierarchical blocks in the draws of the open window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScaleWindow {
    /// Draws of each chain.
    draws: usize,
    /// One for each block.
    blocks: Vec<ScaleSums>,
}

/// The logarithm of one block's scale: its extremes over all chains, and sums for each chain in order of its draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ScaleSums {
    lowest: f64,
    highest: f64,
    logs: Vec<f64>,
    squared_logs: Vec<f64>,
    squared_scales: Vec<f64>,
}

/// What a window says about a block's scale `s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScaleRange {
    /// The smallest and the largest `log s` of all draws.
    pub(crate) log: (f64, f64),
    /// The mean of `s^2`.
    pub(crate) mean_square: f64,
    /// Whether the chains are at places that have nothing to do with each other.
    pub(crate) disputed: bool,
}

impl ScaleSums {
    fn new(chains: usize) -> Self {
        let zeros = vec![0.0; chains];
        Self {
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
            logs: zeros.clone(),
            squared_logs: zeros.clone(),
            squared_scales: zeros,
        }
    }

    fn add(&mut self, chain: usize, log_scale: f64) {
        self.lowest = self.lowest.min(log_scale);
        self.highest = self.highest.max(log_scale);
        self.logs[chain] += log_scale;
        self.squared_logs[chain] += log_scale * log_scale;
        self.squared_scales[chain] += exact::exp(2.0 * log_scale);
    }

    fn range(&self, draws: usize) -> ScaleRange {
        let n = draws as f64;
        let means = || self.logs.iter().map(|sum| sum / n);
        let spread = means().fold(f64::NEG_INFINITY, f64::max) - means().fold(f64::INFINITY, f64::min);
        let disputed = spread > FAR && rhat_of_sums(&self.logs, &self.squared_logs, draws) > DISAGREE;
        let mean_square = self.squared_scales.iter().sum::<f64>() / (self.squared_scales.len() as f64 * n);
        ScaleRange { log: (self.lowest, self.highest), mean_square, disputed }
    }
}

impl ScaleWindow {
    /// An empty window of so many chains.
    pub(crate) fn new(blocks: usize, chains: usize) -> Self {
        Self { draws: 0, blocks: vec![ScaleSums::new(chains); blocks] }
    }

    /// Adds what the chains have drawn, but for the first `skip` draws of each; positions are the density's own.
    pub(crate) fn add(&mut self, hierarchies: &[Hierarchy], chains: &[ChainBlock], dim: usize, skip: usize) {
        for (hierarchy, sums) in hierarchies.iter().zip(&mut self.blocks) {
            for (number, chain) in chains.iter().enumerate() {
                for position in chain.positions.chunks_exact(dim).skip(skip) {
                    sums.add(number, position[hierarchy.log_scale]);
                }
            }
        }
        self.draws += chains.first().map_or(0, |chain| (chain.positions.len() / dim).saturating_sub(skip));
    }

    /// The range of each block's scale, once there are draws.
    pub(crate) fn ranges(&self) -> Vec<ScaleRange> {
        self.blocks.iter().map(|sums| sums.range(self.draws)).collect()
    }

    /// For how many blocks and chains it was made, which a checkpoint must agree with.
    pub(crate) fn is_of(&self, blocks: usize, chains: usize) -> bool {
        let of_chains = |sums: &ScaleSums| {
            [&sums.logs, &sums.squared_logs, &sums.squared_scales].iter().all(|sums| sums.len() == chains)
        };
        self.blocks.len() == blocks && self.blocks.iter().all(of_chains)
    }
}

impl ScaleRange {
    /// The centering of an effect whose gradient has variance `precision` in non-centered coordinates.
    ///
    /// By Fisher's identity `precision = 1 + I`, with `I` the mean of what the data say about the effect in units of its
    /// prior precision, which grows with the square of the scale: `I(s) = c s^2`. At scale `s` the effect's conditional
    /// width in coordinates centered by lambda is `s^lambda / sqrt(1 + c s^2)`. Where the scale hardly varies, the width is
    /// constant for lambda = I / (1 + I), the data's share (Papaspiliopoulos, Roberts and Skoeld 2007). Where it does, this
    /// is the mean share over the range of `log s`, and that lambda makes the width the same at both ends: neither the
    /// narrow neck of a funnel at small scales nor that of its mirror image at large ones is narrower than the other.
    /// So no draw of the window is where coordinates are stiffer than non-centered ones are somewhere in the range.
    ///
    /// While chains dispute the scale the answer is 0: in non-centered coordinates a chain can leave the neck.
    pub(crate) fn lambda(&self, precision: f64) -> f64 {
        /// A range of logarithms that is as good as a point.
        const POINT: f64 = 1e-3;
        let (low, high) = self.log;
        let information = precision - 1.0;
        if self.disputed || !(information > 0.0 && self.mean_square > 0.0) {
            return 0.0;
        }
        let at = |log_scale: f64| information / self.mean_square * exact::exp(2.0 * log_scale);
        if high - low < POINT {
            let share = 1.0 / (1.0 + 1.0 / at(0.5 * (low + high)));
            return if share.is_finite() { share } else { 0.0 };
        }
        let half_log = |information: f64| 0.5 * exact::ln(1.0 + information);
        let lambda = (half_log(at(high)) - half_log(at(low))) / (high - low);
        // Scales whose squares are no numbers: a chain is lost there, and needs coordinates that it can leave.
        if lambda.is_finite() { lambda.clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIERARCHY: Hierarchy = Hierarchy { location: 0, log_scale: 1, z: 2..3 };

    /// Draws of chains whose log scales are these; the other coordinates are of no interest.
    fn chains(log_scales: &[&[f64]]) -> Vec<ChainBlock> {
        let positions = |log_scales: &&[f64]| log_scales.iter().flat_map(|&log_scale| [7.0, log_scale, -7.0]).collect();
        log_scales.iter().map(|own| ChainBlock { positions: positions(own), stats: Vec::new() }).collect()
    }

    fn range(log_scales: &[&[f64]]) -> ScaleRange {
        let mut window = ScaleWindow::new(1, log_scales.len());
        window.add(&[HIERARCHY], &chains(log_scales), 3, 0);
        window.ranges()[0]
    }

    /// At one scale it is the data's share, for few data and for many.
    #[test]
    fn a_scale_that_stays_gives_the_share_of_the_data() {
        for log_scale in [-7.0, 0.0, 2.3] {
            let range = range(&[&[log_scale; 4], &[log_scale; 4]]);
            for information in [0.01, 1.0, 250.0] {
                let share = information / (1.0 + information);
                assert!((range.lambda(1.0 + information) - share).abs() < 1e-9, "{log_scale}");
            }
            assert_eq!((range.lambda(1.0), range.lambda(0.7)), (0.0, 0.0));
        }
    }

    /// The width s^lambda / sqrt(1 + c s^2) is the same at both ends of the range.
    #[test]
    fn both_ends_of_the_range_are_equally_wide() {
        for (low, high) in [(-1.0, 2.0), (-70.0, 2.0), (1.0, 1.1)] {
            let range = ScaleRange { log: (low, high), mean_square: 3.0, disputed: false };
            for precision in [1.5, 3.0, 300.0] {
                let lambda = range.lambda(precision);
                let c = (precision - 1.0) / 3.0;
                let width = |log_scale: f64| lambda * log_scale - 0.5 * (c * (2.0 * log_scale).exp()).ln_1p();
                assert!((width(low) - width(high)).abs() < 1e-9, "{low} {high} {precision}: {lambda}");
                assert!((0.0..=1.0).contains(&lambda));
            }
        }
    }

    /// Chains apart by more than a factor of 20, beyond what either covers, dispute the scale; nothing less does.
    #[test]
    fn a_lost_chain_disputes_the_scale() {
        let own = [2.2, 2.3, 2.4, 2.3];
        let lost: Vec<f64> = own.iter().map(|log_scale| log_scale - 3.1).collect();
        let near: Vec<f64> = own.iter().map(|log_scale| log_scale - 2.9).collect();
        assert!(range(&[&own, &own, &lost]).disputed);
        assert_eq!(range(&[&own, &own, &lost]).lambda(200.0), 0.0);
        assert!(!range(&[&own, &own, &near]).disputed);
        // Chains that all wander as far as they are apart.
        assert!(!range(&[&[-4.0, 4.0, -4.0, 4.0, -4.0], &[4.0, -4.0, 4.0, 4.0, 4.0]]).disputed);
        assert!(!range(&[&lost]).disputed, "one chain has nobody to differ from");
    }

    /// Scales beyond all numbers, as a chain that is thrown far up may have: never a lambda that is none.
    #[test]
    fn scales_that_overflow_are_not_centered() {
        for own in [[400.0, 401.0, 402.0], [-800.0, 2.0, 400.0], [700.0, 700.0, 700.0]] {
            let lambda = range(&[&own, &own]).lambda(300.0);
            assert!((0.0..=1.0).contains(&lambda), "{own:?}: {lambda}");
        }
    }

    /// Whatever the cut into blocks, and without the draws before the window.
    #[test]
    fn blocks_may_be_cut_anywhere() {
        let all: [&[f64]; 2] = [&[9.0, 0.1, 0.2, 0.3], &[9.0, 0.4, 0.5, 0.7]];
        let mut whole = ScaleWindow::new(1, 2);
        whole.add(&[HIERARCHY], &chains(&all), 3, 1);
        let mut cut = ScaleWindow::new(1, 2);
        cut.add(&[HIERARCHY], &chains(&all.map(|own| &own[..2])), 3, 1);
        cut.add(&[HIERARCHY], &chains(&all.map(|own| &own[2..])), 3, 0);
        assert_eq!(whole, cut);
        let range = whole.ranges()[0];
        assert_eq!(range.log, (0.1, 0.7));
        let mean = [0.1, 0.2, 0.3, 0.4, 0.5, 0.7].iter().map(|x: &f64| (2.0 * x).exp()).sum::<f64>() / 6.0;
        assert!((range.mean_square - mean).abs() < 1e-12);
        assert!(whole.is_of(1, 2) && !whole.is_of(1, 3) && !whole.is_of(2, 2));
    }
}
