//! The one description of a run.

use crate::schedule::WindowConfig;
use octopus_density::gpu::Precision;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which coordinates hierarchical blocks are sampled in. Draws are always reported non-centered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parameterization {
    /// As the density is written: lambda = 0.
    NonCentered,
    /// Fully centered: lambda = 1.
    Centered,
    /// Each element's lambda is found in warm-up.
    #[default]
    Adaptive,
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
}

/// Chains and iterations are counted in 32 bits where random numbers are addressed.
const MOST: usize = (1 << 31) - 1;

/// Settings of a run of NUTS. Two runs with equal settings on equal data give the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplerConfig {
    /// Draws kept of each chain.
    pub draws: usize,
    /// Warm-up iterations of each chain.
    pub tune: usize,
    /// Number of chains.
    pub chains: usize,
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
    /// Half-width of the uniform jitter of the chains' starting points around the density's center.
    pub init_radius: f64,
    /// Lengths of the parts of warm-up.
    pub windows: WindowConfig,
    /// What is computed in; the CPU computes in f64.
    pub precision: Precision,
}

impl Default for SamplerConfig {
    fn default() -> Self {
        Self {
            draws: 1000,
            tune: 1000,
            chains: 4,
            target_accept: 0.8,
            max_depth: 10,
            max_energy_error: 1000.0,
            seed: 0,
            parameterization: Parameterization::default(),
            metric: MetricKind::default(),
            init_radius: 2.0,
            windows: WindowConfig::default(),
            precision: Precision::F64,
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
    /// What is allowed.
    pub expected: &'static str,
}

impl SamplerConfig {
    /// Checks every setting.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let fail =
            |field, value: &dyn ToString, expected| Err(ConfigError { field, value: value.to_string(), expected });
        if self.draws == 0 {
            return fail("draws", &self.draws, "at least 1 draw is needed");
        }
        if self.chains == 0 {
            return fail("chains", &self.chains, "at least 1 chain is needed");
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
        Ok(())
    }
}
