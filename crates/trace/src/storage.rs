//! The few operations on files that writers use, so that tests can let any one of them fail.
//!
//! A file is written under a temporary name in its own folder, forced to the disk and renamed: a reader
//! sees the old contents or the new, never a part.

use crate::TraceError;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Gives a file its contents.
pub(crate) type Fill<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Everything that a writer does to the file system.
pub(crate) trait Storage: Debug + Send + Sync {
    /// Makes a folder and those above it, unless they are there.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Writes a file from its beginning and forces it to the disk.
    fn write(&self, path: &Path, fill: Fill) -> io::Result<()>;
    /// Gives `from` the name `to`, replacing a file of that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Forces the names in a folder to the disk.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
}

/// The real file system.
#[derive(Debug)]
pub(crate) struct Disk;

impl Storage for Disk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn write(&self, path: &Path, fill: Fill) -> io::Result<()> {
        let mut writer = BufWriter::with_capacity(1 << 18, File::create(path)?);
        fill(&mut writer)?;
        writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Windows cannot open a folder as a file and needs no such call.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

/// Whether a file name is one of our temporary ones.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

/// The temporary name beside `path`.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().map_or_else(|| "file".into(), |name| name.to_string_lossy());
    path.with_file_name(format!(".{name}.tmp"))
}

/// The folder that `path` lies in; `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes `path` whole or not at all. On failure the temporary file is removed and what was at `path` stays.
pub(crate) fn replace(storage: &dyn Storage, path: &Path, fill: Fill) -> Result<(), TraceError> {
    let temporary = temporary(path);
    let result = storage
        .write(&temporary, fill)
        .and_then(|()| storage.rename(&temporary, path))
        .and_then(|()| storage.sync_dir(folder_of(path)));
    result.map_err(|source| {
        // The first failure is the one to tell; the temporary file may never have come to be.
        let _ = storage.remove_file(&temporary);
        TraceError::Io { action: "write", path: path.to_owned(), source }
    })
}

/// [`replace`] with contents that are in memory.
pub(crate) fn replace_bytes(storage: &dyn Storage, path: &Path, bytes: &[u8]) -> Result<(), TraceError> {
    replace(storage, path, &mut |writer| writer.write_all(bytes))
}

/// Writes `path` whole or not at all, in place of what is there.
///
/// # Errors
/// When the file cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), TraceError> {
    replace_bytes(&Disk, path, bytes)
}

/// Writes one file for a user: refuses to touch what is there unless `overwrite`.
pub(crate) fn export_file(path: &Path, overwrite: bool, fill: Fill) -> Result<(), TraceError> {
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(TraceError::FileExists { path: path.to_owned() });
    }
    let folder = folder_of(path);
    Disk.create_dir(folder).map_err(TraceError::io("create the folder", folder))?;
    replace(&Disk, path, fill)
}

/// Writes one folder for a user, whole or not at all: `fill` makes it under a temporary name. What is at
/// `path` is replaced if `overwrite` is set and `is_ours` recognises it; nothing else is ever removed.
pub(crate) fn export_folder(
    path: &Path,
    overwrite: bool,
    is_ours: impl FnOnce(&Path) -> bool,
    fill: impl FnOnce(&Path) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let exists = path.symlink_metadata().is_ok();
    if exists && !(overwrite && is_ours(path)) {
        return Err(TraceError::FileExists { path: path.to_owned() });
    }
    let folder = folder_of(path);
    Disk.create_dir(folder).map_err(TraceError::io("create the folder", folder))?;
    let fresh = temporary(path);
    let write = || {
        if fresh.exists() {
            fs::remove_dir_all(&fresh).map_err(TraceError::io("remove", &fresh))?;
        }
        Disk.create_dir(&fresh).map_err(TraceError::io("create the folder", &fresh))?;
        fill(&fresh)?;
        if exists {
            let former = temporary(&path.with_added_extension("former"));
            fs::rename(path, &former).map_err(TraceError::io("rename", path))?;
            fs::rename(&fresh, path).map_err(TraceError::io("write", path))?;
            return fs::remove_dir_all(&former).map_err(TraceError::io("remove", &former));
        }
        fs::rename(&fresh, path).map_err(TraceError::io("write", path))
    };
    write().inspect_err(|_| {
        // The first failure is the one to tell.
        let _ = fs::remove_dir_all(&fresh);
    })
}

#[cfg(test)]
pub(crate) mod faulty;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.nc");
        export_file(&path, false, &mut |writer| writer.write_all(b"old")).unwrap();
        assert!(matches!(export_file(&path, false, &mut |_| Ok(())), Err(TraceError::FileExists { .. })));
        let full = export_file(&path, true, &mut |writer| {
            writer.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let message = full.unwrap_err().to_string();
        assert!(message.contains("x.nc") && message.contains("free some space"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        export_file(&path, true, &mut |writer| writer.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
