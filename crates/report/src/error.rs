//! The errors in making a report.

use std::path::PathBuf;

use thiserror::Error;

/// A report or a picture that could not be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A file or folder could not be written; nothing is left under its final name.
    #[error(transparent)]
    File(#[from] octopus_files::FileError),
    /// A picture was asked for that has nothing to show.
    #[error("{plot} has nothing to draw: {missing}")]
    Empty {
        /// The kind of picture.
        plot: &'static str,
        /// What the picture needs, in words.
        missing: &'static str,
    },
    /// The drawing library refused an element.
    #[error("drawing {what} failed: {message}; please report this with the data that shows it")]
    Draw {
        /// The element.
        what: &'static str,
        /// The library's message.
        message: String,
    },
    /// A file name was given without a name, such as `..`.
    #[error("{} is not a file name", path.display())]
    Name {
        /// The path.
        path: PathBuf,
    },
    /// The draws of a posterior could not be diagnosed.
    #[error("cannot tell how the parameters converged: {0}")]
    Diagnose(#[from] octopus_diag::DiagError),
    /// A file is no `report.json` of this version.
    #[error("{}: no report of `octopus validate`: {message}", path.display())]
    NoReport {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A report could not be turned into JSON.
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
