//! Temporary names beside the final ones: each is of one process and one attempt, and is locked while its maker lives.
//!
//! A file of such a name whose lock is free is a left-over of a process that was killed; who next writes under the same
//! final name removes it. No name that was there before is ever written to, so that nothing is followed or shared.

use crate::folder_of;
use crate::lock::{Lock, as_it_is, lock_what_is_there};
use crate::unfinished::Unfinished;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Names are at most 255 bytes long on most file systems, of which what tells attempts apart takes some.
const LONGEST: usize = 200;
/// What marks the former folder while a new one takes its place without an exchange of names.
const FORMER: &str = "former-";

/// A new file or folder under a temporary name, which this process alone knows.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    _lock: Option<File>,
    _unfinished: Unfinished,
}

impl Temporary {
    /// Makes an empty file beside `path`; with `private`, only its owner may read it.
    ///
    /// # Errors
    /// When the system refuses it.
    pub(crate) fn file(path: &Path, private: bool) -> io::Result<Self> {
        Self::make(path, "", |temporary| {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            if private {
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            }
            as_it_is(&mut options).open(temporary).map(drop)
        })
    }

    /// Makes an empty folder beside `path`.
    ///
    /// # Errors
    /// When the system refuses it.
    pub(crate) fn folder(path: &Path) -> io::Result<Self> {
        Self::make(path, "", |temporary| fs::create_dir(temporary))
    }

    /// Gives the folder at `path` a temporary name, under which it is recognised as the former one.
    pub(crate) fn former(path: &Path) -> io::Result<Self> {
        Self::make(path, FORMER, |temporary| fs::rename(path, temporary))
    }

    fn make(path: &Path, mark: &str, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<Self> {
        loop {
            let temporary = path.with_file_name(name(path, mark));
            let unfinished = match Unfinished::begin(&temporary, &make) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                begun => begun?,
            };
            // Before it was locked, another process may have taken it for a left-over.
            let lock = match lock_what_is_there(&temporary) {
                Ok(Lock::Held(file)) => Some(file),
                Ok(Lock::Taken | Lock::Gone) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // Windows opens no folder.
                Err(_) => None,
            };
            return Ok(Self { path: temporary, _lock: lock, _unfinished: unfinished });
        }
    }

    /// Returns the temporary path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns a name that no other attempt has.
fn name(path: &Path, mark: &str) -> String {
    static ATTEMPTS: AtomicU64 = AtomicU64::new(0);
    let attempt = ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    format!(".{}.{mark}{}-{attempt}.tmp", own_name(path), std::process::id())
}

/// Returns the final name as temporary ones have it.
fn own_name(path: &Path) -> String {
    let name = path.file_name().map_or_else(|| "file".into(), |name| name.to_string_lossy());
    name[..name.floor_char_boundary(LONGEST)].to_owned()
}

/// Splits a temporary name: the final name that it is for, and whether it is of a former folder.
fn parse(name: &str) -> Option<(&str, bool)> {
    let (name, attempt) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let former = attempt.strip_prefix(FORMER);
    let (process, number) = former.unwrap_or(attempt).split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(process) && is_number(number)).then_some((name, former.is_some()))
}

/// Returns whether a file name is one of our temporary ones.
pub fn is_temporary(name: &str) -> bool {
    parse(name).is_some()
}

/// Takes up what killed processes have left of writing `path`: what was half-written is removed, and a former folder
/// whose place was not taken yet gets its name again. What cannot be removed stays, and is in nobody's way.
pub(crate) fn take_up_left_overs(path: &Path) {
    let own = own_name(path);
    let Ok(entries) = fs::read_dir(folder_of(path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((_, is_former)) = name.to_str().and_then(parse).filter(|(name, _)| *name == own) else { continue };
        let left = path.with_file_name(&name);
        // The lock is kept until it is gone, so that two who take it up do not meet.
        let Ok(Lock::Held(_lock)) = lock_what_is_there(&left) else { continue };
        if is_former && path.symlink_metadata().is_err() {
            let _ = fs::rename(&left, path);
        } else {
            remove(&left);
        }
        tracing::info!(file = %left.display(), "what a killed program has left is taken up");
    }
}

/// Removes a file or a folder with all that is in it.
pub(crate) fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|there| there.is_dir());
    let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_temporary_name_says_what_it_is_for() {
        assert_eq!(parse(".run.toml.17-3.tmp"), Some(("run.toml", false)));
        assert_eq!(parse(".store.zarr.former-17-3.tmp"), Some(("store.zarr", true)));
        for other in ["run.toml.17-3.tmp", ".run.toml.tmp", ".mine.tmp", ".a.17-.tmp", ".a.17-x.tmp", ".17-3.tmp"] {
            assert_eq!(parse(other), None, "{other}");
        }
        let long = Path::new("folder").join("ä".repeat(127));
        let made = name(&long, FORMER);
        assert!(made.len() <= 255 && parse(&made) == Some((own_name(&long).as_str(), true)), "{made}");
    }

    #[cfg(unix)]
    #[test]
    fn only_left_overs_of_the_same_name_are_taken_up() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at(".x.1-0.tmp"), "half").unwrap();
        fs::create_dir_all(at(".x.1-1.tmp/below")).unwrap();
        for stays in [".y.1-0.tmp", ".x.tmp", "mine"] {
            fs::write(at(stays), "mine").unwrap();
        }
        std::os::unix::fs::symlink(at("mine"), at(".x.1-2.tmp")).unwrap();
        let live = Temporary::file(&at("x"), true).unwrap();
        let folder = Temporary::folder(&at("x")).unwrap();
        take_up_left_overs(&at("x"));
        let live_names = [&live, &folder].map(|made| made.path().file_name().unwrap().to_str().unwrap().to_owned());
        let mut expected = [".y.1-0.tmp", ".x.tmp", "mine", ".x.1-2.tmp"].map(str::to_owned).to_vec();
        expected.extend(live_names);
        expected.sort();
        assert_eq!(names(dir.path()), expected, "what has a maker stays, and so does what is no file or folder");
        assert_eq!(fs::read(at("mine")).unwrap(), b"mine");
        drop((live, folder));
        take_up_left_overs(&at("x"));
        assert_eq!(names(dir.path()).len(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn a_former_folder_gets_its_name_again_unless_it_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("draws"), "old").unwrap();
        drop(Temporary::former(&path).unwrap());
        assert!(!path.exists());
        take_up_left_overs(&path);
        assert_eq!((names(dir.path()), fs::read(path.join("draws")).unwrap()), (vec!["store".into()], b"old".to_vec()));
        drop(Temporary::former(&path).unwrap());
        fs::create_dir(&path).unwrap();
        take_up_left_overs(&path);
        assert!(names(dir.path()) == ["store"] && names(&path).is_empty());
    }
}
