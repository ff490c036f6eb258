//! The counts of what a session of a run has done so far: leapfrog steps, divergences.

use octopus_sampler::{Block, Phase};

/// The counts of what has happened so far in a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// The leapfrog steps of all chains.
    pub leapfrogs: u64,
    /// The leapfrog steps of the draws after warm-up.
    pub sampling_leapfrogs: u64,
    /// The divergent transitions after warm-up.
    pub divergences: u64,
}

impl Tally {
    /// Adds the counts of a block.
    pub fn add(&mut self, block: &Block) {
        let leapfrogs = block.leapfrogs();
        self.leapfrogs += leapfrogs;
        if block.phase == Phase::Sampling {
            let stats = block.chains.iter().flat_map(|chain| &chain.stats);
            self.sampling_leapfrogs += leapfrogs;
            self.divergences += stats.filter(|stats| stats.diverging).count() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_sampler::{ChainBlock, DrawStats};

    #[test]
    fn warm_up_counts_in_all_leapfrog_steps_alone() {
        let block = |phase, steps: [u32; 2]| {
            let stats = steps.map(|n_steps| DrawStats {
                lp: 0.0,
                acceptance_rate: 1.0,
                step_size: 1.0,
                energy: 0.0,
                energy_error: 0.0,
                max_energy_error: 0.0,
                tree_depth: 2,
                n_steps,
                index_in_trajectory: 0,
                diverging: n_steps > 5,
                reached_max_treedepth: false,
                ..DrawStats::default()
            });
            let chain = ChainBlock { positions: Vec::new(), stats: stats.to_vec() };
            Block { phase, first: 0, draws: 2, chains: vec![chain.clone(), chain] }
        };
        let mut tally = Tally::default();
        tally.add(&block(Phase::Warmup, [6, 7]));
        tally.add(&block(Phase::Sampling, [3, 9]));
        tally.add(&block(Phase::Sampling, [8, 10]));
        assert_eq!((tally.leapfrogs, tally.sampling_leapfrogs, tally.divergences), (86, 60, 6));
    }
}
