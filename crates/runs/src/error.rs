//! What can go wrong with a run folder, with the file and the way out.

use octopus_files::FileError;
use octopus_formats::FormatError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A run folder that cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A trace that is no run cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The folder for a new run holds something already.
    #[error("{} exists and is not empty: choose another --out{}", path.display(), if *is_run { ", or replace the run in it with --force" } else { "; it is not a run folder, so --force does not replace it" })]
    FolderNotEmpty {
        /// The folder.
        path: PathBuf,
        /// Whether it holds a run.
        is_run: bool,
    },
    /// Warm-up is to be kept of a run whose warm-up has fewer chains than the run.
    #[error(
        "warm-up of many short chains is that of a few, and cannot be kept beside the run's draws: leave out --keep-warmup"
    )]
    KeepWarmup,
    /// The path does not hold a run.
    #[error("{} is not a run folder: it has no run.toml (`octopus sample ... --out DIR` makes one)", path.display())]
    NotARun {
        /// The path.
        path: PathBuf,
    },
    /// Another process writes this run.
    #[error("{} is in use by another octopus process: wait until it ends, or stop it", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// A finished run has nothing left to resume.
    #[error("the run in {} is complete: there is nothing to resume", path.display())]
    AlreadyComplete {
        /// The folder.
        path: PathBuf,
    },
    /// A record that does not say what it must.
    #[error("{}: field `{field}`: {message}; repair the file, or make the run again with --force", path.display())]
    Record {
        /// The `run.toml`.
        path: PathBuf,
        /// The field's path, e.g. `sampler.draws`; `.` for the whole file.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// A record of a later program.
    #[error("{} has schema {found}, this octopus reads up to {supported}: use a newer octopus", path.display())]
    RecordTooNew {
        /// The `run.toml`.
        path: PathBuf,
        /// The schema found.
        found: i64,
        /// The newest schema this program knows.
        supported: u32,
    },
    /// A part with draws that is there but cannot be read.
    #[error("{} is damaged: {what}; {fix}", path.display())]
    DamagedPart {
        /// The Parquet file.
        path: PathBuf,
        /// What was found.
        what: String,
        /// What to do.
        fix: String,
    },
    /// A part with draws that should be there.
    #[error("{} is missing; {fix}", path.display())]
    MissingPart {
        /// The Parquet file.
        path: PathBuf,
        /// What to do.
        fix: String,
    },
    /// A run without a single draw.
    #[error("the run in {} holds no draws yet: continue it with `octopus resume {}`", path.display(), path.display())]
    NoDraws {
        /// The folder.
        path: PathBuf,
    },
    /// A checkpoint that cannot be trusted.
    #[error("{} is damaged: {what}; the draws stay readable, but the run cannot be resumed: make it again with `octopus sample ... --force`", path.display())]
    DamagedCheckpoint {
        /// The checkpoint.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A name of the model that the run folder needs for itself.
    #[error("the model's variable or dimension `{name}` {why}: rename it")]
    Name {
        /// The name.
        name: String,
        /// Why it cannot stay.
        why: &'static str,
    },
    /// A block that does not fit the run.
    #[error("block of draws does not fit the run: {what} is {found}, expected {expected}")]
    Block {
        /// What differs.
        what: &'static str,
        /// The run's.
        expected: String,
        /// The block's.
        found: String,
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

impl RunError {
    /// For `map_err`: the operation `action` on `path` failed.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let error = FileError::io(action, path);
        move |source| Self::File(error(source))
    }
}
