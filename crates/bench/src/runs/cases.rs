//! The runs that every sound device repeats bit for bit.
//!
//! Their groups, chains, iterations and launches stand here: a case at least for each shape of the kernels.

use crate::model_of;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, Likelihood, ModelError};
use octopus_sampler::{Algorithm, GpuConfig, MetricKind, Parameterization, Precision, SamplerConfig, Strategy};
use std::time::Duration;

/// A run: its data, its settings, and the launches that it is cut into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// The sampler's name.
    sampler: &'static str,
    pub(super) groups: usize,
    sizes: Sizes,
    likelihood: Likelihood,
    metric: MetricKind,
    parameterization: Parameterization,
    chains: usize,
    strategy: Strategy,
    /// The number of superchains, if there are any.
    superchains: usize,
    /// The most iterations of a launch, and the most chains on the device at once. Neither may change a bit.
    most_iterations: usize,
    chains_at_once: usize,
    pub(super) precision: Precision,
}

/// The numbers of observations of the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sizes {
    /// Each group has ten.
    Balanced,
    /// The groups have 1 to 30.
    Unbalanced,
    /// Most groups have few, but some have so many that blocks share them: parts of a tile of 2048, and whole tiles.
    Large,
}

/// The numbers of groups, one for each shape of the kernels: 32 lanes of 1, 4 and 8 rows, 128 lanes of 4 and 8.
const GROUPS: [usize; 5] = [10, 100, 200, 500, 1000];
/// The number of groups from which on fewer chains suffice, because the CPU makes these runs, too.
const LARGE: usize = 500;
/// The numbers of groups of small runs, one for each number of lanes.
const SMALL: [usize; 2] = [100, 500];
/// The sampler of most runs, and those by trajectories of a given length, which have kernels in f64 alone.
const NUTS: &str = "nuts";
const TRAJECTORIES: [&str; 2] = ["hmc", "chees"];
/// The numbers of groups of runs with many short chains, of which eight warm up. Small runs take only the smaller one.
const MANY: [usize; 2] = [50, 300];
/// The number of groups of the run whose chains all warm up together.
const TOGETHER: usize = 20;
/// The numbers of groups of runs by teams of blocks, one for each shape of a team.
const TEAMS: [usize; 2] = [20, 300];

/// Returns all cases, or with `small` those that are small enough for tools that slow kernels down a hundredfold.
pub(super) fn cases(small: bool) -> Vec<Case> {
    use {Likelihood::*, MetricKind::*, Parameterization::*, Sizes::*};
    // Any two values from different columns are together in some line.
    let settings = [
        (Balanced, Collapsed, LowRank, Adaptive, 4, 1024, usize::MAX),
        (Unbalanced, Pointwise, Diag, Centered, 64, 3, usize::MAX),
        (Unbalanced, Collapsed, LowRank, Centered, 64, 7, 5),
        (Balanced, Pointwise, Diag, Adaptive, 4, 1, usize::MAX),
        (Unbalanced, Collapsed, Diag, NonCentered, 4, 16, 3),
    ];
    let of_teams = (Large, Pointwise, Diag, Adaptive, 3, 5, 2);
    let (groups, settings, teams) =
        if small { (&SMALL[..], &settings[..1], &TEAMS[..1]) } else { (&GROUPS[..], &settings[..], &TEAMS[..]) };
    let alone = groups.iter().flat_map(|&groups| settings.iter().map(move |&settings| (groups, settings)));
    let mut cases = Vec::new();
    for (groups, settings) in alone.chain(teams.iter().map(|&groups| (groups, of_teams))) {
        let (sizes, likelihood, metric, parameterization, chains, most_iterations, chains_at_once) = settings;
        for precision in Precision::ALL {
            cases.push(Case {
                sampler: NUTS,
                groups,
                sizes,
                likelihood,
                metric,
                parameterization,
                strategy: Strategy::FourLong,
                superchains: 4,
                chains: if groups < LARGE { chains } else { chains.min(8) },
                most_iterations,
                chains_at_once,
                precision,
            });
        }
    }
    let many = if small { &MANY[..1] } else { &MANY[..] };
    for (groups, precision) in many.iter().flat_map(|&groups| Precision::ALL.map(|precision| (groups, precision))) {
        cases.push(Case {
            sampler: NUTS,
            groups,
            sizes: Unbalanced,
            likelihood: Collapsed,
            metric: LowRank,
            parameterization: Adaptive,
            chains: 48,
            strategy: Strategy::ManyShort,
            superchains: 8,
            most_iterations: 5,
            chains_at_once: 20,
            precision,
        });
    }
    cases.extend(Precision::ALL.map(|precision| Case {
        sampler: NUTS,
        groups: TOGETHER,
        sizes: Unbalanced,
        likelihood: Collapsed,
        metric: LowRank,
        parameterization: Adaptive,
        chains: 4,
        strategy: Strategy::CrossChain,
        superchains: 4,
        most_iterations: 7,
        chains_at_once: 3,
        precision,
    }));
    for (&groups, sampler) in groups.iter().flat_map(|groups| TRAJECTORIES.map(|sampler| (groups, sampler))) {
        cases.push(Case {
            sampler,
            groups,
            sizes: Unbalanced,
            likelihood: Collapsed,
            metric: LowRank,
            parameterization: Adaptive,
            chains: 16,
            strategy: Strategy::FourLong,
            superchains: 4,
            most_iterations: 3,
            chains_at_once: 7,
            precision: Precision::F64,
        });
    }
    cases
}

impl Case {
    /// Returns the name of the case, without spaces and without settings that do not change the bits.
    pub(super) fn name(&self) -> String {
        let words = [format!("{:?}", self.sizes), format!("{:?}", self.likelihood), format!("{:?}", self.metric)];
        let [sizes, likelihood, metric] = words.map(|word| word.to_lowercase());
        let coordinates = format!("{:?}", self.parameterization).to_lowercase();
        let chains = match self.strategy {
            Strategy::FourLong => self.chains.to_string(),
            Strategy::ManyShort => format!("{}-of-{}", self.chains, self.superchains),
            Strategy::CrossChain => format!("{}-together", self.chains),
        };
        let sampler = if self.sampler == NUTS { String::new() } else { format!("{}-", self.sampler) };
        format!("{sampler}{}-{sizes}-{likelihood}-{metric}-{coordinates}-{chains}-{}", self.groups, self.precision)
    }

    /// Makes the density.
    ///
    /// # Errors
    /// Never, since the data are fixed.
    pub(super) fn model(&self) -> Result<HierarchicalNormal, ModelError> {
        let spec = HierarchicalSpec { groups: self.groups, ..HierarchicalSpec::default() };
        let data = match self.sizes {
            Sizes::Balanced => spec.generate(),
            Sizes::Unbalanced => spec.unbalanced(),
            Sizes::Large => spec.with_sizes(&(0..self.groups).map(large).collect::<Vec<usize>>()),
        };
        model_of(data, self.likelihood)
    }

    /// Returns the sampler's settings. The run is long enough for a window of warm-up, a restart with what was learned
    /// there, and draws with it.
    pub(super) fn config(&self) -> SamplerConfig {
        SamplerConfig {
            algorithm: Algorithm::named(self.sampler).unwrap_or_default(),
            draws: 8,
            // Chains that warm up together have settled then.
            tune: if self.strategy == Strategy::CrossChain { 200 } else { 60 },
            chains: self.chains,
            strategy: self.strategy,
            superchains: self.superchains,
            max_depth: 6,
            seed: 42,
            metric: self.metric,
            parameterization: self.parameterization,
            precision: self.precision,
            ..SamplerConfig::default()
        }
    }

    /// Returns the settings by which the run is cut into launches.
    pub(super) fn launches(&self) -> GpuConfig {
        GpuConfig {
            most_iterations: self.most_iterations,
            chains_at_once: self.chains_at_once,
            // Launches end by their number of iterations, not by the clock, so that a slow device launches as a fast
            // one.
            launch_time: Duration::from_secs(3600),
            slot_bytes: 64 << 20,
            ..GpuConfig::default()
        }
    }
}

/// Returns the number of observations of group `j` among [`Sizes::Large`].
fn large(j: usize) -> usize {
    match j % 20 {
        3 => 300,
        7 => 4096,
        11 => 4133,
        15 => 257,
        _ => 1 + j % 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_small_runs_are_among_all() {
        let names = |small| cases(small).iter().map(Case::name).collect::<BTreeSet<_>>();
        let all = names(false);
        assert_eq!(all.len(), cases(false).len());
        assert!(names(true).is_subset(&all) && !names(true).is_empty());
        assert!(all.contains("500-unbalanced-collapsed-lowrank-centered-8-mixed"), "{all:?}");
        assert!(all.contains("chees-500-unbalanced-collapsed-lowrank-adaptive-16-f64"), "{all:?}");
    }

    #[test]
    fn a_run_adapts_before_its_draws() {
        let case = cases(true)[0];
        let (model, config) = (case.model().unwrap(), SamplerConfig { precision: Precision::F64, ..case.config() });
        let mut sampler = octopus_sampler::Sampler::new(&model, config).unwrap();
        let mut metrics = vec![format!("{:?}", sampler.adaptation())];
        while sampler.advance(usize::MAX).unwrap().is_some() {
            metrics.push(format!("{:?}", sampler.adaptation()));
        }
        metrics.dedup();
        assert_eq!(metrics.len(), 2, "the first metric and a learned one");
    }
}
