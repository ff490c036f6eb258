//! Writing files whole or not at all (atomically), and the few operations on files that it takes.
//!
//! Tests can let any one of these fail.
//!
//! A file is written under a temporary name in its own folder, forced to the disk and renamed: a reader
//! sees the old contents or the new, never a part.

use crate::FileError;
use crate::lock::as_it_is;
use crate::new_folder::rename_new;
use crate::temporary::{Temporary, take_up_left_overs};
use std::cell::Cell;
use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

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
    /// Writes a file from its beginning and forces it to the disk. No symlink is followed.
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
        let mut options = OpenOptions::new();
        let file = as_it_is(options.write(true).create(true).truncate(true)).open(path)?;
        let mut writer = BufWriter::with_capacity(1 << 18, file);
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

/// Returns the folder that `path` lies in; `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes `path` whole or not at all, in the place of the file that is there, whose mode the new one has. On failure
/// the temporary file is removed and what was at `path` stays. What a killed process has left of writing it is removed.
///
/// Where several programs and threads write the same file, the last one's contents stay. A symlink at `path` is
/// replaced, not followed; [`Destination`](crate::Destination) follows those that a user has named.
///
/// # Errors
/// When the file cannot be written, or `fill` fails.
pub fn replace(storage: &dyn Storage, path: &Path, fill: Fill) -> Result<(), FileError> {
    let former = path.symlink_metadata().ok().filter(fs::Metadata::is_file);
    let mode = former.map(|file| file.permissions());
    write_beside(storage, path, mode.is_some(), fill, &|temporary| {
        if let Some(mode) = mode.clone() {
            fs::set_permissions(temporary, mode)?;
        }
        storage.rename(temporary, path)
    })
}

/// Writes `path` whole or not at all where nothing has this name; false says that something has it, and stays.
///
/// # Errors
/// When the file cannot be written, or `fill` fails.
pub(crate) fn write_new(path: &Path, fill: Fill) -> Result<bool, FileError> {
    let is_there = Cell::new(false);
    let written = write_beside(&Disk, path, false, fill, &|temporary| {
        rename_new(temporary, path).inspect_err(|error| is_there.set(error.kind() == io::ErrorKind::AlreadyExists))
    });
    if is_there.get() { Ok(false) } else { written.map(|()| true) }
}

/// Writes a file under a temporary name and has `rename` give it its own.
fn write_beside(
    storage: &dyn Storage,
    path: &Path,
    private: bool,
    fill: Fill,
    rename: &dyn Fn(&Path) -> io::Result<()>,
) -> Result<(), FileError> {
    let _span = tracing::debug_span!("write a file", file = %path.display()).entered();
    take_up_left_overs(path);
    let temporary = Temporary::file(path, private).map_err(FileError::io("write", path))?;
    let result = storage
        .write(temporary.path(), fill)
        .and_then(|()| rename(temporary.path()))
        .and_then(|()| storage.sync_dir(folder_of(path)));
    if result.is_ok() {
        tracing::debug!(file = %path.display(), "a file is written");
    }
    result.map_err(|source| {
        // The first failure is the one to tell; the temporary file may have its own name already.
        let _ = storage.remove_file(temporary.path());
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

/// Writes a file as [`replace`] does, to the disk, and makes the folders above it.
///
/// # Errors
/// When the file cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let folder = folder_of(path);
    Disk.create_dir(folder).map_err(FileError::io("create the folder", folder))?;
    replace_bytes(&Disk, path, bytes)
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

    #[cfg(unix)]
    #[test]
    fn a_file_keeps_its_mode_and_left_overs_and_links_are_no_obstacle() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        write_file(&at("x"), b"old").unwrap();
        fs::set_permissions(at("x"), fs::Permissions::from_mode(0o600)).unwrap();
        // What a killed process has left, and names that lead to another file.
        fs::write(at(".x.1-7.tmp"), "half").unwrap();
        fs::write(at("victim"), "mine").unwrap();
        symlink(at("victim"), at(".x.tmp")).unwrap();
        symlink(at("victim"), at(".x.2-7.tmp")).unwrap();
        write_file(&at("x"), b"new").unwrap();
        assert_eq!((fs::read(at("x")).unwrap(), fs::read(at("victim")).unwrap()), (b"new".to_vec(), b"mine".to_vec()));
        assert_eq!(at("x").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!at(".x.1-7.tmp").exists() && fs::read_dir(dir.path()).unwrap().count() == 4);
        symlink(at("victim"), at("link")).unwrap();
        write_file(&at("link"), b"new").unwrap();
        assert!(!at("link").is_symlink() && fs::read(at("victim")).unwrap() == b"mine");
        assert!(Disk.write(&at(".x.tmp"), &mut |_| Ok(())).is_err(), "a symlink is not followed");
    }

    #[test]
    fn a_new_file_takes_no_other_s_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let write = |text: &str| write_new(&path, &mut |writer| writer.write_all(text.as_bytes())).unwrap();
        assert_eq!([write("one"), write("two")], [true, false]);
        assert_eq!((fs::read(&path).unwrap(), fs::read_dir(dir.path()).unwrap().count()), (b"one".to_vec(), 1));
        let below = dir.path().join("x/below");
        assert!(write_new(&below, &mut |_| Ok(())).unwrap_err().to_string().contains("cannot write"));
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
