//! The folder in which a command keeps the outcomes of its pieces of work: `settings.json`, which all its processes have,
//! and a lock where one process works alone.

use super::{CLAIMS, RECORDS};
use crate::exit::UsageError;
use anyhow::{Context, Result, bail};
use octopus_files::{Destination, lock_file};
use serde::Serialize;
use serde_json::Value;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const SETTINGS: &str = "settings.json";
const LOCK: &str = ".lock";

/// What a command leaves in its folder.
pub(crate) struct KeptKind {
    /// What the work is called, e.g. calibration.
    pub(crate) work: &'static str,
    /// The name of its table of outcomes.
    pub(crate) table: &'static str,
    /// Its other files besides settings. They are removed when the work begins anew.
    pub(crate) results: &'static [&'static str],
}

/// A folder that is open for one process.
pub(crate) struct KeptFolder {
    path: PathBuf,
    /// The lock that keeps a second process from doing the same work; none where processes share it.
    _lock: Option<File>,
}

impl KeptKind {
    /// The names right in the folder besides settings: files, folders and what processes that share it leave.
    fn names(&self) -> impl Iterator<Item = String> {
        let table = [format!("{}.csv", self.table), self.table.to_owned()];
        let shared = [RECORDS, CLAIMS].map(str::to_owned);
        self.results.iter().map(|&name| name.to_owned()).chain(table).chain(shared)
    }

    /// Whether a path in the folder is the command's.
    pub(crate) fn owns(&self, path: &Path) -> bool {
        [SETTINGS, LOCK].iter().any(|name| path == Path::new(name)) || self.names().any(|name| path.starts_with(name))
    }

    /// Opens the folder of work with these settings, and makes it unless it is there. `force` removes what the command has
    /// left in it, and nothing else. With `shared`, other processes may have it open too.
    ///
    /// # Errors
    /// When the work in the folder has other settings, another process has it alone, there are files in it that the
    /// command would replace and that are not its own, or the folder cannot be written.
    pub(crate) fn open(&self, path: &Path, settings: &impl Serialize, force: bool, shared: bool) -> Result<KeptFolder> {
        let (shown, work) = (path.display(), self.work);
        let file = path.join(SETTINGS);
        fs::create_dir_all(path).with_context(|| format!("cannot create the folder {shown}"))?;
        let mut lock = None;
        if !shared {
            let at = path.join(LOCK);
            lock = lock_file(&at).with_context(|| format!("cannot lock {}", at.display()))?;
            if lock.is_none() {
                bail!("{shown} is in use by another octopus process: wait until it ends, or give another folder");
            }
        }
        if force {
            for name in self.names() {
                remove(&path.join(name))?;
            }
            // The settings last: whatever is there belongs to them until it is gone.
            remove(&file)?;
        } else if !file.exists() {
            let taken = |name: &String| ![RECORDS, CLAIMS].contains(&name.as_str()) && path.join(name).exists();
            if let Some(name) = self.names().find(taken) {
                let why = format!("{shown} has a {name} of no {work}: give another folder, or replace it with --force");
                return Err(UsageError(why).into());
            }
        }
        // The settings are written and read before they are compared, so that numbers compare as they will be read. Of
        // processes that begin at once one writes them, and the others compare theirs.
        let mut text = serde_json::to_string_pretty(settings).context("cannot write the settings")?;
        text.push('\n');
        if !file.exists() {
            Destination::of(&file)?.write(false, &mut |out| out.write_all(text.as_bytes()))?;
        }
        let there = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let Ok(there) = serde_json::from_str::<Value>(&there) else {
            let why = format!("{shown} has a {SETTINGS} of no {work}: give another folder, or replace it with --force");
            return Err(UsageError(why).into());
        };
        if there != serde_json::from_str::<Value>(&text)? {
            let why = format!(
                "{shown} holds a {work} with other settings (see {SETTINGS}): give the same options to go on with it, \
                 another folder, or --force to begin anew"
            );
            return Err(UsageError(why).into());
        }
        Ok(KeptFolder { path: path.to_owned(), _lock: lock })
    }
}

impl KeptFolder {
    /// Returns the path of the file or folder with this name.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Removes a file or folder that may be absent.
fn remove(path: &Path) -> Result<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|there| there.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: KeptKind = KeptKind { work: "test", table: "marks", results: &["mark.json"] };

    #[test]
    fn one_process_has_a_folder_alone_and_several_share_it_with_the_same_settings() {
        let dir = tempfile::tempdir().unwrap();
        let open = |settings: &str, force, shared| KIND.open(dir.path(), &settings, force, shared);
        let alone = open("a", false, false).unwrap();
        let error = open("a", false, false).err().unwrap().to_string();
        assert!(error.contains("in use by another octopus process"), "{error}");
        drop(alone);
        let (_one, _two) = (open("a", false, true).unwrap(), open("a", false, true).unwrap());
        let error = open("b", false, true).err().unwrap();
        assert!(error.to_string().contains("test with other settings") && error.is::<UsageError>());
        for name in ["mark.json", "marks.csv", "mine.txt"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        fs::create_dir(dir.path().join("marks")).unwrap();
        open("b", true, false).unwrap();
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.len() == 3 && left.contains(&"mine.txt".into()), "{left:?}");
        assert!(
            ["settings.json", ".lock", "marks/x", "parts/x", "marks.csv"].iter().all(|path| KIND.owns(Path::new(path)))
        );
        assert!(!KIND.owns(Path::new("mine.txt")));
    }

    #[test]
    fn what_is_another_s_or_cannot_be_read_or_removed_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let open = || KIND.open(dir.path(), &"a", false, false).err().unwrap().to_string();
        fs::write(dir.path().join("mark.json"), "mine").unwrap();
        assert!(open().contains("has a mark.json of no test"));
        fs::write(dir.path().join(SETTINGS), "mine").unwrap();
        assert!(open().contains("has a settings.json of no test"));
        fs::remove_file(dir.path().join(SETTINGS)).unwrap();
        fs::create_dir(dir.path().join(SETTINGS)).unwrap();
        assert!(open().starts_with("cannot read "));
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(remove(&dir.path().join("file/below")).unwrap_err().to_string().starts_with("cannot remove "));
        remove(&dir.path().join("none")).unwrap();
    }
}
