//! One step size for many chains: each round of iterations brings it nearer to the target of acceptance.

use crate::draw::ChainBlock;
use octopus_random::exact;
use serde::{Deserialize, Serialize};

/// Bounds of the factor by which one round may change the share of rejections: a step that is far too short says little
/// about how long it may be.
const RATIO: (f64, f64) = (1.0 / 16.0, 4.0);
/// Rounds that are believed; of later ones, an equal share of all is.
const BELIEVED: u32 = 3;

/// The step size, and what the open round has seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PooledStep {
    log_step: f64,
    /// Rounds since the step was found anew.
    rounds: u32,
    /// For each chain the sum of its acceptance probabilities in the open round, in order of its draws.
    acceptance: Vec<f64>,
    /// Draws of each chain in the open round.
    draws: usize,
}

impl PooledStep {
    /// Makes the state for `chains` chains; [`find`](Self::find) finds the first step.
    pub(crate) fn new(chains: usize) -> Self {
        Self { log_step: 0.0, rounds: 0, acceptance: vec![0.0; chains], draws: 0 }
    }

    /// Begins anew with the geometric mean of what the chains have found each for itself.
    pub(crate) fn find(&mut self, steps: &[f64]) {
        self.log_step = steps.iter().map(|&step| exact::ln(step)).sum::<f64>() / steps.len() as f64;
        self.rounds = 0;
        self.open();
    }

    /// Goes on with `chains` chains.
    pub(crate) fn of_chains(&mut self, chains: usize) {
        self.acceptance.resize(chains, 0.0);
        self.open();
    }

    /// Adds what the chains have drawn.
    pub(crate) fn add(&mut self, blocks: &[ChainBlock]) {
        for (sum, block) in self.acceptance.iter_mut().zip(blocks) {
            block.stats.iter().for_each(|draw| *sum += draw.acceptance_rate.min(1.0));
        }
        self.draws += blocks.first().map_or(0, |block| block.stats.len());
    }

    /// Ends a round, with draws. Rejections grow with the square of the step, as the energy's error does (Beskos et al.
    /// 2013), so one division says which step would have the target.
    pub(crate) fn learn(&mut self, target: f64) {
        let draws = (self.acceptance.len() * self.draws) as f64;
        let rejected = 1.0 - self.acceptance.iter().sum::<f64>() / draws;
        let wished = (1.0 - target) / rejected.max(f64::MIN_POSITIVE);
        let ratio = wished.clamp(RATIO.0, RATIO.1);
        // A round from which the step is still far away does not count.
        self.rounds += u32::from(ratio == wished);
        let gain = 1.0 / f64::from(self.rounds.saturating_sub(BELIEVED - 1).max(1));
        self.log_step += gain * 0.5 * exact::ln(ratio);
        self.open();
    }

    /// Returns the step size of all chains.
    pub(crate) fn current(&self) -> f64 {
        exact::exp(self.log_step)
    }

    fn open(&mut self) {
        self.acceptance.fill(0.0);
        self.draws = 0;
    }

    /// Returns the number of chains that the state was made for; a checkpoint must agree.
    pub(crate) fn chains(&self) -> usize {
        self.acceptance.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::DrawStats;
    use octopus_random::{Purpose, Stream};

    fn blocks(acceptances: &[Vec<f64>]) -> Vec<ChainBlock> {
        let draw = |&acceptance_rate: &f64| DrawStats {
            lp: 0.0,
            acceptance_rate,
            step_size: 0.0,
            energy: 0.0,
            energy_error: 0.0,
            max_energy_error: 0.0,
            tree_depth: 0,
            n_steps: 1,
            index_in_trajectory: 0,
            diverging: false,
            reached_max_treedepth: false,
            ..DrawStats::default()
        };
        acceptances
            .iter()
            .map(|rates| ChainBlock { positions: Vec::new(), stats: rates.iter().map(draw).collect() })
            .collect()
    }

    /// Chains whose rejections follow another law than the square: the step of the target is found all the same, with
    /// few chains and with many, from below and from above.
    #[test]
    fn the_target_is_found() {
        let mut random = Stream::new(5, 0, 0, Purpose::User);
        for (chains, tolerance) in [(4, 0.15), (64, 0.05), (1024, 0.02)] {
            for (first, target) in [(1e-3, 0.8), (10.0, 0.95), (0.3, 0.6)] {
                let mut step = PooledStep::new(chains);
                step.find(&vec![first; chains]);
                for round in 0..24 {
                    let length = 1 << (round / 4);
                    let law = 1.0 - (-step.current().powf(1.5)).exp();
                    let rates: Vec<Vec<f64>> = (0..chains)
                        .map(|_| (0..length).map(|_| (1.0 - law + 0.1 * random.normal()).clamp(0.0, 1.2)).collect())
                        .collect();
                    step.add(&blocks(&rates));
                    step.learn(target);
                }
                let found = (-step.current().powf(1.5)).exp();
                assert!((found - target).abs() < tolerance, "{chains} chains from {first}: {found}, not {target}");
            }
        }
    }

    /// By hand: 0.2 rejected where 0.05 is wished, the step is halved; and never more than doubled at once.
    #[test]
    fn one_round_by_hand() {
        let mut step = PooledStep::new(2);
        step.find(&[0.5, 2.0]);
        assert!((step.current() - 1.0).abs() < 1e-15);
        step.add(&blocks(&[vec![0.6], vec![0.8]]));
        step.add(&blocks(&[vec![1.0], vec![0.8]]));
        step.learn(0.95);
        assert!((step.current() - 0.5).abs() < 1e-15);
        step.add(&blocks(&[vec![1.0], vec![1.3]]));
        step.learn(0.95);
        assert!((step.current() - 1.0).abs() < 1e-15);
    }

    /// The rule written out: rejections go with the square of the step, a round changes them by a factor of 1 / 16 to 4, and
    /// of the fourth round that is near on, an equal share of all is believed.
    #[test]
    fn rounds_follow_the_rule() {
        let mut step = PooledStep::new(2);
        step.find(&[1.0, 1.0]);
        assert_eq!(step, PooledStep::new(2));
        for again in [0.5, 3.0] {
            step.find(&[again, again]);
            let (mut expected, mut near) = (again, 0);
            for rejected in [1.0, 0.25, 0.9, 0.05, 0.02, 0.15, 0.0, 0.12, 0.08, 0.3, 0.1] {
                // Two draws of each chain; more than 1 counts as 1.
                step.add(&blocks(&[vec![1.7], vec![1.0 - 2.0 * f64::min(rejected, 0.5)]]));
                step.add(&blocks(&[vec![1.0], vec![1.0 - 2.0 * f64::max(rejected - 0.5, 0.0)]]));
                step.add(&[]);
                let seen = rejected / 2.0;
                step.learn(0.99);
                let factor: f64 = if seen > 0.0 { 0.01 / seen } else { f64::INFINITY };
                near += i32::from((1.0 / 16.0..=4.0).contains(&factor));
                let gain = match near {
                    0..=3 => 1.0,
                    4 => 1.0 / 2.0,
                    5 => 1.0 / 3.0,
                    6 => 1.0 / 4.0,
                    7 => 1.0 / 5.0,
                    _ => 1.0 / 6.0,
                };
                expected *= factor.clamp(1.0 / 16.0, 4.0).powf(gain / 2.0);
                assert!((step.current() / expected - 1.0).abs() < 1e-12, "{rejected}: {} {expected}", step.current());
            }
        }
        // More chains go on with the same step, and nothing of the open round.
        step.add(&blocks(&[vec![0.3], vec![0.3]]));
        let before = step.current();
        step.of_chains(4);
        assert_eq!((step.chains(), step.current()), (4, before));
        step.find(&[2.0; 4]);
        step.add(&blocks(&[vec![0.9], vec![1.0], vec![0.8], vec![0.9]]));
        step.learn(0.6);
        assert!((step.current() - 4.0).abs() < 1e-12, "0.1 rejected where 0.4 is wished: {}", step.current());
    }
}
