//! The errors of densities: no value at a point (the sampler goes on), or a broken density (the run ends).

use thiserror::Error;

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
