//! The errors of measuring and judging.

use octopus_array::ArrayError;
use octopus_device::{CostsCacheError, CudaError};
use octopus_diag::DiagError;
use octopus_files::FileError;
use octopus_models::ModelError;
use octopus_runs::RunError;
use octopus_sampler::SamplerError;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use thiserror::Error;

/// Why nothing was measured or judged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The operating system refused something.
    #[error("{what}")]
    Io {
        /// What was attempted, and on which file.
        what: String,
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
    /// The device or its driver failed.
    #[error("{0}")]
    Device(#[from] CudaError),
    /// An operation on an array failed.
    #[error("{0}")]
    Array(#[from] ArrayError),
    /// A file cannot be written.
    #[error("{0}")]
    File(#[from] FileError),
    /// The measured costs cannot be kept.
    #[error("{0}")]
    Cache(#[from] CostsCacheError),
    /// The user has no place for the measured costs.
    #[error("give a folder with --cache")]
    NoCache(#[source] CostsCacheError),
    /// A result cannot be written as JSON.
    #[error("{0}")]
    ToJson(#[from] serde_json::Error),
    /// Another process cannot be read, or what waits for the result has gone.
    #[error("{0}")]
    Pipe(#[from] io::Error),
    /// The process that draws once has failed.
    #[error("the process that draws once ended with {0}")]
    Ended(ExitStatus),
    /// A record is of another version of the program.
    #[error("{}: schema {found} is not {wanted}: {advice}", path.display())]
    Schema {
        /// The record.
        path: PathBuf,
        /// The schema found.
        found: u32,
        /// The schema that this program knows.
        wanted: u32,
        /// What to do.
        advice: &'static str,
    },
    /// What should be equal differs; the text is the whole message.
    #[error("{0}")]
    Contradiction(String),
    /// One of many measurements failed.
    #[error("{name}")]
    At {
        /// The name of the measurement.
        name: String,
        /// The reason.
        source: Box<BenchError>,
    },
    /// There is nothing to measure.
    #[error("{0}")]
    Nothing(&'static str),
    /// A report was asked for on results that are not a GPU's.
    #[error("the results are of {0}: no report may present it as a GPU")]
    NoGpu(String),
}

impl BenchError {
    /// Says in which measurement this happened.
    pub(crate) fn at(self, name: String) -> Self {
        Self::At { name, source: Box::new(self) }
    }

    /// Makes the error for `map_err`: the operation `action` on `path` failed.
    pub(crate) fn io(action: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what: format!("cannot {action} {}", path.display()), source }
    }

    /// Makes the error for `map_err`: a text cannot be read or written as JSON.
    pub(crate) fn json(what: impl FnOnce() -> String) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Self::Json { what: what(), source }
    }
}
