//! Claims on pieces of work: files in a folder that is shared, each made by exactly one process.
//!
//! `claims/17` holds the name of the process that takes piece 17; `claims/17.1` is of the process that has taken it over,
//! and so on. The file system makes a new file for one process alone (`O_EXCL`), also over NFS without locks. A process is
//! gone when its record says that it has ended, or has not changed for a whole lease by the clock of who looks. One that
//! is only slow does a piece twice, to the same bits: claims save work, and no result depends on them.

use super::worker::{RECORDS, Worker};
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The folder of the claims in the folder that is shared.
pub(crate) const CLAIMS: &str = "claims";
/// The ending of the file that says why a piece has failed.
const FAILED: &str = "failed";
/// The time for which what was seen of a process is not looked at again.
const LOOK: Duration = Duration::from_millis(500);

/// What one process knows of the claims of all.
pub(crate) struct Claims {
    folder: PathBuf,
    records: PathBuf,
    name: String,
    lease: Duration,
    owners: HashMap<String, Sight>,
    /// The piece at which this process begins to look, so that not all look at the same one.
    from: u64,
}

/// A record of a process, as it was when it was last seen to change.
struct Sight {
    record: Option<Vec<u8>>,
    changed: Instant,
    looked: Instant,
}

impl Claims {
    /// Begins to claim pieces for the process of a record.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub(crate) fn begin(shared: &Path, worker: &Worker, lease: Duration) -> Result<Self> {
        let folder = shared.join(CLAIMS);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
        let name = worker.name();
        let from = RandomState::new().hash_one(&name);
        Ok(Self { folder, records: shared.join(RECORDS), name, lease, owners: HashMap::new(), from })
    }

    /// Returns the numbers 0 to `all`, from this process's own on.
    pub(crate) fn order(&self, all: usize) -> impl Iterator<Item = usize> + use<> {
        let from = usize::try_from(self.from % all.max(1) as u64).unwrap_or_default();
        (from..all).chain(0..from)
    }

    /// Takes a piece; false says that another process has it, and lives.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub(crate) fn take(&mut self, piece: usize) -> Result<bool> {
        for takeover in 0.. {
            let name = if takeover == 0 { piece.to_string() } else { format!("{piece}.{takeover}") };
            let path = self.folder.join(&name);
            let failed = || format!("cannot claim a piece of the work in {}", path.display());
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(self.name.as_bytes()).with_context(failed)?;
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(failed),
            }
            let owner = match fs::read_to_string(&path) {
                // Its maker has not yet written its name, or never will.
                Ok(owner) if owner.is_empty() => name,
                Ok(owner) => owner,
                // All is done, and somebody has cleared up.
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(error).with_context(failed),
            };
            // This process has given up its own piece, as when it failed to read what others have done.
            if owner != self.name && !self.is_gone(&owner) {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Whether a process is gone.
    fn is_gone(&mut self, owner: &str) -> bool {
        let now = Instant::now();
        let sight = self.owners.get(owner);
        if sight.is_none_or(|sight| now.duration_since(sight.looked) >= LOOK) {
            let record = fs::read(self.records.join(format!("{owner}.json"))).ok();
            let changed = sight.filter(|sight| sight.record == record).map_or(now, |sight| sight.changed);
            self.owners.insert(owner.to_owned(), Sight { record, changed, looked: now });
        }
        let Some(Sight { record, changed, .. }) = self.owners.get(owner) else { return false };
        now.duration_since(*changed) >= self.lease || record.as_deref().is_some_and(has_ended)
    }

    /// Notes that a piece has failed, so that nobody takes it again.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn fail(&self, piece: usize, why: &str) -> Result<()> {
        Ok(octopus_files::write_file(&self.folder.join(format!("{piece}.{FAILED}")), why.as_bytes())?)
    }

    /// Returns why a piece has failed, if it has.
    pub(crate) fn failure(&self, piece: usize) -> Option<String> {
        fs::read_to_string(self.folder.join(format!("{piece}.{FAILED}"))).ok()
    }
}

/// Whether a record says that its process has ended.
fn has_ended(record: &[u8]) -> bool {
    let record = serde_json::from_slice::<super::WorkerRecord>(record);
    record.is_ok_and(|record| record.state != super::WorkerState::Running)
}

/// Removes all claims, when nothing is left to be claimed, and the folders of these names.
///
/// # Errors
/// When they cannot be removed.
pub(crate) fn clear(shared: &Path, others: &[&str]) -> Result<()> {
    for folder in others.iter().chain(&[CLAIMS]).map(|name| shared.join(name)) {
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", folder.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ShareArgs;
    use crate::share::WorkerState;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn worker(dir: &Path) -> (Worker, Claims) {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let share = ShareArgs { claim: true, ..ShareArgs::default() };
        let name = format!("host-1-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let worker = Worker::begin_as(&name, dir, &share, 9).unwrap();
        let claims = Claims::begin(dir, &worker, Duration::from_millis(700)).unwrap();
        (worker, claims)
    }

    #[test]
    fn a_piece_is_of_one_process_until_it_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let ((one, mut of_one), (two, mut of_two)) = (worker(dir.path()), worker(dir.path()));
        assert!(of_one.take(3).unwrap() && !of_two.take(3).unwrap() && of_two.take(4).unwrap());
        one.end(WorkerState::Interrupted).unwrap();
        std::thread::sleep(LOOK);
        assert!(of_two.take(3).unwrap(), "its owner has ended");
        let (_third, mut of_third) = worker(dir.path());
        assert!(!of_third.take(3).unwrap(), "the second has it");
        drop(two);
        assert!(of_two.failure(5).is_none());
        of_two.fail(5, "torn").unwrap();
        assert_eq!(of_third.failure(5).as_deref(), Some("torn"));
        clear(dir.path(), &[]).unwrap();
        clear(dir.path(), &[]).unwrap();
        assert!(!dir.path().join(CLAIMS).exists());
    }

    /// A process that was killed changes its record no more; neither does one that never wrote its name or its record.
    #[test]
    fn a_piece_is_taken_over_after_a_lease_without_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let (dead, mut of_dead) = worker(dir.path());
        assert!(of_dead.take(0).unwrap());
        let path = dir.path().join(RECORDS).join(format!("{}.json", dead.name()));
        let running = fs::read(&path).unwrap();
        drop(dead);
        fs::write(&path, &running).unwrap();
        fs::write(dir.path().join("claims/1"), "").unwrap();
        fs::write(dir.path().join("claims/2"), "nobody-1-2").unwrap();
        let (_other, mut of_other) = worker(dir.path());
        assert_eq!([0, 1, 2].map(|piece| of_other.take(piece).unwrap()), [false; 3]);
        std::thread::sleep(Duration::from_millis(800));
        let text = String::from_utf8(running).unwrap().replace("\"beats\": 1", "\"beats\": 2");
        fs::write(&path, text).unwrap();
        assert_eq!([0, 1, 2].map(|piece| of_other.take(piece).unwrap()), [false, true, true], "the first has changed");
        std::thread::sleep(Duration::from_millis(800));
        assert!(of_other.take(0).unwrap());
    }

    #[test]
    fn one_of_many_at_once_has_a_piece_and_each_begins_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let taken: Vec<usize> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let (worker, mut claims) = worker(dir.path());
                        let order: Vec<usize> = claims.order(40).collect();
                        assert_eq!(order.len(), 40);
                        let taken = order.into_iter().filter(|&piece| claims.take(piece).unwrap()).collect::<Vec<_>>();
                        // It lives until all have tried.
                        (taken, worker)
                    })
                })
                .collect();
            let ended: Vec<(Vec<usize>, Worker)> = all.into_iter().map(|one| one.join().unwrap()).collect();
            ended.into_iter().flat_map(|(taken, _)| taken).collect()
        });
        let mut sorted = taken.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..40).collect::<Vec<_>>());
    }
}
