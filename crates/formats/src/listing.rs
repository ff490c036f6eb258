//! What is in a folder.

use crate::FormatError;
use std::path::{Path, PathBuf};

/// Returns what in a folder has a name with this ending, sorted.
pub(crate) fn files_ending(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, FormatError> {
    let mut files = listed(folder)?;
    files.retain(|path| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending)));
    Ok(files)
}

/// Returns what is in a folder, sorted.
pub(crate) fn listed(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let entries = std::fs::read_dir(folder).map_err(FormatError::io("list", folder))?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(FormatError::io("list", folder))?;
    paths.sort();
    Ok(paths)
}
