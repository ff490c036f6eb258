//! Files appear whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::ReportError;

/// Writes `bytes` beside `path` under a temporary name, flushes them to the disk, and renames.
///
/// Missing folders above `path` are made. A reader never sees half a file, and a full disk leaves the old file.
///
/// # Errors
/// [`ReportError::Write`] with the path and the system's message; the temporary file is removed.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let name = path.file_name().ok_or_else(|| ReportError::Name { path: path.to_owned() })?;
    let failed = |source| ReportError::Write { path: path.to_owned(), source };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // The process id keeps two programs that write the same report apart.
    let mut temporary_name = std::ffi::OsString::from(".");
    temporary_name.push(name);
    temporary_name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary_name);
    let written = (|| {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    written.map_err(|source| {
        let _ = fs::remove_file(&temporary);
        failed(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_folders_replaces_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/report.json");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["report.json"]);
    }

    #[test]
    fn a_failure_names_the_file_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // A folder stands where the file is to go: the rename fails after the temporary file was written.
        let path = folder.path().join("taken");
        fs::create_dir_all(path.join("inside")).unwrap();
        let error = write_atomically(&path, b"x").unwrap_err().to_string();
        assert!(error.contains("taken") && error.contains("writable"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the temporary file is gone");
        assert!(write_atomically(Path::new("/"), b"x").is_err());
    }
}
