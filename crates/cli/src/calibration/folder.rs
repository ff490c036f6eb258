//! The folder of a calibration: `settings.json`, ranks as CSV or sequences, `calibration.json`, pictures.

use crate::share::{KeptFolder, KeptKind, OutcomeTable, Outcomes};
use anyhow::{Context, Result, anyhow};
use octopus_calibrate::{CalibratedSet, GewekeSequence, Table};
use octopus_files::{WithInfinities, read_regular, write_file};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The sequences of Geweke's test that are done.
const SEQUENCES: &str = "sequences.json";
const KIND: KeptKind = KeptKind {
    work: "calibration",
    table: Table::NAME,
    results: &[
        SEQUENCES,
        "calibration.json",
        "rank_ecdf.png",
        "rank_ecdf.svg",
        "rank_histogram.png",
        "rank_histogram.svg",
        "geweke_moments.png",
        "geweke_moments.svg",
    ],
};

impl OutcomeTable for Table {
    type Outcome = CalibratedSet;
    const NAME: &'static str = "ranks";
    const PIECES: &'static str = "its data sets";

    fn number(outcome: &CalibratedSet) -> u64 {
        outcome.number.into()
    }

    fn write(&self, outcomes: &[CalibratedSet]) -> Result<Vec<u8>> {
        Ok(Table::write(self, outcomes)?)
    }

    fn read(&self, bytes: &[u8]) -> Result<Vec<CalibratedSet>> {
        Ok(Table::read(self, bytes)?)
    }
}

/// The folder of a calibration that is open.
pub(crate) struct Folder(KeptFolder);

/// Whether a path in the folder of a calibration is the calibration's.
pub(crate) fn is_of_a_calibration(path: &Path) -> bool {
    KIND.owns(path)
}

impl Folder {
    /// Opens the folder of a calibration with these settings; see [`KeptKind::open`].
    ///
    /// # Errors
    /// When the calibration in the folder has other settings, or the folder cannot be used.
    pub(crate) fn open(path: &Path, settings: &impl Serialize, force: bool, shared: bool) -> Result<Self> {
        KIND.open(path, settings, force, shared).context("--out").map(Self)
    }

    /// Returns the path of the file or folder with this name.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Reads the ranks in the folder, for a process whose files are called by `label`.
    ///
    /// # Errors
    /// When files cannot be read, or are damaged.
    pub(crate) fn ranks(&self, table: Table, label: &str) -> Result<Outcomes<Table>> {
        Outcomes::open(&self.join(""), table, label)
    }

    /// Reads the sequences of Geweke's test that are done.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn sequences(&self) -> Result<Vec<GewekeSequence>> {
        let file = self.join(SEQUENCES);
        match read_regular(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| anyhow!("{}: {error}; remove the file to do its sequences again", file.display())),
        }
    }

    /// Writes the sequences of Geweke's test that are done. One with a number that JSON does not hold is done again.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn keep_sequences(&self, done: &[GewekeSequence]) -> Result<()> {
        let held: Vec<&GewekeSequence> = done.iter().filter(|sequence| sequence.is_finite()).collect();
        if held.is_empty() {
            return Ok(());
        }
        Ok(write_file(&self.join(SEQUENCES), &serde_json::to_vec(&held).context("cannot write the sequences")?)?)
    }

    /// Writes the result of the calibration.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn write_result(&self, result: &Value) -> Result<()> {
        let mut text = serde_json::to_string_pretty(&WithInfinities(result)).context("cannot write the result")?;
        text.push('\n');
        Ok(write_file(&self.join("calibration.json"), text.as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn sequences_come_back_but_for_those_that_json_does_not_hold() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path(), &"a", false, false).unwrap();
        assert!(folder.sequences().unwrap().is_empty());
        let of = |number, independent| GewekeSequence { number, independent, ..GewekeSequence::default() };
        let (held, lost) = (of(3, vec![0.1, -1e-300]), of(4, vec![f64::NAN]));
        folder.keep_sequences(&[held.clone(), lost]).unwrap();
        assert_eq!(folder.sequences().unwrap(), [held]);
        fs::write(dir.path().join(SEQUENCES), "[{").unwrap();
        let error = folder.sequences().unwrap_err().to_string();
        assert!(error.contains(SEQUENCES) && error.contains("remove the file"), "{error}");
    }
}
