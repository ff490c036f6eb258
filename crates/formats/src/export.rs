//! Writes files and folders for a user.
//!
//! What exists already is replaced (overwritten) only where the user asks for it.

use crate::FormatError;
use octopus_files::{Disk, Fill, Storage, Unfinished, folder_of, replace, temporary};
use std::fs;
use std::path::Path;

/// Writes one file for a user: refuses to touch what is there unless `overwrite`.
pub(crate) fn export_file(path: &Path, overwrite: bool, fill: Fill) -> Result<(), FormatError> {
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(FormatError::FileExists { path: path.to_owned() });
    }
    let folder = folder_of(path);
    Disk.create_dir(folder).map_err(FormatError::io("create the folder", folder))?;
    Ok(replace(&Disk, path, fill)?)
}

/// Writes one folder for a user, whole or not at all: `fill` makes it under a temporary name. What is at
/// `path` is replaced if `overwrite` is set and `is_ours` recognises it; nothing else is ever removed.
pub(crate) fn export_folder(
    path: &Path,
    overwrite: bool,
    is_ours: impl FnOnce(&Path) -> bool,
    fill: impl FnOnce(&Path) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let exists = path.symlink_metadata().is_ok();
    if exists && !(overwrite && is_ours(path)) {
        return Err(FormatError::FileExists { path: path.to_owned() });
    }
    let folder = folder_of(path);
    Disk.create_dir(folder).map_err(FormatError::io("create the folder", folder))?;
    let fresh = temporary(path);
    let _unfinished = Unfinished::begin(&fresh);
    let write = || {
        if fresh.exists() {
            fs::remove_dir_all(&fresh).map_err(FormatError::io("remove", &fresh))?;
        }
        Disk.create_dir(&fresh).map_err(FormatError::io("create the folder", &fresh))?;
        fill(&fresh)?;
        if exists {
            let former = temporary(&path.with_added_extension("former"));
            fs::rename(path, &former).map_err(FormatError::io("rename", path))?;
            fs::rename(&fresh, path).map_err(FormatError::io("write", path))?;
            return fs::remove_dir_all(&former).map_err(FormatError::io("remove", &former));
        }
        fs::rename(&fresh, path).map_err(FormatError::io("write", path))
    };
    write().inspect_err(|_| {
        // The first failure is the one to tell.
        let _ = fs::remove_dir_all(&fresh);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_unless_it_may_be_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("below/x.nc");
        export_file(&path, false, &mut |writer| writer.write_all(b"old")).unwrap();
        assert!(matches!(export_file(&path, false, &mut |_| Ok(())), Err(FormatError::FileExists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        export_file(&path, true, &mut |writer| writer.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
