//! Writing folders whole or not at all: a folder is filled under a temporary name, and gets its own in one step.

use crate::lock::{Lock, lock_what_is_there};
use crate::temporary::{Temporary, remove, take_up_left_overs};
use crate::{Disk, FileError, Storage, folder_of};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often, and how long each time, the end of another program that replaces the same folder is waited for.
const MOST_WAITS: u32 = 1000;
const WAIT: Duration = Duration::from_millis(2);

/// A folder that is being filled under a temporary name. Dropped before [`NewFolder::finish`], it is removed.
///
/// Several processes may fill folders of one name: each has its own, and the final name is that of a whole one.
#[derive(Debug)]
pub struct NewFolder {
    temporary: Temporary,
    path: PathBuf,
}

impl NewFolder {
    /// Makes the folder under its temporary name, and those above it; what a killed process has left of the same name is
    /// taken up.
    ///
    /// # Errors
    /// When a folder cannot be made.
    pub fn begin(path: &Path) -> Result<Self, FileError> {
        let above = folder_of(path);
        Disk.create_dir(above).map_err(FileError::io("create the folder", above))?;
        take_up_left_overs(path);
        let temporary = Temporary::folder(path).map_err(FileError::io("write", path))?;
        Ok(Self { temporary, path: path.to_owned() })
    }

    /// Returns the folder's temporary path, under which it is filled.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Gives the folder its final name. What has that name is replaced only if `may_replace` says so of it; false says
    /// that it stays, and that the new folder is gone.
    ///
    /// # Errors
    /// When the system refuses it; what was there is there still.
    pub fn finish(self, may_replace: impl Fn(&Path) -> bool) -> Result<bool, FileError> {
        let failed = || FileError::io("write", &self.path);
        if let Ok(former) = self.path.symlink_metadata()
            && former.is_dir()
        {
            fs::set_permissions(self.path(), former.permissions()).map_err(failed())?;
        }
        sync_below(self.path()).map_err(failed())?;
        let finished = self.take_place(&may_replace).map_err(failed())?;
        if finished {
            Disk.sync_dir(folder_of(&self.path)).map_err(failed())?;
        }
        Ok(finished)
    }

    fn take_place(&self, may_replace: &dyn Fn(&Path) -> bool) -> io::Result<bool> {
        let (new, path) = (self.temporary.path(), &*self.path);
        let mut waits = 0;
        loop {
            match rename_new(new, path) {
                Err(error) if is_there(&error) => {}
                renamed => return renamed.map(|()| true),
            }
            // Under the temporary name, others take the former folder for a left-over unless it is locked.
            let _former = match lock_what_is_there(path) {
                Ok(Lock::Gone) => continue,
                Ok(Lock::Taken) if waits < MOST_WAITS => {
                    waits += 1;
                    std::thread::sleep(WAIT);
                    continue;
                }
                Ok(Lock::Held(file)) => Some(file),
                // Another program has it for long, or the system locks no folders.
                Ok(Lock::Taken) | Err(_) => None,
            };
            if !may_replace(path) {
                return Ok(false);
            }
            match exchange(new, path) {
                // It is the former one that has the temporary name now, unless another has come in its place.
                Ok(()) if may_replace(new) => return Ok(true),
                Ok(()) => return exchange(new, path).map(|()| false),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) if error.kind() == io::ErrorKind::Unsupported => return by_two_names(new, path),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        remove(self.temporary.path());
    }
}

/// Replaces a folder where the system cannot exchange names. Between the two steps nothing has the final name; if the
/// process ends there, the next one gives it back.
fn by_two_names(new: &Path, path: &Path) -> io::Result<bool> {
    let former = Temporary::former(path)?;
    let renamed = rename_new(new, path);
    match renamed {
        Ok(()) => remove(former.path()),
        Err(_) => fs::rename(former.path(), path)?,
    }
    renamed.map(|()| true)
}

/// Forces the names in a folder, and in all folders below it, to the disk.
fn sync_below(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_below(&entry.path())?;
        }
    }
    Disk.sync_dir(folder)
}

/// Whether the error says that the name is taken.
fn is_there(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}

/// Gives a file or folder a name that nothing has.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when something has it, and the system's error.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match renamed_with(from, to, rustix::fs::RenameFlags::NOREPLACE) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        renamed => return renamed,
    }
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

/// Exchanges the names of two folders in one step.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`] where this cannot be done, and the system's error.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    renamed_with(one, other, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn renamed_with(from: &Path, to: &Path, how: rustix::fs::RenameFlags) -> io::Result<()> {
    use rustix::io::Errno;
    match rustix::fs::renameat_with(rustix::fs::CWD, from, rustix::fs::CWD, to, how) {
        // What a kernel or a file system says that does not know it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
        renamed => Ok(renamed?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(path: &Path, with: &str) -> NewFolder {
        let folder = NewFolder::begin(path).unwrap();
        for name in ["a", "b"] {
            fs::write(folder.path().join(name), with).unwrap();
        }
        folder
    }

    fn contents(path: &Path) -> [String; 2] {
        ["a", "b"].map(|name| fs::read_to_string(path.join(name)).unwrap())
    }

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_folder_is_replaced_whole_if_it_may_be() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("above/store");
        assert!(filled(&path, "1").finish(|_| false).unwrap());
        assert!(!filled(&path, "2").finish(|_| false).unwrap());
        assert_eq!(contents(&path), ["1", "1"]);
        let mut mode = path.metadata().unwrap().permissions();
        #[cfg(unix)]
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o700);
        fs::set_permissions(&path, mode).unwrap();
        let mode = path.metadata().unwrap().permissions();
        assert!(filled(&path, "3").finish(|_| true).unwrap());
        assert_eq!(contents(&path), ["3", "3"]);
        assert_eq!(path.metadata().unwrap().permissions(), mode);
        // What came in its place between the question and the exchange stays.
        let asked = std::cell::Cell::new(0);
        let first_only = |_: &Path| asked.replace(asked.get() + 1) == 0;
        assert!(!filled(&path, "4").finish(first_only).unwrap() || cfg!(not(target_os = "linux")));
        assert_eq!(contents(&path), ["3", "3"]);
        drop(filled(&path, "5"));
        // Who looks for left-overs meanwhile lets the former one be, of which is asked once more.
        let is_whole = |folder: &Path| {
            take_up_left_overs(&path);
            folder.join("b").exists()
        };
        assert!(filled(&path, "6").finish(is_whole).unwrap());
        assert_eq!(contents(&path), ["6", "6"]);
        assert_eq!(count(path.parent().unwrap()), 1, "nothing is left behind");
    }

    #[test]
    fn a_folder_is_replaced_where_names_cannot_be_exchanged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        assert!(filled(&path, "1").finish(|_| false).unwrap());
        let new = filled(&path, "2");
        assert!(by_two_names(new.path(), &path).unwrap());
        assert_eq!(contents(&path), ["2", "2"]);
        drop(new);
        assert!(by_two_names(&dir.path().join("none"), &path).is_err());
        assert_eq!((contents(&path), count(dir.path())), (["2".to_owned(), "2".to_owned()], 1));
    }

    #[test]
    fn eight_who_write_one_folder_leave_a_whole_one() {
        let dir = tempfile::tempdir().unwrap();
        for force in [true, false] {
            let path = dir.path().join(if force { "forced" } else { "first" });
            let finished: usize = std::thread::scope(|scope| {
                let write = |writer: usize| {
                    let path = &path;
                    scope.spawn(move || {
                        (0..10).filter(|_| filled(path, &writer.to_string()).finish(|_| force).unwrap()).count()
                    })
                };
                (0..8).map(write).collect::<Vec<_>>().into_iter().map(|writer| writer.join().unwrap()).sum()
            });
            assert_eq!(finished, if force { 80 } else { 1 });
            let [a, b] = contents(&path);
            assert_eq!(a, b);
        }
        assert_eq!(count(dir.path()), 2);
    }
}
