//! The errors of suites and their results.

use octopus::TraceError;
use octopus_array::{ArrayError, DrawError};
use octopus_diag::DiagError;
use octopus_files::{FileError, NpyError};
use octopus_models::{BuildError, ModelError};
use octopus_random::{ParameterError, TurnsExhausted};
use octopus_runs::RunError;
use octopus_sampler::SamplerError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a suite cannot be read or run, or its results not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// A file of the suite or of its results says what it must not.
    #[error("{}: {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, with field and value, and what to do.
        what: String,
    },
    /// There is no suite or peer of this name.
    #[error("there is no {kind} {name}: take one of {known}")]
    Unknown {
        /// `suite` or `framework`.
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// No case of a suite is of the sizes that were asked for.
    #[error(
        "{suite} has no case of these sizes or particles: its sizes (--data-size) are {sizes}, its particles \
         (--n-particles) {particles}"
    )]
    NoCase {
        /// The suite.
        suite: String,
        /// The sizes of its cases.
        sizes: String,
        /// The numbers of particles of its cases.
        particles: String,
    },
    /// The operating system refused something.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A framework did not answer as the protocol asks.
    #[error("{framework}: {what}")]
    Peer {
        /// The framework.
        framework: String,
        /// What it said, or did not say.
        what: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] FileError),
    /// A table cannot be read or written.
    #[error("{}", path.display())]
    Csv {
        /// The table.
        path: PathBuf,
        /// The reason.
        source: csv::Error,
    },
    /// An array cannot be read or written.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// A problem cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Data cannot be made.
    #[error(transparent)]
    Data(#[from] ModelError),
    /// An operation on arrays failed.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// Draws cannot be made.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// A distribution has no such parameter.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// All turns of a draw were refused.
    #[error(transparent)]
    Turns(#[from] TurnsExhausted),
    /// A statistic cannot be computed from the draws.
    #[error(transparent)]
    Diag(#[from] DiagError),
    /// Octopus cannot begin a run.
    #[error(transparent)]
    Begin(#[from] TraceError),
    /// Octopus cannot make a run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The sampler failed.
    #[error(transparent)]
    Sampler(#[from] SamplerError),
}

impl SuiteError {
    /// Makes the error for `map_err`: the operation `action` on `path` failed.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    /// Makes the error for `map_err`: the table at `path` cannot be read or written.
    pub(crate) fn csv(path: &Path) -> impl FnOnce(csv::Error) -> Self {
        move |source| Self::Csv { path: path.to_owned(), source }
    }

    /// Makes the error that a file says what it must not.
    pub(crate) fn file(path: &Path, what: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), what: what.into() }
    }

    /// Makes the error that a framework did not do as the protocol asks.
    pub(crate) fn peer(framework: &str, what: impl Into<String>) -> Self {
        Self::Peer { framework: framework.to_owned(), what: what.into() }
    }
}
