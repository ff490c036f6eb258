//! The errors of trace files: each names the file and says what to do.

use octopus_files::FileError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What can be read beside run folders, for those who have given something else.
const READ: &str =
    "a NetCDF file, a Zarr store, a Parquet file or folder, a CSV table, or CmdStan's CSV files, one for each chain";

/// A trace file that cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The operating system refused an operation on a file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file to be written exists already.
    #[error("{} exists: choose another name{}", path.display(), if *is_ours { ", or replace it with --force" } else { "; it is not what this format is written as, so --force does not replace it" })]
    FileExists {
        /// The file.
        path: PathBuf,
        /// Whether it may be replaced.
        is_ours: bool,
    },
    /// The trace contradicts itself, or the format cannot hold it.
    #[error("cannot write group {group}: {what}")]
    Invalid {
        /// The group.
        group: String,
        /// What is wrong, in words.
        what: String,
    },
    /// The trace file cannot be read.
    #[error("cannot read {}: {what}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What was found, in words.
        what: String,
    },
    /// The chains differ in length.
    #[error("the chains under {} have unequal numbers of draws {counts:?}; {fix}", path.display())]
    UnequalChains {
        /// The folder of the parts.
        path: PathBuf,
        /// The number of draws of each chain.
        counts: Vec<usize>,
        /// The advice: what to do.
        fix: String,
    },
    /// The path is no trace.
    #[error("{} is no trace that octopus can read, but {found}; give a run folder, {READ}", path.display())]
    UnknownFormat {
        /// The path.
        path: PathBuf,
        /// What the path is, in words.
        found: String,
    },
    /// Several paths are given that are not the chains of one run.
    #[error("several paths are one trace only as CSV files of CmdStan, one for each chain; {} is a {format}: give it alone", path.display())]
    SeveralTraces {
        /// The path that is not a CSV of CmdStan.
        path: PathBuf,
        /// The format of that path.
        format: String,
    },
    /// A library refused to encode a file.
    #[error("cannot encode {}: {what}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// The library's error message.
        what: String,
    },
}

impl FormatError {
    /// Makes the error for `map_err`: the operation `action` on `path` failed.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let error = FileError::io(action, path);
        move |source| Self::File(error(source))
    }
}
