//! The folder of a calibration: `settings.json`, ranks as CSV or sequences, `calibration.json`, pictures.
//!
//! Ranks that were found since the last part was written become a new part, e.g. `ranks/part-00003.csv`; when all data
//! sets are done the parts become one `ranks.csv`. Every file is written under another name first, so that each file
//! that is there is whole.

use crate::exit::UsageError;
use anyhow::{Context, Result, anyhow, bail};
use octopus_calibrate::{CalibratedSet, GewekeSequence, Table};
use octopus_files::{WithInfinities, lock_file, read_regular, write_file};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const SETTINGS: &str = "settings.json";
const RANKS: &str = "ranks.csv";
const PARTS: &str = "ranks";
const LOCK: &str = ".lock";
/// The sequences of Geweke's test that are done.
const SEQUENCES: &str = "sequences.json";
/// The files that a calibration writes besides settings and ranks. They are removed when a calibration begins anew.
const RESULTS: [&str; 8] = [
    SEQUENCES,
    "calibration.json",
    "rank_ecdf.png",
    "rank_ecdf.svg",
    "rank_histogram.png",
    "rank_histogram.svg",
    "geweke_moments.png",
    "geweke_moments.svg",
];

pub(crate) struct Folder {
    path: PathBuf,
    table: Option<Table>,
    parts: usize,
    /// The lock that keeps a second process from writing the same calibration.
    _lock: File,
}

/// Whether a path in the folder of a calibration is the calibration's.
pub(crate) fn is_of_a_calibration(path: &Path) -> bool {
    path.starts_with(PARTS) || RESULTS.iter().chain(&[RANKS, SETTINGS, LOCK]).any(|name| path == Path::new(name))
}

impl Folder {
    /// Opens the folder of a calibration with these settings, and makes it unless it is there. `force` removes what a
    /// calibration has left in it, and nothing else.
    ///
    /// # Errors
    /// When the calibration in the folder has other settings, another process goes on with it, there are files in it that
    /// a calibration would replace and that are none's, or the folder cannot be written.
    pub(crate) fn open(path: &Path, settings: &impl Serialize, table: Option<Table>, force: bool) -> Result<Self> {
        let shown = path.display();
        let file = path.join(SETTINGS);
        fs::create_dir_all(path).with_context(|| format!("cannot create the folder {shown}"))?;
        let lock = lock_file(&path.join(LOCK)).with_context(|| format!("cannot lock {}", path.join(LOCK).display()))?;
        let Some(lock) = lock else {
            bail!("{shown} is in use by another octopus process: wait until it ends, or give another --out");
        };
        if force {
            for name in RESULTS.iter().chain(&[RANKS]) {
                remove(&path.join(name), |file| fs::remove_file(file))?;
            }
            remove(&path.join(PARTS), |folder| fs::remove_dir_all(folder))?;
            // The settings last: whatever is there belongs to them until it is gone.
            remove(&file, |file| fs::remove_file(file))?;
        } else if !file.exists() {
            let others = RESULTS.iter().chain(&[RANKS, PARTS]).find(|name| path.join(name).exists());
            if let Some(name) = others {
                let why = format!(
                    "--out: {shown} has a {name} of no calibration: give another --out, or replace it with --force"
                );
                return Err(UsageError(why).into());
            }
        }
        // The settings are written and read before they are compared, so that numbers compare as they will be read.
        let mut text = serde_json::to_string_pretty(settings).context("cannot write the settings")?;
        text.push('\n');
        match fs::read_to_string(&file) {
            Ok(there) => {
                let Ok(there) = serde_json::from_str::<Value>(&there) else {
                    let why = format!(
                        "--out: {shown} has a {SETTINGS} of no calibration: give another --out, or replace it with --force"
                    );
                    return Err(UsageError(why).into());
                };
                if there != serde_json::from_str::<Value>(&text)? {
                    let what = format!(
                        "{shown} holds a calibration with other settings (see {SETTINGS}): give the same options to go \
                         on with it, another --out, or --force to begin anew"
                    );
                    return Err(UsageError(what).into());
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                write_file(&file, text.as_bytes())?;
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
        }
        Ok(Self { path: path.to_owned(), table, parts: 0, _lock: lock })
    }

    /// Returns the path of the file or folder with this name.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn table(&self) -> Result<&Table> {
        self.table.as_ref().ok_or_else(|| anyhow!("there are no ranks in this calibration"))
    }

    /// Reads all data sets in the folder, by number.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn data_sets(&mut self) -> Result<BTreeMap<u32, CalibratedSet>> {
        let mut files = vec![self.join(RANKS)];
        if let Ok(entries) = fs::read_dir(self.join(PARTS)) {
            let names = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
            let mut parts: Vec<PathBuf> =
                names.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "csv")).collect();
            parts.sort();
            let number = |path: &PathBuf| path.file_stem()?.to_str()?.strip_prefix("part-")?.parse::<usize>().ok();
            self.parts = parts.iter().filter_map(number).max().map_or(0, |last| last + 1);
            files.extend(parts);
        }
        let mut found = BTreeMap::new();
        for file in files {
            let bytes = match read_regular(&file) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                other => other.with_context(|| format!("cannot read {}", file.display()))?,
            };
            let data_sets = self.table()?.read(&bytes);
            let data_sets = data_sets
                .map_err(|error| anyhow!("{}: {error}; remove the file to do its data sets again", file.display()))?;
            found.extend(data_sets.into_iter().map(|data_set| (data_set.number, data_set)));
        }
        Ok(found)
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

    /// Writes data sets as a new part.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn add(&mut self, data_sets: &[CalibratedSet]) -> Result<()> {
        if data_sets.is_empty() {
            return Ok(());
        }
        let path = self.join(PARTS).join(format!("part-{:05}.csv", self.parts));
        write_file(&path, &self.table()?.write(data_sets)?)?;
        self.parts += 1;
        Ok(())
    }

    /// Writes all data sets to one file, and removes the parts.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn finish(&mut self, data_sets: &[CalibratedSet]) -> Result<()> {
        write_file(&self.join(RANKS), &self.table()?.write(data_sets)?)?;
        remove(&self.join(PARTS), |folder| fs::remove_dir_all(folder))
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

/// Removes a file or folder that may be absent.
fn remove(path: &Path, how: impl Fn(&Path) -> std::io::Result<()>) -> Result<()> {
    match how(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::SchoolsSimulator;

    fn open(path: &Path, settings: &str, force: bool) -> Result<Folder> {
        Folder::open(path, &settings, Some(Table::of(&SchoolsSimulator::rubin())), force)
    }

    fn some(numbers: std::ops::Range<u32>) -> Vec<CalibratedSet> {
        numbers.map(|number| CalibratedSet { number, outcome: Err("why".to_owned()) }).collect()
    }

    #[test]
    fn sequences_come_back_but_for_those_that_json_does_not_hold() {
        let dir = tempfile::tempdir().unwrap();
        let folder = open(dir.path(), "a", false).unwrap();
        assert!(folder.sequences().unwrap().is_empty());
        let of = |number, independent| GewekeSequence { number, independent, ..GewekeSequence::default() };
        let (held, lost) = (of(3, vec![0.1, -1e-300]), of(4, vec![f64::NAN]));
        folder.keep_sequences(&[held.clone(), lost]).unwrap();
        assert_eq!(folder.sequences().unwrap(), [held]);
        fs::write(dir.path().join(SEQUENCES), "[{").unwrap();
        let error = folder.sequences().unwrap_err().to_string();
        assert!(error.contains(SEQUENCES) && error.contains("remove the file"), "{error}");
    }

    #[test]
    fn parts_come_back_and_become_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("calibration");
        let mut folder = open(&path, "a", false).unwrap();
        assert!(folder.data_sets().unwrap().is_empty());
        folder.add(&some(5..7)).unwrap();
        folder.add(&[]).unwrap();
        folder.add(&some(0..2)).unwrap();
        // This is another session.
        drop(folder);
        let mut folder = open(&path, "a", false).unwrap();
        let found: Vec<u32> = folder.data_sets().unwrap().into_keys().collect();
        assert_eq!(found, [0, 1, 5, 6]);
        folder.add(&some(2..5)).unwrap();
        let mut parts: Vec<_> = fs::read_dir(path.join(PARTS))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        parts.sort();
        assert_eq!(parts, ["part-00000.csv", "part-00001.csv", "part-00002.csv"], "no part is written over");
        let all: Vec<CalibratedSet> = folder.data_sets().unwrap().into_values().collect();
        folder.finish(&all).unwrap();
        assert!(!path.join("ranks").exists());
        let error = open(&path, "a", false).err().unwrap().to_string();
        assert!(error.contains("in use by another octopus process"), "{error}");
        drop(folder);
        let mut folder = open(&path, "a", false).unwrap();
        // A folder of parts that has none begins with the first.
        fs::create_dir(path.join(PARTS)).unwrap();
        assert_eq!(folder.data_sets().unwrap().len(), 7);
        folder.add(&some(7..8)).unwrap();
        assert!(path.join("ranks/part-00000.csv").exists());
    }

    #[test]
    fn other_settings_are_refused_and_force_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = open(dir.path(), "a", false).unwrap();
        folder.add(&some(0..3)).unwrap();
        fs::write(dir.path().join("mine.txt"), "kept").unwrap();
        drop(folder);
        let error = open(dir.path(), "b", false).err().unwrap();
        assert!(error.to_string().contains("other settings") && error.is::<UsageError>());
        let mut folder = open(dir.path(), "b", true).unwrap();
        assert!(folder.data_sets().unwrap().is_empty() && dir.path().join("mine.txt").exists());
        folder.add(&some(0..1)).unwrap();
        fs::write(dir.path().join("ranks/part-00001.csv"), "half").unwrap();
        let error = folder.data_sets().unwrap_err().to_string();
        assert!(error.contains("part-00001.csv") && error.contains("remove"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_or_removed_is_an_error_and_what_is_absent_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let with = |kind: std::io::ErrorKind| remove(&path, |_| Err(kind.into()));
        assert!(with(std::io::ErrorKind::NotFound).is_ok());
        assert!(with(std::io::ErrorKind::PermissionDenied).unwrap_err().to_string().starts_with("cannot remove "));

        // A folder in the place of a file cannot be read; other files beside the parts are nobody's.
        let mut folder = open(dir.path(), "a", false).unwrap();
        folder.add(&some(0..2)).unwrap();
        fs::write(dir.path().join("ranks/part-00007.csv.tmp"), "half").unwrap();
        assert_eq!(folder.data_sets().unwrap().len(), 2);
        fs::create_dir(dir.path().join("ranks.csv")).unwrap();
        let error = folder.data_sets().unwrap_err().to_string();
        assert!(error.starts_with("cannot read ") && error.ends_with("ranks.csv"), "{error}");
        fs::create_dir_all(dir.path().join("other/settings.json")).unwrap();
        let error = open(&dir.path().join("other"), "a", false).err().unwrap().to_string();
        assert!(error.starts_with("cannot read ") && error.ends_with("settings.json"), "{error}");
    }
}
