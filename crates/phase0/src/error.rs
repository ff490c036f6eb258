//! The errors of phase 0: a stage could not run at all.

use octopus::TraceError;
use octopus_bench::BenchError;
use octopus_diag::DiagError;
use octopus_formats::FormatError;
use octopus_models::BuildError;
use octopus_report::ReportError;
use octopus_runs::RunError;
use octopus_sampler::SamplerError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a stage could not run. Those that quote another error have it as their source, too, which decides exit codes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Phase0Error {
    /// The model cannot be made.
    #[error("{0}")]
    Build(#[from] BuildError),
    /// A run cannot be made or read.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The sampler failed.
    #[error("{0}")]
    Sampler(#[from] SamplerError),
    /// Nothing can be made of the draws.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// A statistic cannot be computed.
    #[error("{0}")]
    Diag(#[from] DiagError),
    /// A measurement failed.
    #[error("{0}")]
    Bench(#[from] BenchError),
    /// The trace cannot be written.
    #[error("{0}")]
    Format(#[from] FormatError),
    /// A document cannot be written.
    #[error("{0}")]
    File(#[from] octopus_files::FileError),
    /// A picture or the page cannot be made.
    #[error("{0}")]
    Report(#[from] ReportError),
    /// The settings cannot be written as JSON.
    #[error("{0}")]
    Settings(#[from] serde_json::Error),
    /// The settings have no names.
    #[error("the settings are no table")]
    NoSettings,
    /// The run has ended without draws.
    #[error("the run holds no draws")]
    NoDraws,
    /// The operating system refused an operation on a file or folder.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}
