//! What a session of a run has done so far.

use octopus_sampler::{Block, Phase};

/// What has happened so far in this session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Leapfrog steps of all chains.
    pub leapfrogs: u64,
    /// Leapfrog steps of the draws proper.
    pub sampling_leapfrogs: u64,
    /// Divergent transitions after warm-up.
    pub divergences: u64,
}

impl Tally {
    /// Counts a block.
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
