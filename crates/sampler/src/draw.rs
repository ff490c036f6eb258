//! What a sampler returns: blocks of draws with the statistics of each transition (`sample_stats`).

use serde::{Deserialize, Serialize};

/// The part of a run that a draw belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Adaptation; its draws are not from the posterior.
    Warmup,
    /// Draws from the posterior.
    Sampling,
}

/// What one transition reports; the names are ArviZ's `sample_stats`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawStats {
    /// Log density of the draw (non-centered coordinates, up to the density's constant).
    pub lp: f64,
    /// Mean Metropolis acceptance probability over the trajectory.
    pub acceptance_rate: f64,
    /// Step size of the leapfrog integrator.
    pub step_size: f64,
    /// Hamiltonian of the draw.
    pub energy: f64,
    /// Hamiltonian of the draw less that of the start.
    pub energy_error: f64,
    /// Largest energy error met on the trajectory, by magnitude.
    pub max_energy_error: f64,
    /// Completed doublings.
    pub tree_depth: u32,
    /// Leapfrog steps taken.
    pub n_steps: u32,
    /// Place of the draw on the trajectory, the start being 0.
    pub index_in_trajectory: i32,
    /// Whether the energy error exceeded the limit of the settings.
    pub diverging: bool,
    /// Whether the trajectory ended only because the depth limit was reached.
    pub reached_max_treedepth: bool,
}

/// Consecutive draws of one chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainBlock {
    /// Unconstrained positions in the density's own coordinates, `draws x dim`, row-major.
    pub positions: Vec<f64>,
    /// One record for each draw.
    pub stats: Vec<DrawStats>,
}

/// The same span of iterations of every chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Warm-up or sampling; a block never spans both.
    pub phase: Phase,
    /// The first draw's index within the phase.
    pub first: usize,
    /// The number of draws of each chain.
    pub draws: usize,
    /// The draws of chain 0, 1, ...
    pub chains: Vec<ChainBlock>,
}

impl Block {
    /// Returns the number of leapfrog steps of all chains together.
    #[must_use]
    pub fn leapfrogs(&self) -> u64 {
        self.chains.iter().flat_map(|chain| &chain.stats).map(|stats| u64::from(stats.n_steps)).sum()
    }
}
