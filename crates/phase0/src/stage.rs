//! The stages of phase 0 that a user may leave out.

use serde::Deserialize;
use std::fmt;

/// A stage that may be left out. The machine is always verified, and the run sampled, diagnosed and reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValidationStage {
    /// The draws against the exact posterior.
    Compare,
    /// Replicated observations against the observed ones.
    Predict,
    /// The run again on the GPU.
    Gpu,
    /// Engines, strategies and sizes side by side.
    Benchmark,
    /// The pictures.
    Plot,
}

impl ValidationStage {
    /// All stages, in order.
    pub const ALL: [Self; 5] = [Self::Compare, Self::Predict, Self::Gpu, Self::Benchmark, Self::Plot];

    /// Returns the stage's name, e.g. `predict`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Compare => "compare",
            Self::Predict => "predict",
            Self::Gpu => "gpu",
            Self::Benchmark => "benchmark",
            Self::Plot => "plot",
        }
    }
}

impl fmt::Display for ValidationStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
