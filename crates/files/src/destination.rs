//! Where a file goes that a user names: to a file, which is replaced whole, or into a device or FIFO, which never is.

use crate::storage::{replace, write_new};
use crate::{Disk, FileError, Fill, Storage, folder_of};
use std::fs::{Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// As many symlinks as Linux follows.
const MOST_LINKS: usize = 40;

/// Where the file goes that a user has named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The file of this path, which is no symlink; it need not be there.
    File(PathBuf),
    /// A device, a FIFO or an open file of this process (`/dev/null`, `/dev/stdout`): it is written to as it is.
    Stream(PathBuf),
}

impl Destination {
    /// Follows the symlinks of a path that a user has named.
    ///
    /// # Errors
    /// When a symlink cannot be read or leads back to itself, or the path is that of a disk.
    pub fn of(path: &Path) -> Result<Self, FileError> {
        let failed = || FileError::io("write", path);
        let mut at = path.to_owned();
        for _ in 0..MOST_LINKS {
            let there = match at.symlink_metadata() {
                Ok(there) => there,
                Err(_) => return Ok(Self::File(at)),
            };
            if !there.is_symlink() {
                return match kind(&there) {
                    FileKind::File => Ok(Self::File(at)),
                    FileKind::Stream => Ok(Self::Stream(at)),
                    FileKind::Other => Err(failed()(io::Error::other("it is no regular file: name another"))),
                };
            }
            // `/dev/stdout` leads to `/proc/self/fd/1`, which leads nowhere that could be opened by its name.
            if at.starts_with("/proc") || at.starts_with("/dev/fd") {
                return Ok(Self::Stream(path.to_owned()));
            }
            at = folder_of(&at).join(std::fs::read_link(&at).map_err(failed())?);
        }
        Err(failed()(io::Error::other("it is a symlink that leads back to itself")))
    }

    /// Returns the path that is written to.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Stream(path) => path,
        }
    }

    /// Writes it: a file whole or not at all, in the place of what is there if `overwrite` is set. Folders above it are
    /// made. False says that a file is there and stays.
    ///
    /// # Errors
    /// When it cannot be written, or `fill` fails.
    pub fn write(&self, overwrite: bool, fill: Fill) -> Result<bool, FileError> {
        match self {
            Self::File(path) => {
                let folder = folder_of(path);
                Disk.create_dir(folder).map_err(FileError::io("create the folder", folder))?;
                if overwrite { replace(&Disk, path, fill).map(|()| true) } else { write_new(path, fill) }
            }
            Self::Stream(path) => {
                let opened = OpenOptions::new().append(true).open(path);
                opened.and_then(|mut stream| fill(&mut stream)).map_err(FileError::io("write", path))?;
                Ok(true)
            }
        }
    }
}

/// Writes a file that a user has named, in the place of what is there. Symlinks are followed, and folders above it are
/// made.
///
/// # Errors
/// When it cannot be written.
pub fn write_named(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    Destination::of(path)?.write(true, &mut |out| out.write_all(bytes)).map(drop)
}

/// What a name is of, for who wants to write to it.
enum FileKind {
    File,
    Stream,
    /// A disk or a socket.
    Other,
}

#[cfg(unix)]
fn kind(there: &Metadata) -> FileKind {
    use std::os::unix::fs::FileTypeExt;
    let kind = there.file_type();
    if kind.is_block_device() || kind.is_socket() {
        FileKind::Other
    } else if kind.is_char_device() || kind.is_fifo() {
        FileKind::Stream
    } else {
        FileKind::File
    }
}

#[cfg(not(unix))]
fn kind(_: &Metadata) -> FileKind {
    FileKind::File
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn write(path: &Path, overwrite: bool, text: &str) -> Result<bool, FileError> {
        Destination::of(path)?.write(overwrite, &mut |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn links_are_followed_and_what_is_there_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("far")).unwrap();
        fs::write(at("far/file"), "old").unwrap();
        fs::set_permissions(at("far/file"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("far/file", at("link")).unwrap();
        symlink("link", at("to link")).unwrap();
        assert!(!write(&at("to link"), false, "new").unwrap());
        assert_eq!(fs::read(at("far/file")).unwrap(), b"old");
        assert!(write(&at("to link"), true, "new").unwrap());
        assert_eq!(fs::read(at("far/file")).unwrap(), b"new");
        assert_eq!(at("far/file").metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert!(at("to link").is_symlink() && at("link").is_symlink());
        assert_eq!(fs::read_dir(at("far")).unwrap().count(), 1);
        // A link that leads to nothing yet is the name of a file that is not there.
        symlink("below/new", at("open")).unwrap();
        assert!(write(&at("open"), false, "made").unwrap());
        assert_eq!(fs::read(at("below/new")).unwrap(), b"made");
        symlink("round", at("round")).unwrap();
        assert!(write(&at("round"), true, "x").unwrap_err().to_string().contains("leads back to itself"));
    }

    #[test]
    fn devices_and_fifos_are_written_to_and_stay() {
        // The machine's own devices are only looked at: a fault here would cost them.
        let null = Path::new("/dev/null");
        assert_eq!(Destination::of(null).unwrap(), Destination::Stream(null.to_owned()));
        assert!(matches!(Destination::of(Path::new("/dev/stdout")).unwrap(), Destination::Stream(_)));
        let dir = tempfile::tempdir().unwrap();
        for overwrite in [false, true] {
            let fifo = dir.path().join(format!("fifo-{overwrite}"));
            assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
            let reader = std::thread::spawn({
                let fifo = fifo.clone();
                move || fs::read(fifo).unwrap()
            });
            assert!(write(&fifo, overwrite, "through").unwrap());
            assert_eq!(reader.join().unwrap(), b"through");
            assert!(!fifo.is_file() && fifo.exists());
        }
    }
}
