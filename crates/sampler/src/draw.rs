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

/// How a statistic is read off a draw.
#[derive(Clone, Copy, Debug)]
pub enum ReadStatistic {
    /// A real number.
    Real(fn(&DrawStats) -> f64),
    /// A whole number.
    Count(fn(&DrawStats) -> i64),
    /// A flag.
    Flag(fn(&DrawStats) -> bool),
}

/// Makes the struct of all statistics, and the list of their names with how each is read.
macro_rules! draw_stats {
    ($($(#[$doc:meta])* $name:ident: $kind:tt,)*) => {
        /// What a draw reports; the names are ArviZ's `sample_stats`, and stand with their meanings in
        /// [`octopus_trace::STATISTICS`](octopus_density::STATISTICS). A sampler fills in what it
        /// [reports](crate::Algorithm::statistics); the rest is 0.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct DrawStats {
            $($(#[$doc])* pub $name: $kind,)*
            /// What the draw says of the length of trajectories, while warm-up learns it; no statistic.
            #[doc(hidden)]
            pub length_slope: f64,
        }

        impl DrawStats {
            /// Every statistic, in the order of a run folder's columns.
            pub const ALL: &[(&str, ReadStatistic)] = &[$((stringify!($name), draw_stats!(@read $kind $name)),)*];
        }
    };
    (@read f64 $name:ident) => { ReadStatistic::Real(|stats| stats.$name) };
    (@read bool $name:ident) => { ReadStatistic::Flag(|stats| stats.$name) };
    (@read $integer:tt $name:ident) => { ReadStatistic::Count(|stats| stats.$name.into()) };
}

draw_stats! {
    /// Log density of the draw (non-centered coordinates, up to the density's constant).
    lp: f64,
    /// Mean Metropolis acceptance probability over the trajectory.
    acceptance_rate: f64,
    /// Step size of the integrator.
    step_size: f64,
    /// Hamiltonian of the draw.
    energy: f64,
    /// Hamiltonian of the draw less that of the start.
    energy_error: f64,
    /// Largest energy error met on the trajectory, by magnitude.
    max_energy_error: f64,
    /// Completed doublings.
    tree_depth: u32,
    /// Leapfrog steps taken, each with one gradient.
    n_steps: u32,
    /// Place of the draw on the trajectory, the start being 0.
    index_in_trajectory: i32,
    /// Whether the energy error exceeded the limit of the settings.
    diverging: bool,
    /// Whether the trajectory ended only because the depth limit was reached.
    reached_max_treedepth: bool,
    /// Log of the weight with which the draw was chosen among others.
    log_weight: f64,
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
