//! Opens and reads files that lie in folders: regular ones only.
//!
//! A named pipe in a folder waits for a writer, and a device such as `/dev/zero` has no end: whoever reads all files of a
//! folder would hang, or take all the memory there is. What a user names on the command line, such as `<(zcat d.gz)`, is
//! not read by these functions where a pipe has sense.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file to read it, behind symbolic links.
///
/// # Errors
/// When it cannot be opened, or is a pipe, a device or a socket: the error says which.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Asked before it is opened, which waits where the file is a pipe.
    let found = fs::metadata(path)?.file_type();
    if !found.is_file() && !found.is_dir() {
        let what = format!("it is {}, and a file is needed in its place", special(found));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    File::open(path)
}

/// Reads a file whole, behind symbolic links.
///
/// # Errors
/// As [`open_regular`], when it cannot be read, or when it has more bytes than there is memory.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_regular(path)?;
    let mut bytes = Vec::new();
    let len = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
    // One byte more, so that the end is found without a larger vector.
    bytes.try_reserve_exact(len.saturating_add(1)).map_err(|_| io::ErrorKind::OutOfMemory)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns what a file is that is neither regular nor a folder, in words.
fn special(found: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if found.is_fifo() {
            return "a named pipe";
        }
        if found.is_socket() {
            return "a socket";
        }
    }
    let _ = found;
    "a device"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        for bytes in [&b""[..], b"whole"] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(read_regular(&path).unwrap(), bytes);
        }
        assert_eq!(read_regular(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(read_regular(dir.path()).is_err());
    }

    /// A test that hangs fails by its limit of time.
    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_told_and_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(path("pipe")).status();
        assert!(made.is_ok_and(|status| status.success()));
        let socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        std::os::unix::fs::symlink(path("pipe"), path("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        fs::write(path("file"), "text").unwrap();
        std::os::unix::fs::symlink(path("file"), path("to file")).unwrap();
        for (name, what) in
            [("pipe", "a named pipe"), ("link", "a named pipe"), ("socket", "a socket"), ("zero", "a device")]
        {
            let message = read_regular(&path(name)).unwrap_err().to_string();
            assert!(message.starts_with(&format!("it is {what}, and a file is needed")), "{name}: {message}");
        }
        assert_eq!(read_regular(&path("to file")).unwrap(), b"text");
        drop(socket);
    }
}
