//! Writing files whole or not at all (atomically), and the few operations on files that it takes.
//!
//! Tests can let any one of these fail.
//!
//! A file is written under a temporary name in its own folder, forced to the disk and renamed: a reader
//! sees the old contents or the new, never a part.

use crate::{FileError, Unfinished};
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A function that writes a file's contents.
pub type Fill<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Everything that a writer does to the file system.
///
/// # Errors
/// Each operation returns the operating system's error.
#[allow(clippy::missing_errors_doc)]
pub trait Storage: Debug + Send + Sync {
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
pub struct Disk;

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

/// Returns whether a file name is one of our temporary ones.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

/// Returns the temporary name beside `path`.
pub fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().map_or_else(|| "file".into(), |name| name.to_string_lossy());
    path.with_file_name(format!(".{name}.tmp"))
}

/// Returns the folder that `path` lies in; `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes `path` whole or not at all. On failure the temporary file is removed and what was at `path` stays.
///
/// # Errors
/// When the file cannot be written, or `fill` fails.
pub fn replace(storage: &dyn Storage, path: &Path, fill: Fill) -> Result<(), FileError> {
    replace_by(storage, &temporary(path), path, fill)
}

fn replace_by(storage: &dyn Storage, temporary: &Path, path: &Path, fill: Fill) -> Result<(), FileError> {
    let _span = tracing::debug_span!("write a file", file = %path.display()).entered();
    let _unfinished = Unfinished::begin(temporary);
    let result = storage
        .write(temporary, fill)
        .and_then(|()| storage.rename(temporary, path))
        .and_then(|()| storage.sync_dir(folder_of(path)));
    if result.is_ok() {
        tracing::debug!(file = %path.display(), "a file is written");
    }
    result.map_err(|source| {
        // The first failure is the one to tell; the temporary file may never have come to be.
        let _ = storage.remove_file(temporary);
        FileError { action: "write", path: path.to_owned(), source }
    })
}

/// Writes a file as [`replace`] does, with contents that are in memory.
///
/// # Errors
/// When the file cannot be written.
pub fn replace_bytes(storage: &dyn Storage, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace(storage, path, &mut |writer| writer.write_all(bytes))
}

/// Writes `path` whole or not at all, and replaces what is there. Folders above it are made. Where several programs and
/// threads write the same file, the last one's contents stay.
///
/// # Errors
/// When the file cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    /// Tells the threads of one process apart.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let folder = folder_of(path);
    Disk.create_dir(folder).map_err(FileError::io("create the folder", folder))?;
    let own = format!("{}-{}", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed));
    let temporary = temporary(&path.with_added_extension(own));
    replace_by(&Disk, &temporary, path, &mut |writer| writer.write_all(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.nc");
        write_file(&path, b"old").unwrap();
        let full = replace(&Disk, &path, &mut |writer| {
            writer.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let message = full.unwrap_err().to_string();
        assert!(message.contains("x.nc") && message.contains("free some space"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        write_file(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn folders_are_made_and_a_failure_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/report.json");
        write_file(&path, b"old").unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let names =
            |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        assert_eq!(names(path.parent().unwrap()), ["report.json"]);
        // A folder stands where the file is to go: the rename fails after the temporary file was written.
        let taken = dir.path().join("taken");
        fs::create_dir_all(taken.join("inside")).unwrap();
        let error = write_file(&taken, b"x").unwrap_err();
        assert!(error.path == taken && error.to_string().contains("cannot write"), "{error}");
        assert_eq!(names(dir.path()).len(), 2, "the temporary file is gone");
        assert!(write_file(Path::new("/"), b"x").is_err());
    }

    #[test]
    fn many_may_write_one_file_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::thread::scope(|scope| {
            for writer in 0..8u8 {
                let path = &path;
                scope.spawn(move || (0..20).for_each(|_| write_file(path, &[writer; 1000]).unwrap()));
            }
        });
        let found = fs::read(&path).unwrap();
        assert!(found.len() == 1000 && found.iter().all(|&byte| byte == found[0]));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
