//! Files that grow over hours, and the few operations on them, each of which a test can let fail.
//!
//! A file that takes hours is not written anew when its program ends early: it is opened again, cut to what is known to
//! be on the disk, and written on. Only [`GrowingFile::sync`] makes sure that bytes are on the disk.

use crate::{Disk, Storage, lock_file};
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A file that is read and written from its beginning on, and cut where it is to end.
///
/// # Errors
/// Each operation returns the operating system's error.
#[allow(clippy::missing_errors_doc)]
pub trait GrowingFile: Read + Write + Debug + Send {
    /// Cuts the file to `length` bytes, which must be there; what is written next follows them.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Forces to the disk what was written.
    fn sync(&mut self) -> io::Result<()>;
}

/// Everything that a writer of growing files does to the file system.
///
/// # Errors
/// Each operation returns the operating system's error.
#[allow(clippy::missing_errors_doc)]
pub trait GrowingStorage: Storage {
    /// Opens a file as it is, or makes it, for this program alone.
    fn open(&self, path: &Path) -> io::Result<Box<dyn GrowingFile>>;
    /// Returns the bytes that this user can still write in a folder; `None` where the system does not tell.
    fn free_space(&self, folder: &Path) -> Option<u64>;
}

impl GrowingFile for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl GrowingStorage for Disk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn GrowingFile>> {
        match lock_file(path)? {
            Some(file) => Ok(Box::new(file)),
            None => Err(io::Error::other("another program is writing it: wait for its end")),
        }
    }

    #[cfg(unix)]
    fn free_space(&self, folder: &Path) -> Option<u64> {
        let disk = rustix::fs::statvfs(folder).ok()?;
        // A file system without any blocks is one that does not count them.
        (disk.f_blocks > 0).then(|| disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    #[cfg(not(unix))]
    fn free_space(&self, _: &Path) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_on_after_what_is_left_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("grows");
        let mut file = Disk.open(&path).unwrap();
        file.write_all(b"one two").unwrap();
        let error = Disk.open(&path).unwrap_err();
        assert!(error.to_string().contains("another program"), "{error}");
        drop(file);
        let mut file = Disk.open(&path).unwrap();
        let mut word = [0; 3];
        file.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"one");
        file.cut(4).unwrap();
        file.write_all(b"three").unwrap();
        file.sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one three");
    }

    #[test]
    fn free_space_is_told_of_disks_only() {
        let dir = tempfile::tempdir().unwrap();
        if cfg!(unix) {
            assert!(Disk.free_space(dir.path()).unwrap() > 0);
        }
        assert_eq!(Disk.free_space(&dir.path().join("none")), None);
        assert_eq!(Disk.free_space(Path::new("/proc/self")), None);
    }
}
