//! Locks that end with their process, however it ends, on files that are what their names say.
//!
//! A lock is the system's own (`flock`): `kill -9` gives it back. Symlinks are never followed.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// What came of asking for a lock.
#[derive(Debug)]
pub(crate) enum Lock {
    /// This process has it until the file is dropped. Where a file system knows no locks, it has the file alone.
    Held(File),
    /// Another process has it.
    Taken,
    /// The name is no longer that of the file: another process has removed or renamed it meanwhile.
    Gone,
}

/// Takes the file at `path` for this process, and makes it if it is absent. A symlink is not followed, and what is no
/// regular file is refused.
///
/// `None` says that another process has it.
///
/// # Errors
/// The system's error, or that there is something else than a regular file.
pub fn lock_file(path: &Path) -> io::Result<Option<File>> {
    loop {
        let mut options = OpenOptions::new();
        let file = as_it_is(options.read(true).write(true).create(true).truncate(false)).open(path).map_err(no_link)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no regular file: remove it, or name another"));
        }
        match lock_opened(file, path)? {
            Lock::Held(file) => return Ok(Some(file)),
            Lock::Taken => return Ok(None),
            // Its last holder has removed it or given it another name: the name is free.
            Lock::Gone => {}
        }
    }
}

/// Takes what is at `path`, a file or a folder, without changing it.
///
/// # Errors
/// The system's error, also where `path` is a symlink.
pub(crate) fn lock_what_is_there(path: &Path) -> io::Result<Lock> {
    lock_opened(as_it_is(OpenOptions::new().read(true)).open(path)?, path)
}

fn lock_opened(file: File, path: &Path) -> io::Result<Lock> {
    // Windows locks against the process itself too, which writes the file under another handle.
    if cfg!(unix) {
        match file.try_lock() {
            // Some network file systems know no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Ok(Lock::Taken),
        }
    }
    Ok(if is_at(&file, path)? { Lock::Held(file) } else { Lock::Gone })
}

/// Whether `path` is the name of an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(there) => Ok(same(&there, &file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether both are of one file. Where the system gives files no numbers, they are taken for the same.
#[cfg(unix)]
fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Lets a file be opened as what its name says: no symlink is followed, and nobody is waited for at the other end of a
/// FIFO.
#[cfg(unix)]
pub(crate) fn as_it_is(options: &mut OpenOptions) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
}

#[cfg(not(unix))]
pub(crate) fn as_it_is(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Words the system's refusal of a symlink.
#[cfg(unix)]
fn no_link(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return io::Error::other("it is a symlink, and what it leads to is not ours to write: remove it");
    }
    error
}

#[cfg(not(unix))]
fn no_link(error: io::Error) -> io::Error {
    error
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_lock_is_of_one_file_and_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = lock_file(&path).unwrap().unwrap();
        assert!(lock_file(&path).unwrap().is_none());
        assert!(matches!(lock_what_is_there(&path).unwrap(), Lock::Taken));
        drop(held);
        assert!(matches!(lock_what_is_there(&path).unwrap(), Lock::Held(_)));
        // Opened before another process gives it another name: the lock is of a file that is called otherwise.
        let opened = File::open(&path).unwrap();
        fs::rename(&path, dir.path().join("finished")).unwrap();
        assert!(matches!(lock_opened(opened, &path).unwrap(), Lock::Gone));
        let opened = File::open(dir.path().join("finished")).unwrap();
        fs::write(&path, "another").unwrap();
        assert!(matches!(lock_opened(opened, &path).unwrap(), Lock::Gone));
    }

    #[test]
    fn what_is_no_file_is_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        let error = lock_file(&link).unwrap_err().to_string();
        assert!(error.contains("symlink") && fs::read(&victim).unwrap() == b"mine", "{error}");
        fs::create_dir(dir.path().join("folder")).unwrap();
        assert!(lock_file(&dir.path().join("folder")).is_err());
    }
}
