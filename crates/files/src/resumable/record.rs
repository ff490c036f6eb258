//! What is known of an unfinished file, in a small file beside it: all that resuming needs.

use super::{FilePlan, ResumableError};
use crate::{FileError, Storage, replace_bytes};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns the file that holds the data of an unfinished file.
pub fn unfinished_path(path: &Path) -> PathBuf {
    path.with_added_extension("partial")
}

/// Returns the file that records what an unfinished file is.
pub fn record_path(path: &Path) -> PathBuf {
    path.with_added_extension("partial.json")
}

/// What an unfinished file is, and how much of it is on the disk.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResumableRecord {
    /// What is being written, in the words of who asked for it.
    pub(super) description: String,
    /// What it is in the words of its format: [`FilePlan::contents`].
    pub(super) contents: String,
    /// How many numbers were forced to the disk.
    pub(super) durable: u64,
    /// Whether a finished file of that name is to be replaced.
    pub(super) replace: bool,
}

impl ResumableRecord {
    /// Makes the record of a file of which nothing is written yet.
    pub(super) fn new(plan: &FilePlan, description: &str, replace: bool) -> Self {
        Self { description: description.to_owned(), contents: plan.contents.clone(), durable: 0, replace }
    }

    /// Writes the record of the file at `path`, whole or not at all.
    pub(super) fn write(&self, storage: &dyn Storage, path: &Path) -> Result<(), FileError> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other);
        let text = text.map_err(FileError::io("write", &record_path(path)))?;
        replace_bytes(storage, &record_path(path), text.as_bytes())
    }

    /// Reads the record of the file at `path`; `None` when there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, ResumableError> {
        let record = record_path(path);
        let damaged = |what: String| ResumableError::Damaged { unfinished: unfinished_path(path), what };
        match fs::read_to_string(&record) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| damaged(format!("its record {} is damaged ({error})", record.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::io("read", &record)(error).into()),
        }
    }
}
