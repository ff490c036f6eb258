//! The errors of measuring and judging.

use octopus_density::ModelError;
use octopus_diag::DiagError;
use octopus_runs::RunError;
use octopus_sampler::SamplerError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why nothing was measured or judged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The operating system refused an operation on a file or folder.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was attempted, e.g. `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A file of results is not there.
    #[error("cannot read {}: is this a folder of run-acceptance.sh?", path.display())]
    NoResults {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A text is not what it should be.
    #[error("{what}")]
    Json {
        /// Which text, and what it is not.
        what: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// A run cannot be made: there is no such device, a setting is out of range, or something failed on the way.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The sampler, or the device below it, failed.
    #[error("{0}")]
    Sampler(#[from] SamplerError),
    /// The model cannot be made.
    #[error("{0}")]
    Model(#[from] ModelError),
    /// A statistic cannot be computed from the draws.
    #[error("{0}")]
    Diag(#[from] DiagError),
    /// There is nothing to measure.
    #[error("{0}")]
    Nothing(&'static str),
    /// A report was asked for on results that are not a GPU's.
    #[error("the results are of {0}: no report may present it as a GPU")]
    NoGpu(String),
}

impl BenchError {
    /// Makes the error for `map_err`: the operation `action` on `path` failed.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    /// Makes the error for `map_err`: a text cannot be read or written as JSON.
    pub(crate) fn json(what: impl FnOnce() -> String) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Self::Json { what: what(), source }
    }
}
