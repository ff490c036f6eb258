//! What a trace lacks for what is asked of it.

use octopus_diag::DiagError;
use octopus_models::BuildError;
use octopus_runs::RunError;
use thiserror::Error;

/// Why a trace cannot be read, or something cannot be made of it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The run or the file cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run's model cannot be built again.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The run's record names a model that nobody knows, or settings that it does not have.
    #[error("run.toml: {0}; repair it, or make the run again")]
    Record(BuildError),
    /// The draws have no such statistic.
    #[error(transparent)]
    Diag(#[from] DiagError),
    /// The draws of a trace have no such statistic.
    #[error("{name}: {source}")]
    Named {
        /// The trace.
        name: String,
        /// Why there is none.
        source: DiagError,
    },
    /// A run has no draws yet.
    #[error("the run in {name} is still in warm-up: continue it with `octopus resume {name}`")]
    InWarmUp {
        /// The run folder.
        name: String,
    },
    /// A trace of another program does not say of which model it is.
    #[error("a file does not tell its model")]
    NoModel,
    /// The trace, or its model, lacks what is needed.
    #[error("{0}")]
    Lacks(String),
}

impl TraceError {
    /// Returns the error of a trace that lacks something; `what` is a whole sentence.
    pub fn lacks(what: impl Into<String>) -> Self {
        Self::Lacks(what.into())
    }
}
