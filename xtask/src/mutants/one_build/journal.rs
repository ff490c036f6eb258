//! The answers so far, a line of JSON each, written at once: a trial that is broken off goes on from there.

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

pub(super) struct Journal<T> {
    path: PathBuf,
    file: File,
    of: PhantomData<fn(&T)>,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Returns what stands in the journal at `path`, if there is one.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn read(path: &Path) -> Result<Vec<T>> {
        if !path.exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(path).with_context(|| format!("cannot open {}", path.display()))?;
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Opens the journal and returns what stands in it. A last line that was broken off goes.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<T>)> {
        let failed = || format!("cannot open {}", path.display());
        let known = Self::read(path)?;
        let lines: Result<Vec<String>> = known.iter().map(line).collect();
        fs::write(path, lines?.concat()).with_context(failed)?;
        let file = OpenOptions::new().append(true).open(path).with_context(failed)?;
        Ok((Self { path: path.to_owned(), file, of: PhantomData }, known))
    }

    /// Writes one more entry.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn add(&mut self, entry: &T) -> Result<()> {
        self.file.write_all(line(entry)?.as_bytes()).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn line<T: Serialize>(entry: &T) -> Result<String> {
    Ok(serde_json::to_string(entry).context("an entry cannot be written as JSON")? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_and_half_ones_are_not() {
        let path = std::env::temp_dir().join(format!("octopus-journal-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let (mut journal, known) = Journal::<(u8, String)>::open(&path).unwrap();
        assert_eq!(known, []);
        journal.add(&(1, "a".to_owned())).unwrap();
        let half = fs::read_to_string(&path).unwrap() + "[2, \"b";
        fs::write(&path, half).unwrap();
        let (mut journal, known) = Journal::<(u8, String)>::open(&path).unwrap();
        assert_eq!(known, [(1, "a".to_owned())]);
        journal.add(&(3, "c".to_owned())).unwrap();
        assert_eq!(Journal::<(u8, String)>::open(&path).unwrap().1.len(), 2);
        fs::remove_file(path).unwrap();
    }
}
