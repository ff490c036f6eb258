//! A number, or why it is missing.

use serde::{Deserialize, Serialize};

/// A measurement, or the reason why there is none: "no GPU here" is an answer that reports must carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured<T> {
    /// The measurement.
    Value(T),
    /// The reason why there is none, as a clause: `no CUDA driver was found`.
    NotMeasured(String),
}

impl<T> Measured<T> {
    /// Returns the measurement, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::NotMeasured(_) => None,
        }
    }

    /// Says that nothing was measured, because of `reason`.
    pub fn missing(reason: impl Into<String>) -> Self {
        Self::NotMeasured(reason.into())
    }

    /// Converts the measurement by `f`, and keeps a reason as it is.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Measured<U> {
        match self {
            Self::Value(value) => Measured::Value(f(value)),
            Self::NotMeasured(reason) => Measured::NotMeasured(reason),
        }
    }
}
