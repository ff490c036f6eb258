//! Files and folders that are being written under a temporary name: a program removes them when a signal ends it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn all() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or folder that is being written; its writer renames or removes it before this is dropped.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Notes that `path` is being written.
    #[must_use]
    pub(crate) fn begin(path: &Path) -> Self {
        all().insert(path.to_owned());
        Self { path: path.to_owned() }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        all().remove(&self.path);
    }
}

/// Removes what is being written, for a program that ends at once. What cannot be removed stays.
pub fn remove_unfinished() {
    for path in all().iter() {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_being_written_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let [file, folder, done] = ["file", "folder", "done"].map(|name| dir.path().join(name));
        fs::write(&file, "half").unwrap();
        fs::create_dir_all(folder.join("below")).unwrap();
        fs::write(&done, "all").unwrap();
        drop(Unfinished::begin(&done));
        let writing = [&file, &folder, &dir.path().join("not there")].map(|path| Unfinished::begin(path));
        remove_unfinished();
        assert_eq!([&file, &folder, &done].map(|path| path.exists()), [false, false, true]);
        drop(writing);
        fs::write(&file, "another").unwrap();
        remove_unfinished();
        assert!(file.exists());
    }
}
