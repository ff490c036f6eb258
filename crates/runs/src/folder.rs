//! The names of files inside a run folder, what may be removed from it, and its lock: one process at a time writes a
//! run.

use crate::RunError;
use crate::{PartRecord, RunRecord};
use octopus_files::{Storage, is_temporary, lock_file, read_regular};
use octopus_sampler::Phase;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) const RECORD: &str = "run.toml";
const LOCK: &str = ".lock";
const STATE: &str = "state";
const CHECKPOINT: &str = "checkpoint.bin";

pub(crate) fn record_path(dir: &Path) -> PathBuf {
    dir.join(RECORD)
}

pub(crate) fn state_dir(dir: &Path) -> PathBuf {
    dir.join(STATE)
}

pub(crate) fn checkpoint_path(dir: &Path) -> PathBuf {
    dir.join(STATE).join(CHECKPOINT)
}

/// Returns the sub-folder of a phase's draws.
pub(crate) fn phase_folder(phase: Phase) -> &'static str {
    match phase {
        Phase::Warmup => "warmup",
        Phase::Sampling => "draws",
    }
}

/// Returns the path within the run folder of part `number`.
pub(crate) fn part_file(phase: Phase, number: usize) -> String {
    format!("{}/part-{number:05}.parquet", phase_folder(phase))
}

/// Returns the number of a part from its file name.
fn part_number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix("part-")?.strip_suffix(".parquet")?;
    (digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}

/// Returns the file names in a folder, sorted; none when it is absent.
fn names(dir: &Path) -> Result<Vec<String>, RunError> {
    let fail = RunError::io("list", dir);
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(RunError::NoFolder { path: dir.to_owned() });
        }
        Err(error) => return Err(fail(error)),
    };
    let names: io::Result<Vec<String>> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    let mut names = names.map_err(fail)?;
    names.sort();
    Ok(names)
}

/// Returns the numbers of the parts of a phase that are on disk, ascending.
pub(crate) fn part_numbers(dir: &Path, phase: Phase) -> Result<Vec<usize>, RunError> {
    let mut numbers: Vec<usize> =
        names(&dir.join(phase_folder(phase)))?.iter().filter_map(|name| part_number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Returns whether `dir` holds a run.
pub(crate) fn is_run(dir: &Path) -> bool {
    record_path(dir).is_file()
}

/// Returns whether nothing of a user's lies in `dir`: it is absent, empty, or holds only what a writer has left that was
/// killed before it had written its record.
///
/// # Errors
/// When `dir` cannot be listed, or is a file.
pub fn is_vacant(dir: &Path) -> Result<bool, RunError> {
    Ok(names(dir)?.iter().all(|name| is_temporary(name) || name == LOCK))
}

/// Takes the run for this process until the file is dropped. Even `kill -9` gives it back.
pub(crate) fn lock(dir: &Path) -> Result<File, RunError> {
    let path = dir.join(LOCK);
    let file = lock_file(&path).map_err(RunError::io("lock", &path))?;
    file.ok_or_else(|| RunError::InUse { path: dir.to_owned() })
}

/// Reads `run.toml`.
pub(crate) fn read_record(dir: &Path) -> Result<RunRecord, RunError> {
    if !is_run(dir) {
        return Err(RunError::NotARun { path: dir.to_owned() });
    }
    let path = record_path(dir);
    let bytes = read_regular(&path).map_err(RunError::io("read", &path))?;
    let text = String::from_utf8(bytes).map_err(|error| RunError::Record {
        path: path.clone(),
        field: ".".into(),
        message: format!("it is not text: {error}"),
    })?;
    RunRecord::parse(&text, &path)
}

/// Removes every part that `keep` does not list, the latest first, and what a killed writer left half-written.
pub(crate) fn remove_other_parts(storage: &dyn Storage, dir: &Path, keep: &[PartRecord]) -> Result<(), RunError> {
    for phase in [Phase::Sampling, Phase::Warmup] {
        for number in part_numbers(dir, phase)?.into_iter().rev() {
            let file = part_file(phase, number);
            if !keep.iter().any(|part| part.file == file) {
                remove(storage, &dir.join(file))?;
            }
        }
    }
    remove_half_written(storage, dir)
}

/// Removes what a killed writer left half-written.
pub(crate) fn remove_half_written(storage: &dyn Storage, dir: &Path) -> Result<(), RunError> {
    for folder in [dir.to_owned(), dir.join("draws"), dir.join("warmup"), state_dir(dir)] {
        for name in names(&folder)?.iter().filter(|name| is_temporary(name)) {
            remove(storage, &folder.join(name))?;
        }
    }
    Ok(())
}

/// Removes the checkpoint, and its folder when that leaves it empty.
pub(crate) fn remove_state(storage: &dyn Storage, dir: &Path) -> Result<(), RunError> {
    let checkpoint = checkpoint_path(dir);
    if checkpoint.exists() {
        remove(storage, &checkpoint)?;
    }
    remove_if_empty(storage, &state_dir(dir))
}

/// Removes a folder of ours when nothing is in it.
pub(crate) fn remove_if_empty(storage: &dyn Storage, dir: &Path) -> Result<(), RunError> {
    if dir.is_dir() && names(dir)?.is_empty() {
        storage.remove_dir(dir).map_err(RunError::io("remove", dir))?;
    }
    Ok(())
}

fn remove(storage: &dyn Storage, path: &Path) -> Result<(), RunError> {
    storage.remove_file(path).map_err(RunError::io("remove", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_names() {
        assert_eq!(part_file(Phase::Sampling, 7), "draws/part-00007.parquet");
        assert_eq!(part_number("part-00007.parquet"), Some(7));
        assert_eq!(part_number("part-123456.parquet"), Some(123_456));
        let short = ["part-7.parquet", "part-07.parquet", "part-0007.parquet"];
        for other in
            short.into_iter().chain(["part-0000x.parquet", ".part-00001.parquet.tmp", "part-00001.parquet.bak"])
        {
            assert_eq!(part_number(other), None, "{other}");
        }
    }

    #[test]
    fn an_absent_folder_is_empty_and_a_file_is_no_folder() {
        let dir = tempfile::tempdir().unwrap();
        assert!(names(&dir.path().join("none")).unwrap().is_empty());
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let message = names(&file).unwrap_err().to_string();
        assert!(message.ends_with("file is a file, where a folder is needed: choose another path"), "{message}");
        // What else keeps a folder from being listed is told as it is.
        let too_long = names(&dir.path().join("x".repeat(300))).unwrap_err();
        assert!(matches!(too_long, RunError::File(_)), "{too_long}");
    }

    #[test]
    fn one_process_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let held = lock(dir.path()).unwrap();
        assert!(matches!(lock(dir.path()), Err(RunError::InUse { .. })));
        drop(held);
        lock(dir.path()).unwrap();
    }
}
