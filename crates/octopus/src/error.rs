//! The errors of reading a trace, and of making something from it.

use octopus_density::DensityError;
use octopus_diag::DiagError;
use octopus_models::BuildError;
use octopus_runs::RunError;
use thiserror::Error;

/// An error of reading a trace, or of making something from it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The run or the file cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run's model cannot be built again.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The run's record names a model that is not registered, or settings that the model does not have.
    #[error("run.toml: {0}; repair it, or make the run again")]
    Record(BuildError),
    /// A statistic cannot be computed from the draws.
    #[error(transparent)]
    Diag(#[from] DiagError),
    /// A statistic cannot be computed from the draws of the trace with this name.
    #[error("{name}: {source}")]
    Named {
        /// The name of the trace.
        name: String,
        /// The reason why the statistic cannot be computed.
        source: DiagError,
    },
    /// The model's log density cannot be computed.
    #[error(transparent)]
    Density(DensityError),
    /// The run has no draws yet.
    #[error("the run in {name} has no draws yet, it is still in warm-up: continue it with `octopus resume {name}`")]
    InWarmUp {
        /// The run folder.
        name: String,
    },
    /// The trace was written by another program, and such a file does not tell its model.
    #[error("a file does not tell its model")]
    NoModel,
    /// The trace, or its model, lacks something that is needed; the text is the whole message.
    #[error("{0}")]
    Lacks(String),
}

impl TraceError {
    /// Returns the error of a trace that lacks something; `what` is a whole sentence.
    pub fn lacks(what: impl Into<String>) -> Self {
        Self::Lacks(what.into())
    }
}

/// Returns an error with its causes, without those that it quotes itself.
pub fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = inner.source();
    }
    text
}
