//! Why a calibration cannot be made.

use octopus_density::DensityError;
use octopus_diag::DiagError;
use octopus_models::ModelError;
use octopus_sampler::{ConfigError, SamplerError};
use thiserror::Error;

/// A calibration that cannot be made.
#[derive(Debug, Error)]
pub enum CalibrateError {
    /// A setting of the calibration is out of range.
    #[error("{field} = {value}: {expected}")]
    Setting {
        /// The setting's name.
        field: &'static str,
        /// The value given.
        value: usize,
        /// The values that are allowed, in words.
        expected: String,
    },
    /// Every data set failed.
    #[error("no data set has ranks; {first}")]
    NoRanks {
        /// Why the first data set has no ranks.
        first: String,
    },
    /// A setting of the sampler is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The sampler failed where it must not.
    #[error(transparent)]
    Sampler(#[from] SamplerError),
    /// The model could not be simulated.
    #[error("the model's data cannot be simulated: {0}")]
    Data(#[from] ModelError),
    /// The density failed at a point where it has a value.
    #[error("the density failed: {0}")]
    Density(#[from] DensityError),
    /// The ranks cannot be judged.
    #[error(transparent)]
    Ranks(#[from] DiagError),
    /// The threads cannot be started.
    #[error("cannot start a thread: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The caller's `keep` failed to store an outcome.
    #[error("what was found cannot be kept: {0}")]
    Keep(Box<dyn std::error::Error + Send + Sync>),
}
