//! The error of a file operation: it names the file and says what to do.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The operating system refused an operation on a file or folder.
#[derive(Debug, Error)]
#[error("cannot {action} {}: {source}{}", path.display(), hint(source))]
pub struct FileError {
    /// What was attempted, e.g. `write`.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The system's answer.
    pub source: io::Error,
}

impl FileError {
    /// Makes the error for `map_err`: the operation `action` on `path` failed.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { action, path: path.to_owned(), source }
    }
}

/// Returns advice for the usual refusals of a file system.
fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space and try again",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder that you may write to, or change its permissions"
        }
        io::ErrorKind::NotFound => "; check the path",
        _ => "",
    }
}
