//! What is known of an unfinished array, in a small file beside it: all that resuming needs.

use super::{NpyError, NpyHeader, NpyType};
use crate::{FileError, Storage, replace_bytes};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns the file that holds the data of an unfinished array.
pub fn unfinished_path(path: &Path) -> PathBuf {
    path.with_added_extension("partial")
}

/// Returns the file that records what an unfinished array is.
pub fn record_path(path: &Path) -> PathBuf {
    path.with_added_extension("partial.json")
}

/// What an unfinished array is, and how much of it is on the disk.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NpyRecord {
    /// What is being written, in the words of who asked for it.
    pub(super) description: String,
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    /// How many elements were forced to the disk.
    pub(super) durable: u64,
    /// Whether a finished file of that name is to be replaced.
    pub(super) replace: bool,
}

impl NpyRecord {
    /// Makes the record of an array of which nothing is written yet.
    pub(super) fn new(header: &NpyHeader, description: &str, replace: bool) -> Self {
        let dtype = header.dtype().descr().to_owned();
        Self { description: description.to_owned(), dtype, shape: header.shape().to_vec(), durable: 0, replace }
    }

    /// Returns the array's type and shape, if it can have them.
    pub(super) fn header(&self, path: &Path) -> Option<NpyHeader> {
        let header = NpyHeader::new(path, NpyType::of_descr(&self.dtype)?, &self.shape).ok()?;
        (self.durable <= header.count()).then_some(header)
    }

    /// Writes the record of the array at `path`, whole or not at all.
    pub(super) fn write(&self, storage: &dyn Storage, path: &Path) -> Result<(), FileError> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other);
        let text = text.map_err(FileError::io("write", &record_path(path)))?;
        replace_bytes(storage, &record_path(path), text.as_bytes())
    }

    /// Reads the record of the array at `path`; `None` when there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, NpyError> {
        let record = record_path(path);
        let damaged = |what: String| NpyError::Damaged { unfinished: unfinished_path(path), what };
        match fs::read_to_string(&record) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| damaged(format!("its record {} is damaged ({error})", record.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::io("read", &record)(error).into()),
        }
    }
}
