//! Means with standard deviations.

use serde::{Deserialize, Serialize};

/// A mean and a standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// The posterior mean.
    pub mean: f64,
    /// The posterior standard deviation.
    pub sd: f64,
}
