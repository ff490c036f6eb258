//! The settings of a run of the sampler: their defaults, and what is allowed.
//!
//! They are draws, chains, warm-up and its windows, strategy, target of acceptance, tree depth, the energy error that
//! diverges, coordinates, metric, starting points and how often they are tried, precision, and seed.

use crate::kernel::Algorithm;
use octopus_density::gpu::Precision;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Starting points tried before a run gives up.
pub(crate) const INIT_TRIES: usize = 100;
/// Starting points with a value among which a chain may choose.
pub(crate) const INIT_CANDIDATES: usize = 16;
/// The largest slope where a chain starts, relative to that of the flattest candidate or 1.
pub(crate) const INIT_STEEPNESS: f64 = 1e4;

/// Which coordinates hierarchical blocks are sampled in. Draws are always reported non-centered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parameterization {
    /// The coordinates in which the density is written.
    NonCentered,
    /// The effects themselves are the coordinates.
    Centered,
    /// Coordinates that adapt to the place: each effect in units of its distribution given the scalars
    /// ([`Centering::Standardised`](octopus_density::Centering::Standardised)). What the data say about the effects the
    /// density tells, or warm-up learns it from draws and gradients; then the first window is non-centered. A density
    /// that tells nothing and has kernels, which could not read what is learned, stays non-centered.
    #[default]
    Adaptive,
    /// The coordinates in which the model's author wrote it: a program's effects are what they are in the program. Other
    /// densities are non-centered.
    AsWritten,
}

/// The Euclidean metric (inverse mass matrix) and what it is estimated from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricKind {
    /// Diagonal, from draws and gradients (as nutpie).
    Diag,
    /// Diagonal, from draws (as Stan).
    DiagDraws,
    /// Diagonal plus the few directions whose variance stands out of the noise.
    LowRank,
    /// The best of the above for this run: low-rank, which is diagonal where nothing stands out.
    #[default]
    Auto,
    /// All coordinates count the same, and warm-up learns no metric: steps are as long as they are said to be, in the units of
    /// the coordinates.
    Identity,
}

/// Lengths of the parts of warm-up, in iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowConfig {
    /// Iterations before the first window: chains find the typical set, and only the step size adapts.
    pub init_buffer: usize,
    /// Length of the first window; each next one is twice as long.
    pub base_window: usize,
    /// Iterations after the last window: the step size settles for the final metric.
    pub term_buffer: usize,
}

impl Default for WindowConfig {
    /// Shorter than Stan's 75, 25, 50: pooled over chains, a metric is worth having after a few iterations.
    fn default() -> Self {
        Self { init_buffer: 10, base_window: 15, term_buffer: 50 }
    }
}

impl WindowConfig {
    /// Stan's lengths.
    pub const STAN: Self = Self { init_buffer: 75, base_window: 25, term_buffer: 50 };
}

/// How many chains a run has and how they warm up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// A few chains that warm up as in Stan: each has a step size of its own, and warms up for all the iterations asked
    /// for.
    FourLong,
    /// Many chains. A few of them warm up together, with one step size, until what they learn has settled. Then each
    /// becomes a superchain: several chains that start at its point and spread until they have forgotten it.
    ManyShort,
    /// A few chains that warm up together as those of [`FourLong`](Self::FourLong), but only until what they learn has
    /// settled; then they have one step size. A single chain, chains of a sampler that was not judged so, and those with
    /// fewer than 20 iterations are `FourLong`'s to the last bit.
    #[default]
    CrossChain,
}

impl Strategy {
    /// Returns its name, as users give it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FourLong => "four-long",
            Self::ManyShort => "many-short",
            Self::CrossChain => "cross-chain",
        }
    }
}

/// The shortest limit of a warm-up that chains make together.
pub(crate) const SHORTEST_WARM_UP: usize = 20;
/// Chains and iterations are counted in 32 bits where random numbers are addressed.
const MOST: usize = (1 << 31) - 1;

/// Settings of a run of NUTS. Two runs with equal settings on equal data give the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplerConfig {
    /// The number of draws kept of each chain.
    pub draws: usize,
    /// The number of warm-up iterations of each chain; the largest number there may be where chains [warm up
    /// together](Self::warms_up_together).
    pub tune: usize,
    /// Number of chains.
    pub chains: usize,
    /// How the chains warm up.
    pub strategy: Strategy,
    /// With [`Strategy::ManyShort`], the number of chains that warm up, each of which then becomes `chains /
    /// superchains` chains; it must divide `chains`. Nested R-hat compares these groups.
    pub superchains: usize,
    /// Target of the mean acceptance probability, in (0, 1).
    pub target_accept: f64,
    /// Largest number of doublings of a trajectory.
    pub max_depth: u32,
    /// Energy error beyond which a transition diverges.
    pub max_energy_error: f64,
    /// Seed of every random number of the run.
    pub seed: u64,
    /// Coordinates of hierarchical blocks.
    pub parameterization: Parameterization,
    /// Metric.
    pub metric: MetricKind,
    /// Half-width of the uniform jitter of the chains' starting points around the density's center, in its
    /// [units](octopus_density::LogDensity::init_scale). A point whose slope is 10,000 times that of the flattest of 16
    /// is passed over.
    pub init_radius: f64,
    /// Lengths of the parts of warm-up; [`Strategy::ManyShort`] has windows of its own.
    pub windows: WindowConfig,
    /// The precision of the computation; the CPU computes in f64.
    pub precision: Precision,
    /// The sampler, with its own settings. Text has it; bytes of checkpoints have it apart, so that checkpoints that know
    /// no sampler but NUTS can be read.
    #[serde(with = "in_text")]
    pub algorithm: Algorithm,
}

/// Writes and reads the sampler where the format is text, and nothing elsewhere.
mod in_text {
    use super::Algorithm;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(algorithm: &Algorithm, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { algorithm.serialize(serializer) } else { serializer.serialize_unit() }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Algorithm, D::Error> {
        if deserializer.is_human_readable() {
            // Not the function that derives from the list, which has the same name.
            return <Algorithm as Deserialize>::deserialize(deserializer);
        }
        <()>::deserialize(deserializer).map(|()| Algorithm::default())
    }
}

impl Default for SamplerConfig {
    fn default() -> Self {
        Self {
            draws: 1000,
            tune: 1000,
            chains: 4,
            strategy: Strategy::default(),
            superchains: 4,
            target_accept: 0.8,
            max_depth: 10,
            max_energy_error: 1000.0,
            seed: 0,
            parameterization: Parameterization::default(),
            metric: MetricKind::default(),
            init_radius: 2.0,
            windows: WindowConfig::default(),
            precision: Precision::F64,
            algorithm: Algorithm::default(),
        }
    }
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{field} = {value}: {expected}")]
pub struct ConfigError {
    /// The setting's name.
    pub field: &'static str,
    /// The value given.
    pub value: String,
    /// The values that are allowed, in words.
    pub expected: &'static str,
}

impl SamplerConfig {
    /// Returns the number of chains that warm-up begins with: with [`Strategy::ManyShort`] one of each superchain.
    pub fn first_chains(&self) -> usize {
        self.nested().unwrap_or(self.chains)
    }

    /// Returns the number of superchains, which nested R-hat compares; `None` where chains are compared.
    pub fn nested(&self) -> Option<usize> {
        (self.strategy == Strategy::ManyShort).then_some(self.superchains)
    }

    /// Returns whether chains warm up together, until what they learn has settled.
    pub fn warms_up_together(&self) -> bool {
        match self.strategy {
            Strategy::FourLong => false,
            Strategy::ManyShort => true,
            Strategy::CrossChain => {
                self.chains >= 2 && self.tune >= SHORTEST_WARM_UP && self.algorithm.warms_up_across_chains()
            }
        }
    }

    /// The most superchains that [`many_short`](Self::many_short) chooses where their number divides that of the chains:
    /// more chains than this hardly learn faster, and each must find its own way from where it begins.
    pub const MOST_SUPERCHAINS: usize = 64;

    /// Returns the settings of `chains` chains that warm up together: as many superchains as suits their number, and
    /// otherwise the defaults. Where no number from 4 to 64 suits, each chain is a superchain.
    pub fn many_short(chains: usize) -> Self {
        /// A superchain of fewer chains says little about how its chains differ.
        const LEAST_CHAINS: usize = 4;
        let most = Self::MOST_SUPERCHAINS.min(chains / LEAST_CHAINS);
        let superchains = (LEAST_CHAINS..=most).rev().find(|&groups| chains.is_multiple_of(groups)).unwrap_or(chains);
        Self { strategy: Strategy::ManyShort, chains, superchains, ..Self::default() }
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// When a setting is out of range; the error is about the first one.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let fail =
            |field, value: &dyn ToString, expected| Err(ConfigError { field, value: value.to_string(), expected });
        if self.draws == 0 {
            return fail("draws", &self.draws, "at least 1 draw is needed");
        }
        if self.chains == 0 {
            return fail("chains", &self.chains, "at least 1 chain is needed");
        }
        if self.strategy == Strategy::ManyShort && self.algorithm.draws_population() {
            return fail("strategy", &self.strategy.name(), "a population has no warm-up, so that it has no strategy");
        }
        if self.strategy == Strategy::ManyShort
            && !(self.superchains >= 2 && self.chains.is_multiple_of(self.superchains))
        {
            let expected = "at least 2 are needed, and their number must divide that of the chains";
            return fail("superchains", &self.superchains, expected);
        }
        if self.strategy == Strategy::ManyShort && self.tune < SHORTEST_WARM_UP {
            let expected =
                "many short chains warm up until they have settled, and that takes 20 iterations at the least";
            return fail("tune", &self.tune, expected);
        }
        let WindowConfig { init_buffer, base_window, term_buffer } = self.windows;
        for (field, value) in [
            ("draws", self.draws),
            ("tune", self.tune),
            ("draws + tune", self.draws.saturating_add(self.tune)),
            ("chains", self.chains),
            ("windows.init_buffer", init_buffer),
            ("windows.base_window", base_window),
            ("windows.term_buffer", term_buffer),
        ] {
            if value > MOST {
                return fail(field, &value, "must be below 2^31");
            }
        }
        if !(self.target_accept > 0.0 && self.target_accept < 1.0) {
            return fail("target_accept", &self.target_accept, "must lie between 0 and 1, both excluded");
        }
        if !(1..=20).contains(&self.max_depth) {
            return fail("max_depth", &self.max_depth, "must lie between 1 and 20");
        }
        // Infinite too: a point without a value has an infinite error, and must end the trajectory.
        if !(self.max_energy_error > 0.0 && self.max_energy_error.is_finite()) {
            return fail("max_energy_error", &self.max_energy_error, "must be finite and positive");
        }
        if !(self.init_radius >= 0.0 && self.init_radius.is_finite()) {
            return fail("init_radius", &self.init_radius, "must be finite and not negative");
        }
        self.algorithm.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superchains_suit_the_number_of_chains() {
        for (chains, superchains) in [(4, 4), (7, 7), (16, 4), (64, 16), (100, 25), (256, 64), (1024, 64), (8192, 64)] {
            let config = SamplerConfig::many_short(chains);
            assert_eq!(config.superchains, superchains, "{chains} chains");
            assert!(config.validate().is_ok());
        }
    }

    /// The defaults and Stan's lengths, number by number: recorded runs are of these.
    #[test]
    fn defaults_are_what_they_were() {
        let SamplerConfig { draws, tune, chains, superchains, target_accept, max_depth, .. } = SamplerConfig::default();
        assert_eq!((draws, tune, chains, superchains, target_accept, max_depth), (1000, 1000, 4, 4, 0.8, 10));
        let SamplerConfig { max_energy_error, seed, init_radius, windows, .. } = SamplerConfig::default();
        assert_eq!((max_energy_error, seed, init_radius), (1000.0, 0, 2.0));
        assert_eq!(windows, WindowConfig { init_buffer: 10, base_window: 15, term_buffer: 50 });
        assert_eq!(WindowConfig::STAN, WindowConfig { init_buffer: 75, base_window: 25, term_buffer: 50 });
    }

    /// A group of fewer than four chains is none, and more than 64 groups are too many.
    #[test]
    fn superchains_have_four_chains_or_more() {
        for (chains, superchains) in [(12, 12), (15, 15), (16, 4), (20, 5), (260, 52), (512, 64), (65 * 64, 64)] {
            let config = SamplerConfig::many_short(chains);
            assert_eq!((config.chains, config.superchains), (chains, superchains));
            assert_eq!(config.strategy, Strategy::ManyShort);
        }
    }

    #[test]
    fn settings_are_refused_beyond_their_limits() {
        const MOST: usize = 2_147_483_647;
        let of = |change: &dyn Fn(&mut SamplerConfig)| {
            let mut config = SamplerConfig { draws: 1, tune: 20, ..SamplerConfig::default() };
            change(&mut config);
            config.validate().err().map(|error| error.field)
        };
        type Change = fn(&mut SamplerConfig);
        let many: Change = |config| (config.strategy, config.chains) = (Strategy::ManyShort, 12);
        let cases: [(&str, Change, Change); 18] = [
            ("draws", |c| c.draws = 1, |c| c.draws = 0),
            ("draws", |c| (c.draws, c.tune) = (MOST, 0), |c| (c.draws, c.tune) = (MOST + 1, 0)),
            ("tune", |c| (c.tune, c.draws) = (MOST - 1, 1), |c| c.tune = MOST + 1),
            ("draws + tune", |c| (c.tune, c.draws) = (MOST - 1, 1), |c| (c.tune, c.draws) = (MOST, 1)),
            ("chains", |c| c.chains = 1, |c| c.chains = 0),
            ("chains", |c| c.chains = MOST, |c| c.chains = MOST + 1),
            ("windows.init_buffer", |c| c.windows.init_buffer = MOST, |c| c.windows.init_buffer = MOST + 1),
            ("windows.base_window", |c| c.windows.base_window = MOST, |c| c.windows.base_window = MOST + 1),
            ("windows.term_buffer", |c| c.windows.term_buffer = MOST, |c| c.windows.term_buffer = MOST + 1),
            ("target_accept", |c| c.target_accept = 1e-9, |c| c.target_accept = 0.0),
            ("target_accept", |c| c.target_accept = 1.0 - 1e-9, |c| c.target_accept = 1.0),
            ("max_depth", |c| c.max_depth = 1, |c| c.max_depth = 0),
            ("max_depth", |c| c.max_depth = 20, |c| c.max_depth = 21),
            ("max_energy_error", |c| c.max_energy_error = 1e-9, |c| c.max_energy_error = 0.0),
            ("max_energy_error", |c| c.max_energy_error = 1e9, |c| c.max_energy_error = f64::INFINITY),
            ("init_radius", |c| c.init_radius = 0.0, |c| c.init_radius = -1e-9),
            ("init_radius", |c| c.init_radius = 1e9, |c| c.init_radius = f64::NAN),
            ("target_accept", |c| c.target_accept = 0.5, |c| c.target_accept = f64::NAN),
        ];
        for (field, good, bad) in cases {
            assert_eq!(of(&good), None, "{field}");
            assert_eq!(of(&bad), Some(field));
        }
        for (superchains, field) in
            [(1, Some("superchains")), (2, None), (3, None), (5, Some("superchains")), (12, None)]
        {
            let with = |config: &mut SamplerConfig| {
                many(config);
                config.superchains = superchains;
            };
            assert_eq!(of(&with), field, "{superchains}");
            // Chains that warm up each for themselves have no superchains.
            assert_eq!(of(&|config: &mut SamplerConfig| config.superchains = superchains), None);
        }
        for (tune, field) in [(20, None), (19, Some("tune"))] {
            let with = |config: &mut SamplerConfig| {
                many(config);
                config.tune = tune;
            };
            assert_eq!(of(&with), field, "{tune}");
        }
        assert_eq!(of(&|config: &mut SamplerConfig| config.tune = 0), None);
    }
}
