//! What can go wrong with models and densities.

use octopus_trace::DataError;
use thiserror::Error;

/// Why a model cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ModelError {
    /// The data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Effects and their standard errors differ in number.
    #[error("{effects} effects but {errors} standard errors: give one to each effect")]
    StandardErrors {
        /// Effects given.
        effects: usize,
        /// Standard errors given.
        errors: usize,
    },
    /// A standard error is not positive, or so small or large that 1 / sigma^2 is no number.
    #[error("row {row}: the standard error is {value}: it must be positive, and 1 over its square a finite number")]
    StandardError {
        /// The row, counted from 0.
        row: usize,
        /// The standard error given.
        value: f64,
    },
    /// A setting of the model or its data is out of range.
    #[error("{field} = {value}: {expected}")]
    Setting {
        /// The setting's name.
        field: &'static str,
        /// The value given.
        value: f64,
        /// The values that are allowed, in words.
        expected: &'static str,
    },
}

/// Why a density has no value at a point.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DensityError {
    /// The point is outside the support or the arithmetic overflowed there: the sampler counts a divergence.
    #[error("the log density is not finite here ({value})")]
    NotFinite {
        /// The value found.
        value: f64,
    },
    /// The model itself is broken: the run stops with this message.
    #[error("the density failed: {0}")]
    Broken(String),
}

impl DensityError {
    /// Returns whether the sampler may go on: the point was bad, not the model.
    pub fn is_recoverable(&self) -> bool {
        matches!(self, Self::NotFinite { .. })
    }
}
