//! The statistics of a draw: one table of their names here and in other programs, their types and their meanings.
//!
//! Columns of run folders, the group `sample_stats`, Stan's header and the table of `docs/diagnostics.md` are made from it
//! or held to it. Which of them a sampler reports is the sampler's affair.

/// The type of a statistic's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatisticKind {
    /// A real number.
    Real,
    /// A whole number.
    Count,
    /// True or false.
    Flag,
}

/// A statistic of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawStatistic {
    /// ArviZ's name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: StatisticKind,
    /// The place of its column in the header of a Stan CSV, and the column's name there.
    pub stan: Option<(usize, &'static str)>,
    /// The names that samplers beside Stan give to it.
    pub other_names: &'static [&'static str],
    /// What it says, in one sentence.
    pub meaning: &'static str,
}

const fn statistic(name: &'static str, kind: StatisticKind, meaning: &'static str) -> DrawStatistic {
    DrawStatistic { name, kind, stan: None, other_names: &[], meaning }
}

impl DrawStatistic {
    const fn in_stan(self, place: usize, name: &'static str) -> Self {
        Self { stan: Some((place, name)), ..self }
    }

    const fn elsewhere(self, other_names: &'static [&'static str]) -> Self {
        Self { other_names, ..self }
    }

    /// Returns the names that other programs give to it.
    pub fn names_elsewhere(&self) -> impl Iterator<Item = &'static str> {
        self.stan.map(|(_, name)| name).into_iter().chain(self.other_names.iter().copied())
    }
}

use StatisticKind::{Count, Flag, Real};

/// Every statistic, in the order of a run folder's columns.
pub const STATISTICS: [DrawStatistic; 12] = [
    statistic("lp", Real, "log density of the draw in non-centered coordinates, up to a constant").in_stan(0, "lp__"),
    statistic("acceptance_rate", Real, "mean Metropolis acceptance probability over the trajectory")
        .in_stan(1, "accept_stat__"),
    statistic("step_size", Real, "step size of the integrator").in_stan(2, "stepsize__").elsewhere(&["step_size_bar"]),
    statistic("energy", Real, "Hamiltonian of the draw").in_stan(6, "energy__"),
    statistic("energy_error", Real, "Hamiltonian of the draw less that of the start"),
    statistic("max_energy_error", Real, "largest energy error on the trajectory, by magnitude"),
    statistic("tree_depth", Count, "completed doublings").in_stan(3, "treedepth__").elsewhere(&["depth"]),
    statistic("n_steps", Count, "leapfrog steps, each with one gradient")
        .in_stan(4, "n_leapfrog__")
        .elsewhere(&["num_steps"]),
    statistic("index_in_trajectory", Count, "place of the draw on the trajectory, the start being 0"),
    statistic("diverging", Flag, "whether the energy error exceeded its limit")
        .in_stan(5, "divergent__")
        .elsewhere(&["divergent"]),
    statistic("reached_max_treedepth", Flag, "whether the trajectory ended only because of the depth limit")
        .elsewhere(&["maxdepth_reached"]),
    statistic("log_weight", Real, "log of the weight with which the draw was chosen among others"),
];

/// Returns the statistic of this name.
pub fn statistic_named(name: &str) -> Option<&'static DrawStatistic> {
    STATISTICS.iter().find(|statistic| statistic.name == name)
}
