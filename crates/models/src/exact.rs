//! The exact posteriors of the models that ship, to judge a sampler.

pub use crate::eight_schools::SchoolsPosterior;
pub use crate::hierarchical_normal::exact::{ExactError, ExactPosterior, Interval, Marginal, Quantity};

use serde::{Deserialize, Serialize};

/// A mean and a standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// The posterior mean.
    pub mean: f64,
    /// The posterior standard deviation.
    pub sd: f64,
}
