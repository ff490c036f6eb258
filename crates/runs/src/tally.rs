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
