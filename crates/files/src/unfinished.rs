//! Files and folders that are being written under a temporary name: a program removes them when a signal ends it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
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
    /// Makes what will be written at `path`, and notes it. A program that ends removes it, or makes it no more.
    ///
    /// # Errors
    /// What `make` returns: then nothing is noted.
    pub(crate) fn begin(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<Self> {
        let mut all = all();
        make(path)?;
        all.insert(path.to_owned());
        Ok(Self { path: path.to_owned() })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        all().remove(&self.path);
    }
}

/// Ends the program with an exit code, at once and without half-written files. What cannot be removed stays.
pub fn exit_without_unfinished(code: i32) -> ! {
    // Held to the end: no other thread begins a file meanwhile.
    let all = all();
    remove(&all);
    std::process::exit(code)
}

fn remove(unfinished: &BTreeSet<PathBuf>) {
    for path in unfinished {
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
        let half = |path: &Path| fs::write(path, "half");
        drop(Unfinished::begin(&done, half).unwrap());
        let below = |path: &Path| fs::create_dir_all(path.join("below"));
        let writing = [Unfinished::begin(&file, half).unwrap(), Unfinished::begin(&folder, below).unwrap()];
        assert!(Unfinished::begin(&dir.path().join("not/there"), half).is_err());
        remove(&all());
        assert_eq!([&file, &folder, &done].map(|path| path.exists()), [false, false, true]);
        drop(writing);
        fs::write(&file, "another").unwrap();
        remove(&all());
        assert!(file.exists());
    }

    /// A writer that was about to begin waits for the end instead of leaving a file behind the one who cleans up.
    #[test]
    fn nothing_is_begun_while_the_program_ends() {
        let dir = tempfile::tempdir().unwrap();
        let late = dir.path().join("late");
        let ending = all();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| Unfinished::begin(&late, |path| fs::write(path, "half")).unwrap());
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!late.exists());
            drop(ending);
            drop(writer.join().unwrap());
        });
        assert!(late.exists());
    }
}
