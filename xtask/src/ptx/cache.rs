//! What the compiler and the assembler have answered before, below the target folder.
//!
//! An answer is kept under the hash of everything that it depends on, so that a check of unchanged sources takes a
//! second and not minutes. It is no part of what is committed.

use super::sources::sha256;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Texts by the hash of their inputs.
pub(super) struct Cache {
    folder: PathBuf,
    /// The files that this run has read or written, and how many it had to make.
    used: Mutex<(BTreeSet<String>, usize)>,
}

impl Cache {
    /// # Errors
    /// When the folder cannot be made.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { folder: folder.to_owned(), used: Mutex::default() })
    }

    /// The text for `inputs`: the kept one, else that of `make`.
    ///
    /// # Errors
    /// Those of `make`, and when its text cannot be kept.
    pub(super) fn get(&self, inputs: &[&str], make: impl FnOnce() -> Result<String>) -> Result<String> {
        // With their lengths, so that no two lists are the same bytes.
        let all: Vec<u8> =
            inputs.iter().flat_map(|text| [&text.len().to_le_bytes(), text.as_bytes()].concat()).collect();
        let name = sha256(&all);
        let file = self.folder.join(&name);
        let kept = fs::read_to_string(&file).ok();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.0.insert(name.clone());
        used.1 += usize::from(kept.is_none());
        drop(used);
        if let Some(text) = kept {
            return Ok(text);
        }
        let text = make()?;
        // Renamed when it is complete: another run may be reading, and this one may be interrupted.
        let unfinished = self.folder.join(format!("{name}.{}", std::process::id()));
        let written = fs::write(&unfinished, &text).and_then(|()| fs::rename(&unfinished, &file));
        written.with_context(|| format!("cannot write {}", file.display()))?;
        Ok(text)
    }

    /// Removes what this run had no use for, and tells how many texts it had to make and used in all.
    pub(super) fn close(self) -> (usize, usize) {
        let (used, made) = self.used.into_inner().unwrap_or_else(PoisonError::into_inner);
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_none_or(|name| !used.contains(name)) {
                // Nobody misses it, and nobody is harmed if it stays.
                let _ = fs::remove_file(entry.path());
            }
        }
        (made, used.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("octopus-ptx-cache-{name}-{}", std::process::id()));
            Self(folder)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_text_is_made_once_for_the_same_inputs() {
        let scratch = Scratch::new("once");
        let cache = Cache::open(&scratch.0).unwrap();
        assert_eq!(cache.get(&["a", "bc"], || Ok("first".into())).unwrap(), "first");
        assert_eq!(cache.get(&["a", "bc"], || bail!("it is there")).unwrap(), "first");
        assert_eq!(cache.get(&["ab", "c"], || Ok("second".into())).unwrap(), "second");
        assert_eq!(cache.close(), (2, 2));
        let again = Cache::open(&scratch.0).unwrap();
        assert_eq!(again.get(&["a", "bc"], || bail!("it is there")).unwrap(), "first");
        assert_eq!(again.close(), (0, 1));
        // What the last run did not use is gone.
        assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let scratch = Scratch::new("failure");
        let cache = Cache::open(&scratch.0).unwrap();
        assert!(cache.get(&["a"], || bail!("no")).is_err());
        assert_eq!(cache.get(&["a"], || Ok("yes".into())).unwrap(), "yes");
    }
}
