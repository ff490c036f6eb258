//! The trait of trace formats.

use crate::FormatError;
use crate::export::{is_no_folder, may_export};
use octopus_trace::InferenceData;
use std::fmt::Debug;
use std::path::Path;

/// Writes a trace to a path; what is there already is replaced only if the last argument is true.
pub type WriteTrace = fn(&Path, &InferenceData, bool) -> Result<(), FormatError>;

/// A format of traces on disk.
pub trait TraceFormat: Debug + Sync {
    /// Returns the name that users give: `zarr-v2`.
    fn name(&self) -> &'static str;

    /// Returns what it is and who reads it, in a line of help.
    fn about(&self) -> &'static str;

    /// Returns what a trace of this format is called in errors: `Zarr store`.
    fn kind(&self) -> &'static str {
        self.name()
    }

    /// Returns whether a file that begins so is of this format, whatever its name; never for one that is only written.
    fn has_file(&self, _beginning: &[u8]) -> bool {
        false
    }

    /// Returns whether a folder is of this format; never for a format that is only written.
    ///
    /// # Errors
    /// When the folder, or a file in it, cannot be read.
    fn has_folder(&self, _folder: &Path) -> Result<bool, FormatError> {
        Ok(false)
    }

    /// Reads the trace at `path`.
    ///
    /// # Errors
    /// When it is damaged or not of this format, or when the format is only written.
    fn read(&self, path: &Path) -> Result<InferenceData, FormatError> {
        let what = format!("traces in the format {} are only written", self.name());
        Err(FormatError::Unreadable { path: path.to_owned(), what })
    }

    /// Returns the function that writes this format; `None` for a format that is only read.
    fn writer(&self) -> Option<WriteTrace> {
        None
    }

    /// Returns whether what is at `path` may be replaced by a trace of this format: any file where a file is written, and
    /// where a folder is, only one that this format was written as.
    fn may_replace(&self, path: &Path) -> bool {
        is_no_folder(path)
    }

    /// Asks whether a trace may be written to `path`, before it is read or made.
    ///
    /// # Errors
    /// [`FormatError::FileExists`] when something is there and `overwrite` is not set, or it may not be replaced.
    fn may_write(&self, path: &Path, overwrite: bool) -> Result<(), FormatError> {
        may_export(path, overwrite, |there| self.may_replace(there))
    }

    /// Returns whether only draws and their statistics can be written, and no other group.
    fn holds_draws_only(&self) -> bool {
        false
    }
}
