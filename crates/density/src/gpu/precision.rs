//! The precision in which the engine computes: f64, f32 or mixed.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The precision in which the engine computes. Vectors are positions, momenta, gradients, data, metric and draws.
/// Scalars are numbers that a chain has only one of: log density, energies, weights, step size, and sums over
/// coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Everything in f64: the bits of the CPU's engine.
    #[default]
    F64,
    /// Everything in f32.
    F32,
    /// Vectors in f32, scalars in f64.
    Mixed,
}

impl Precision {
    /// Every precision.
    pub const ALL: [Self; 3] = [Self::F64, Self::F32, Self::Mixed];

    /// Returns the name in settings, in entries of kernels and in files: `f64`, `f32` or `mixed`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::Mixed => "mixed",
        }
    }

    /// Returns the bytes of a vector's element (`R` in the kernels).
    pub const fn vector_bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 | Self::Mixed => 4,
        }
    }

    /// Returns the bytes of a scalar (`T` in the kernels).
    pub const fn scalar_bytes(self) -> usize {
        match self {
            Self::F64 | Self::Mixed => 8,
            Self::F32 => 4,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no precision.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' is no precision: it is f64, f32 or mixed")]
pub struct ParsePrecisionError(String);

impl FromStr for Precision {
    type Err = ParsePrecisionError;

    fn from_str(word: &str) -> Result<Self, ParsePrecisionError> {
        Self::ALL.into_iter().find(|p| p.name() == word).ok_or_else(|| ParsePrecisionError(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_settings_and_read_back() {
        for precision in Precision::ALL {
            assert_eq!(serde_json::to_string(&precision).unwrap(), format!("\"{precision}\""));
            assert_eq!(precision.name().parse(), Ok(precision));
        }
        assert_eq!(
            "f16".parse::<Precision>().unwrap_err().to_string(),
            "'f16' is no precision: it is f64, f32 or mixed"
        );
    }

    #[test]
    fn numbers_have_the_bytes_of_their_types() {
        assert_eq!(Precision::ALL.map(Precision::vector_bytes), [8, 4, 4]);
        assert_eq!(Precision::ALL.map(Precision::scalar_bytes), [8, 4, 8]);
    }
}
