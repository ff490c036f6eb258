//! The record of a process at work in a shared folder, `parts/NAME.json`, which it renews as a sign of life.
//!
//! Clocks of machines differ, so nobody compares a time in it with a clock: a record that changes is of a process that
//! lives. How often it is renewed stands here.

use super::WorkPart;
use crate::args::ShareArgs;
use anyhow::{Context, Result, bail};
use octopus_files::{lock_file, read_regular, write_file};
use octopus_runs::now_utc;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The folder of the records in the folder that is shared.
pub(crate) const RECORDS: &str = "parts";
/// The name of the record of a process that does what all others have left.
pub(crate) const WHOLE: &str = "whole";
/// The longest time between two signs of life, and how many there are at least before a process counts as gone.
pub(crate) const BEAT: Duration = Duration::from_secs(2);
const BEATS_OF_A_LEASE: u32 = 4;

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WorkerState {
    /// It is at work, or has ended without a word.
    Running,
    /// Nothing was left for it to do.
    Complete,
    /// It was asked to end, as by Ctrl-C or SIGTERM.
    Interrupted,
    /// It has ended with an error.
    Failed,
}

/// The record of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorkerRecord {
    schema: u32,
    /// Its name, which its file has too.
    pub(crate) name: String,
    /// The part K/N that it does; none where it claims pieces.
    pub(crate) part: Option<String>,
    pub(crate) host: String,
    pub(crate) process: u32,
    octopus: String,
    /// When it began, by its own clock.
    begun: String,
    pub(crate) state: WorkerState,
    /// The number of pieces of the whole.
    pub(crate) all: usize,
    /// The number of pieces of its part; of the whole where it claims them.
    pub(crate) own: usize,
    /// How many of its own pieces are done, by whomever and whenever.
    pub(crate) done: usize,
    /// How many pieces it has done itself.
    pub(crate) drawn: usize,
    /// How many of them have failed.
    pub(crate) failed: usize,
    /// The time that it has worked.
    pub(crate) seconds: f64,
    /// The number of signs of life.
    beats: u64,
}

impl WorkerRecord {
    /// The part that it does, if it does a part.
    pub(crate) fn work_part(&self) -> Option<WorkPart> {
        self.part.as_ref()?.parse().ok()
    }
}

/// Reads all records in a folder that is shared, by name; with them the paths of files that cannot be read.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn read_records(folder: &Path) -> Result<(Vec<WorkerRecord>, Vec<PathBuf>)> {
    let folder = folder.join(RECORDS);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
        entries => entries.with_context(|| format!("cannot read the folder {}", folder.display()))?,
    };
    let (mut found, mut damaged) = (Vec::new(), Vec::new());
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        match read_regular(&path).ok().and_then(|bytes| serde_json::from_slice::<WorkerRecord>(&bytes).ok()) {
            Some(record) => found.push(record),
            None => damaged.push(path),
        }
    }
    found.sort_by_key(|record: &WorkerRecord| (record.work_part(), record.name.clone()));
    Ok((found, damaged))
}

/// This process at work in a folder that is shared. Its record says that it failed unless it [ends](Self::end).
pub(crate) struct Worker {
    beating: Arc<Beating>,
    stop: Option<(Sender<()>, JoinHandle<()>)>,
    /// Keeps a second process from the same part, where the file system knows locks.
    _lock: Option<File>,
}

struct Beating {
    path: PathBuf,
    begin: Instant,
    record: Mutex<WorkerRecord>,
}

impl Beating {
    fn record(&self) -> MutexGuard<'_, WorkerRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn beat(&self) -> Result<()> {
        let mut record = self.record();
        record.beats += 1;
        record.seconds = self.begin.elapsed().as_secs_f64();
        let bytes = serde_json::to_vec_pretty(&*record).context("cannot write the record of this process")?;
        Ok(write_file(&self.path, &bytes)?)
    }
}

impl Worker {
    /// Begins the record of this process, which does its share of `all` pieces; `None` where it does them all and nobody
    /// has shared them before.
    ///
    /// # Errors
    /// When another process does the same part, or the folder cannot be written.
    pub(crate) fn begin(folder: &Path, share: &ShareArgs, all: usize) -> Result<Option<Self>> {
        if !share.is_shared() && !folder.join(RECORDS).exists() {
            return Ok(None);
        }
        let name = if share.claim { process_name() } else { WHOLE.to_owned() };
        Self::begin_as(&name, folder, share, all).map(Some)
    }

    /// The same under a name; a part has its own.
    pub(super) fn begin_as(name: &str, folder: &Path, share: &ShareArgs, all: usize) -> Result<Self> {
        let records = folder.join(RECORDS);
        fs::create_dir_all(&records).with_context(|| format!("cannot create the folder {}", records.display()))?;
        let mut lock = None;
        let name = match share.part {
            Some(part) => {
                let path = records.join(format!(".{}.lock", part.file_name()));
                lock = lock_file(&path).with_context(|| format!("cannot lock {}", path.display()))?;
                if lock.is_none() {
                    bail!("another octopus process does part {part} in {}: wait until it ends", folder.display());
                }
                part.file_name()
            }
            None => name.to_owned(),
        };
        let own = share.part.map_or(all, |part| (0..all).filter(|&number| part.has(number)).count());
        let record = WorkerRecord {
            schema: 1,
            name: name.clone(),
            part: share.part.map(|part| part.to_string()),
            host: host(),
            process: std::process::id(),
            octopus: env!("CARGO_PKG_VERSION").to_owned(),
            begun: now_utc(),
            state: WorkerState::Running,
            all,
            own,
            done: 0,
            drawn: 0,
            failed: 0,
            seconds: 0.0,
            beats: 0,
        };
        let path = records.join(format!("{name}.json"));
        let beating = Arc::new(Beating { path, begin: Instant::now(), record: Mutex::new(record) });
        beating.beat()?;
        let (sender, stopped) = channel();
        let (of_thread, every) = (Arc::clone(&beating), BEAT.min(share.lease() / BEATS_OF_A_LEASE));
        let beat = move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                // A folder that is away for a moment may come back.
                if let Err(error) = of_thread.beat() {
                    tracing::warn!("no sign of life: {error:#}");
                }
            }
        };
        let thread = std::thread::Builder::new().name("signs of life".into()).spawn(beat)?;
        Ok(Self { beating, stop: Some((sender, thread)), _lock: lock })
    }

    /// Its name in the folder.
    pub(crate) fn name(&self) -> String {
        self.beating.record().name.clone()
    }

    /// The number of its own pieces.
    pub(crate) fn own(&self) -> usize {
        self.beating.record().own
    }

    /// Notes how many of its own pieces are done now.
    pub(crate) fn are_done(&self, done: usize) {
        self.beating.record().done = done;
    }

    /// Notes a piece that it has done itself, or that has failed.
    pub(crate) fn one_more(&self, failed: bool) {
        let mut record = self.beating.record();
        (record.done, record.drawn) = (record.done + 1, record.drawn + 1);
        record.failed += usize::from(failed);
    }

    /// Ends the record; returns what it says last.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn end(mut self, state: WorkerState) -> Result<WorkerRecord> {
        self.stop();
        self.beating.record().state = state;
        self.beating.beat()?;
        Ok(self.beating.record().clone())
    }

    fn stop(&mut self) -> bool {
        let Some((sender, thread)) = self.stop.take() else { return false };
        drop(sender);
        // A thread that has panicked beats no more either.
        let _ = thread.join();
        true
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.stop() {
            self.beating.record().state = WorkerState::Failed;
            // The error that ends the command is the one to tell.
            let _ = self.beating.beat();
        }
    }
}

/// A name that no other process has, and always the same one. Containers may all have process 1, and machines may start
/// again: the time tells them apart.
pub(crate) fn process_name() -> String {
    static NAME: OnceLock<String> = OnceLock::new();
    let name = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{}-{}-{:x}", host(), std::process::id(), now.as_micros())
    };
    NAME.get_or_init(name).clone()
}

/// The name of this machine, as far as file names take it.
fn host() -> String {
    let read = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = read.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    let plain: String = name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
    if plain.is_empty() { "host".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str) -> ShareArgs {
        ShareArgs { part: Some(text.parse().unwrap()), lease: Some(2), ..ShareArgs::default() }
    }

    #[test]
    fn a_record_tells_what_was_done_and_how_it_ended() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Worker::begin(dir.path(), &ShareArgs::default(), 9).unwrap().is_none());
        assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
        let worker = Worker::begin(dir.path(), &part("2/4"), 9).unwrap().unwrap();
        let again = Worker::begin(dir.path(), &part("2/4"), 9).err().unwrap().to_string();
        assert!(again.contains("does part 2/4"), "{again}");
        worker.are_done(1);
        worker.one_more(false);
        worker.one_more(true);
        let first = read_records(dir.path()).unwrap().0.remove(0);
        let begin = Instant::now();
        let mut later = first.clone();
        while later == first && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
            later = read_records(dir.path()).unwrap().0.remove(0);
        }
        assert!(later != first && later.state == WorkerState::Running, "{later:?}");
        let ended = worker.end(WorkerState::Interrupted).unwrap();
        assert_eq!((ended.all, ended.own, ended.done, ended.drawn, ended.failed), (9, 2, 3, 2, 1));
        drop(Worker::begin(dir.path(), &part("10/10"), 9).unwrap());
        let claim = ShareArgs { claim: true, ..ShareArgs::default() };
        assert_eq!(Worker::begin(dir.path(), &claim, 9).unwrap().unwrap().name(), process_name());
        drop(Worker::begin_as("other", dir.path(), &claim, 9).unwrap());
        fs::write(dir.path().join("parts/3-of-4.json"), "{").unwrap();
        let (found, damaged) = read_records(dir.path()).unwrap();
        let parts: Vec<_> = found.iter().map(|one| (one.part.as_deref(), one.state)).collect();
        let failed = WorkerState::Failed;
        assert_eq!(
            parts,
            [(None, failed), (None, failed), (Some("2/4"), WorkerState::Interrupted), (Some("10/10"), failed)]
        );
        assert!(damaged.len() == 1 && damaged[0].ends_with("parts/3-of-4.json"), "{damaged:?}");
        assert_eq!(found[2], ended);
    }
}
