//! The outcomes of a command's pieces of work as files, which several processes write side by side.
//!
//! Outcomes that were found since the last file was written become a new file, e.g. `ranks/part-00003.csv`, or
//! `ranks/part-2-of-8-00003.csv` of a part; when all are there they become one, `ranks.csv`. No file is written over, so
//! each is whole and read once.

use anyhow::{Context, Result, anyhow, bail};
use octopus_files::{read_regular, write_file};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A table of outcomes: its name in the folder, and how it is written and read back, to the bit.
pub(crate) trait OutcomeTable {
    /// The outcome of a piece.
    type Outcome: Clone;
    /// The name of the table: of a file with the ending `csv`, and of a folder.
    const NAME: &'static str;
    /// What the pieces are called.
    const PIECES: &'static str;

    /// The number of the outcome's piece.
    fn number(outcome: &Self::Outcome) -> u64;

    /// Writes outcomes as CSV.
    ///
    /// # Errors
    /// When they do not fit the table.
    fn write(&self, outcomes: &[Self::Outcome]) -> Result<Vec<u8>>;

    /// Reads what [`write`](Self::write) has written.
    ///
    /// # Errors
    /// When it has not.
    fn read(&self, bytes: &[u8]) -> Result<Vec<Self::Outcome>>;
}

/// The outcomes in a folder.
pub(crate) struct Outcomes<T: OutcomeTable> {
    table: T,
    whole: PathBuf,
    folder: PathBuf,
    /// The beginning of the names of this process's files, and the number of the next.
    label: String,
    next: usize,
    read: BTreeSet<PathBuf>,
    /// The length and time of the one file when it was read: whoever has all outcomes writes it anew.
    whole_read: Option<(u64, SystemTime)>,
    found: BTreeMap<u64, T::Outcome>,
}

impl<T: OutcomeTable> Outcomes<T> {
    /// Reads all outcomes in a folder, for a process whose files are called by `label`.
    ///
    /// # Errors
    /// When the folder cannot be read, or files are damaged or disagree; all of them are named.
    pub(crate) fn open(dir: &Path, table: T, label: &str) -> Result<Self> {
        let mut outcomes = Self {
            table,
            whole: dir.join(format!("{}.csv", T::NAME)),
            folder: dir.join(T::NAME),
            label: label.to_owned(),
            next: 0,
            read: BTreeSet::new(),
            whole_read: None,
            found: BTreeMap::new(),
        };
        outcomes.refresh()?;
        Ok(outcomes)
    }

    /// Reads what other processes have added.
    ///
    /// # Errors
    /// When the folder cannot be read, or files are damaged or disagree; all of them are named.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        // The folder before the file that it becomes: what goes from the one to the other meanwhile is seen.
        let mut files = Vec::new();
        match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            entries => {
                let failed = || format!("cannot read the folder {}", self.folder.display());
                for entry in entries.with_context(failed)? {
                    files.push(entry.with_context(failed)?.path());
                }
            }
        }
        files.retain(|path| path.extension().is_some_and(|ending| ending == "csv"));
        files.sort();
        let number = |path: &PathBuf| {
            path.file_stem()?.to_str()?.strip_prefix(&self.label)?.strip_prefix('-')?.parse::<usize>().ok()
        };
        self.next = files.iter().filter_map(number).map(|last| last + 1).chain([self.next]).max().unwrap_or_default();
        let whole = fs::metadata(&self.whole).ok().and_then(|there| Some((there.len(), there.modified().ok()?)));
        if whole.is_none() || whole != self.whole_read {
            self.read.remove(&self.whole);
            files.push(self.whole.clone());
        }
        let mut damaged = Vec::new();
        for file in files {
            if self.read.contains(&file) {
                continue;
            }
            let bytes = match read_regular(&file) {
                // Another process has made the whole of it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                other => other.with_context(|| format!("cannot read {}", file.display()))?,
            };
            match self.table.read(&bytes).and_then(|outcomes| self.take(outcomes)) {
                Ok(()) => _ = self.read.insert(file),
                Err(error) => damaged.push(format!("{}: {error}", file.display())),
            }
        }
        if damaged.is_empty() {
            self.whole_read = whole;
            return Ok(());
        }
        let files = if damaged.len() == 1 { "the file" } else { "these files" };
        Err(anyhow!("{}; remove {files} to do {} again", damaged.join("\n"), T::PIECES))
    }

    /// Takes outcomes that were read. Whoever finds a piece's outcome finds the same one.
    fn take(&mut self, outcomes: Vec<T::Outcome>) -> Result<()> {
        for outcome in outcomes {
            let number = T::number(&outcome);
            if let Some(other) = self.found.get(&number)
                && self.table.write(std::slice::from_ref(other))? != self.table.write(std::slice::from_ref(&outcome))?
            {
                bail!("another file has another outcome of number {number}");
            }
            self.found.insert(number, outcome);
        }
        Ok(())
    }

    /// Returns what is found so far, by number.
    pub(crate) fn found(&self) -> &BTreeMap<u64, T::Outcome> {
        &self.found
    }

    /// Writes new outcomes as a file of this process.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn add(&mut self, outcomes: &mut Vec<T::Outcome>) -> Result<()> {
        if outcomes.is_empty() {
            return Ok(());
        }
        let path = self.folder.join(format!("{}-{:05}.csv", self.label, self.next));
        write_file(&path, &self.table.write(outcomes)?)?;
        self.next += 1;
        self.read.insert(path);
        self.found.extend(outcomes.drain(..).map(|outcome| (T::number(&outcome), outcome)));
        Ok(())
    }

    /// Writes all outcomes to one file, and removes the others.
    ///
    /// # Errors
    /// When a file cannot be written or removed.
    pub(crate) fn finish(&self) -> Result<()> {
        let all: Vec<T::Outcome> = self.found.values().cloned().collect();
        write_file(&self.whole, &self.table.write(&all)?)?;
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", self.folder.display()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Lines;

    impl OutcomeTable for Lines {
        type Outcome = (u64, String);
        const NAME: &'static str = "lines";
        const PIECES: &'static str = "their lines";

        fn number(outcome: &(u64, String)) -> u64 {
            outcome.0
        }

        fn write(&self, outcomes: &[(u64, String)]) -> Result<Vec<u8>> {
            Ok(outcomes.iter().map(|(number, text)| format!("{number} {text}\n")).collect::<String>().into_bytes())
        }

        fn read(&self, bytes: &[u8]) -> Result<Vec<(u64, String)>> {
            let line = |line: &str| {
                let (number, text) = line.split_once(' ').context("half a line")?;
                Ok((number.parse()?, text.to_owned()))
            };
            std::str::from_utf8(bytes)?.lines().map(line).collect()
        }
    }

    fn some(numbers: std::ops::Range<u64>) -> Vec<(u64, String)> {
        numbers.map(|number| (number, format!("found {number}"))).collect()
    }

    #[test]
    fn files_of_several_processes_come_back_and_become_one() {
        let dir = tempfile::tempdir().unwrap();
        let open = |label: &str| Outcomes::open(dir.path(), Lines, label).unwrap();
        let numbers = |outcomes: &Outcomes<Lines>| outcomes.found().keys().copied().collect::<Vec<_>>();
        let (mut one, mut two) = (open("part-1-of-2"), open("part-11-of-2"));
        one.add(&mut some(5..7)).unwrap();
        one.add(&mut Vec::new()).unwrap();
        two.add(&mut some(0..2)).unwrap();
        two.add(&mut some(2..3)).unwrap();
        assert_eq!(numbers(&one), [5, 6]);
        one.refresh().unwrap();
        assert_eq!(numbers(&one), [0, 1, 2, 5, 6]);
        // A later session of the same part goes on numbering, and leaves alone a file that is no table.
        fs::write(dir.path().join("lines/part-1-of-2-00007.csv.tmp"), "half").unwrap();
        let mut again = open("part-1-of-2");
        again.add(&mut some(3..5)).unwrap();
        let mut files: Vec<_> = fs::read_dir(dir.path().join("lines"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        files.retain(|name| name.ends_with("csv"));
        assert_eq!(
            files,
            ["part-1-of-2-00000.csv", "part-1-of-2-00001.csv", "part-11-of-2-00000.csv", "part-11-of-2-00001.csv"]
        );
        open("part").finish().unwrap();
        assert!(!dir.path().join("lines").exists());
        assert_eq!(fs::read(dir.path().join("lines.csv")).unwrap(), Lines.write(&some(0..7)).unwrap());
        two.refresh().unwrap();
        assert_eq!(numbers(&two), (0..7).collect::<Vec<_>>());
        two.add(&mut some(7..8)).unwrap();
        assert_eq!(numbers(&open("part")).len(), 8);
    }

    #[test]
    fn every_file_that_is_damaged_or_disagrees_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let mut outcomes = Outcomes::open(dir.path(), Lines, "part").unwrap();
        (0..3).for_each(|k| outcomes.add(&mut some(k..k + 1)).unwrap());
        let refused = || Outcomes::open(dir.path(), Lines, "part").err().unwrap().to_string();
        let at = |name: &str| dir.path().join("lines").join(name);
        fs::copy(at("part-00000.csv"), at("copy.csv")).unwrap();
        assert_eq!(Outcomes::open(dir.path(), Lines, "part").unwrap().found().len(), 3, "the same outcome twice");
        fs::write(at("part-00001.csv"), "1").unwrap();
        let error = refused();
        assert!(error.contains("part-00001.csv: half a line") && error.contains("remove the file"), "{error}");
        fs::write(at("copy.csv"), "0 found another").unwrap();
        let error = refused();
        for words in [
            "part-00000.csv: another file has another outcome of number 0",
            "part-00001.csv: half",
            "remove these files",
        ] {
            assert!(error.contains(words), "{words}: {error}");
        }
        // A folder in the place of a file cannot be read.
        fs::create_dir(dir.path().join("lines.csv")).unwrap();
        assert!(refused().starts_with("cannot read "));
    }
}
