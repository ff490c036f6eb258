//! Writes files and folders for a user.
//!
//! What exists already is replaced (overwritten) only where the user asks for it.

use crate::FormatError;
use octopus_files::{Destination, Fill, NewFolder};
use std::path::Path;

/// Asks whether `path` may be written: nothing is there, or `overwrite` is set and `is_ours` recognises what is. Into a
/// device or a FIFO a file is written as it is; a folder has no place there.
pub(crate) fn may_export(path: &Path, overwrite: bool, is_ours: impl Fn(&Path) -> bool) -> Result<(), FormatError> {
    let at = Destination::of(path)?;
    let is_ours = is_ours(at.path());
    if at.path().symlink_metadata().is_ok() && !(is_ours && (overwrite || matches!(at, Destination::Stream(_)))) {
        return Err(FormatError::FileExists { path: path.to_owned(), is_ours });
    }
    Ok(())
}

/// Whether a file may take the place of what is there: `--force` replaces any file, and no folder.
pub(crate) fn is_no_folder(path: &Path) -> bool {
    !path.is_dir()
}

/// Writes one file for a user: refuses to touch what is there unless `overwrite`.
pub(crate) fn export_file(path: &Path, overwrite: bool, fill: Fill) -> Result<(), FormatError> {
    // Asked before `fill` is called; that nothing has come in its place is asked again when it is done.
    may_export(path, overwrite, is_no_folder)?;
    let finished = Destination::of(path)?.write(overwrite, fill)?;
    if finished { Ok(()) } else { Err(FormatError::FileExists { path: path.to_owned(), is_ours: true }) }
}

/// Writes one folder for a user, whole or not at all: `fill` makes it under a temporary name. What is at
/// `path` is replaced if `overwrite` is set and `is_ours` recognises it; nothing else is ever removed.
pub(crate) fn export_folder(
    path: &Path,
    overwrite: bool,
    is_ours: impl Fn(&Path) -> bool,
    fill: impl FnOnce(&Path) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    may_export(path, overwrite, &is_ours)?;
    let folder = NewFolder::begin(Destination::of(path)?.path())?;
    fill(folder.path())?;
    let finished = folder.finish(|there| overwrite && is_ours(there))?;
    if finished { Ok(()) } else { Err(FormatError::FileExists { path: path.to_owned(), is_ours: is_ours(path) }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_there_stays_unless_it_may_be_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("below/x.nc");
        export_file(&path, false, &mut |writer| writer.write_all(b"old")).unwrap();
        // It is asked before anything is made.
        let made = &mut |_: &mut dyn std::io::Write| panic!("it was made");
        assert!(matches!(export_file(&path, false, made), Err(FormatError::FileExists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        export_file(&path, true, &mut |writer| writer.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // A file takes no folder's place.
        let folder = path.parent().unwrap();
        let error = export_file(folder, true, &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.ends_with("so --force does not replace it"), "{error}");
    }

    #[test]
    fn a_folder_that_cannot_be_filled_leaves_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let write = |text: &str, fails: bool| {
            export_folder(
                &path,
                true,
                |_| true,
                |folder| {
                    fs::write(folder.join("file"), text).unwrap();
                    if fails { Err(FormatError::FileExists { path: "x".into(), is_ours: true }) } else { Ok(()) }
                },
            )
        };
        write("old", false).unwrap();
        write("half", true).unwrap_err();
        assert_eq!(fs::read(path.join("file")).unwrap(), b"old");
        write("new", false).unwrap();
        assert_eq!(fs::read(path.join("file")).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let again = export_folder(&path, false, |_| true, |_| panic!("it was made"));
        assert!(matches!(again, Err(FormatError::FileExists { is_ours: true, .. })));
    }
}
