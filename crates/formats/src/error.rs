//! What can go wrong with trace files, with the file and the way out.

use octopus_files::FileError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A trace file that cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file to be written is there already.
    #[error("{} exists: choose another name, or replace it with --force", path.display())]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// A trace that contradicts itself or that the format cannot hold.
    #[error("cannot write group {group}: {what}")]
    Invalid {
        /// The group.
        group: String,
        /// What is wrong.
        what: String,
    },
    /// A trace file that cannot be read.
    #[error("cannot read {}: {what}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Chains of different lengths.
    #[error("the chains under {} have unequal numbers of draws {counts:?}; {fix}", path.display())]
    UnequalChains {
        /// The folder of the parts.
        path: PathBuf,
        /// The draws of each chain.
        counts: Vec<usize>,
        /// What to do.
        fix: String,
    },
    /// Something that is no trace.
    #[error("{} is no trace that octopus can read, but {found}; give a run folder, a NetCDF file, a Zarr store, a Parquet file or folder, or CmdStan's CSV files, one for each chain", path.display())]
    UnknownFormat {
        /// The path.
        path: PathBuf,
        /// What it is.
        found: String,
    },
    /// Several paths that are not the chains of one run.
    #[error("several paths are one trace only as CSV files of CmdStan, one for each chain; {} is a {format}: give it alone", path.display())]
    SeveralTraces {
        /// The path that is none.
        path: PathBuf,
        /// What it is.
        format: String,
    },
    /// A library refused to encode a file.
    #[error("cannot encode {}: {what}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// The library's words.
        what: String,
    },
}

impl FormatError {
    /// For `map_err`: the operation `action` on `path` failed.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let error = FileError::io(action, path);
        move |source| Self::File(error(source))
    }
}
