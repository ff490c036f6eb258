//! Tests run side by side, one a core, each in a process group of its own with limits of time and memory.

use super::group;
use super::suite::Test;
use anyhow::{Context, Result};
use rayon::prelude::*;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The most memory of a test, in KiB. A fault that asks for all there is must not take the machine.
const MOST_MEMORY: u32 = 12 << 20;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Passed,
    Failed,
    /// It took longer than this test may.
    TimedOut,
    /// The time of all was up: nothing is known of it.
    Late,
}

/// A folder for what the tests of one thread write.
pub(super) struct Lane<'a> {
    folder: PathBuf,
    /// When the time of all is up.
    until: Option<Instant>,
    /// Whether it was not up yet, as the lanes know it together.
    in_time: &'a AtomicBool,
}

impl Lane<'_> {
    /// Returns a path for a file that is there until the next test.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns what the last test has said.
    pub(super) fn said(&self) -> String {
        fs::read(self.file("said")).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Runs one test with `variable` set, for at most `limit`; returns how it ended and how long it took.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn run(&self, test: &Test, variable: (&str, &Path), limit: Duration) -> Result<(Ending, Duration)> {
        // What the last one left: some are killed before they can put their things away.
        let temporary = self.file("temporary");
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(&temporary).with_context(|| format!("cannot make {}", temporary.display()))?;
        let said = File::create(self.file("said")).context("cannot write what a test says")?;
        let mut command = limited(&test.program);
        command.args(["--exact", &test.within, "--nocapture"]).current_dir(&test.folder);
        command.env("CARGO_MANIFEST_DIR", &test.folder).env("TMPDIR", &temporary).env(variable.0, variable.1);
        command.envs([("NEXTEST", "1"), ("NEXTEST_EXECUTION_MODE", "process-per-test"), ("RUST_BACKTRACE", "0")]);
        // A wrong answer is no new snapshot, and no case to keep.
        command.envs([("INSTA_UPDATE", "no"), ("INSTA_FORCE_PASS", "0")]);
        command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1").env_remove("CARGO_TARGET_DIR");
        command.stdin(Stdio::null()).stdout(said.try_clone().context("cannot share a file")?).stderr(said);
        let start = Instant::now();
        let mut child = group::start(&mut command).with_context(|| test.name.clone())?;
        let own = start + limit;
        let status = group::wait(&mut child, Some(self.until.map_or(own, |until| own.min(until))))?;
        let ending = match status {
            Some(status) if status.success() => Ending::Passed,
            Some(_) => Ending::Failed,
            None if self.until.is_some_and(|until| until <= own) => Ending::Late,
            None => Ending::TimedOut,
        };
        if ending != Ending::Passed {
            group::end(&mut child)?;
        }
        if ending == Ending::Late {
            self.in_time.store(false, Ordering::Relaxed);
        }
        Ok((ending, start.elapsed()))
    }
}

/// Returns the command of `program` with less memory than the machine has, and no core dumps.
fn limited(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -c 0; ulimit -d {MOST_MEMORY} 2>/dev/null; exec \"$0\" \"$@\"")).arg(program);
    command
}

/// Does `work` for each of `items`, as many at a time as there are cores, until all are done, one fails, or it is late.
/// Returns whether all were done.
///
/// # Errors
/// One of `work`.
pub(super) fn share_out<T: Sync>(
    items: &[T],
    until: Option<Instant>,
    work: impl Fn(&Lane<'_>, &T) -> Result<()> + Sync + Send,
) -> Result<bool> {
    let folder = std::env::temp_dir().join(format!("octopus-faults-{}", std::process::id()));
    let in_time = AtomicBool::new(true);
    // One at a time: a lane that has nothing to do must not wait for a share of another.
    let outcome = items.par_iter().with_max_len(1).try_for_each(|item| {
        if until.is_some_and(|until| Instant::now() >= until) {
            in_time.store(false, Ordering::Relaxed);
            return Ok(());
        }
        let number = rayon::current_thread_index().unwrap_or(0);
        work(&Lane { folder: folder.join(number.to_string()), until, in_time: &in_time }, item)
    });
    let _ = fs::remove_dir_all(&folder);
    outcome.map(|()| in_time.into_inner())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// Runs a script in place of a test's program, which gets `--exact NAME --nocapture`.
    fn ended(script: &str, limit: u64) -> (Ending, String) {
        let (ending, said, in_time) = ended_by(script, limit, None);
        assert!(in_time);
        (ending, said)
    }

    /// Runs it until the time of all is up; returns whether that was not so, too.
    fn ended_by(script: &str, limit: u64, until: Option<Instant>) -> (Ending, String, bool) {
        let folder = std::env::temp_dir().join(format!("octopus-lane-{}-{}", std::process::id(), script.len()));
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("program");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        Command::new("chmod").arg("+x").arg(&program).status().unwrap();
        let within = "a::b".to_owned();
        let test = Test { program, folder: folder.clone(), package: String::new(), name: String::new(), within };
        let in_time = AtomicBool::new(true);
        let lane = Lane { folder: folder.join("lane"), until, in_time: &in_time };
        let (ending, _) = lane.run(&test, ("FAULT", Path::new("7")), Duration::from_millis(limit)).unwrap();
        let said = lane.said();
        fs::remove_dir_all(folder).unwrap();
        (ending, said, in_time.into_inner())
    }

    #[test]
    fn tests_end_in_one_of_three_ways() {
        assert_eq!(ended("echo $FAULT $2; test -d $TMPDIR", 10_000), (Ending::Passed, "7 a::b\n".to_owned()));
        assert_eq!(ended("exit 101", 10_000).0, Ending::Failed);
        let start = Instant::now();
        assert_eq!(ended("sleep 60 & sleep 60", 100).0, Ending::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_test_that_the_time_of_all_ends_is_neither_failed_nor_timed_out() {
        let soon = || Some(Instant::now() + Duration::from_millis(100));
        let (ending, _, in_time) = ended_by("sleep 60 # late", 50_000, soon());
        assert_eq!((ending, in_time), (Ending::Late, false));
        let (ending, _, in_time) = ended_by("exit 9 # early", 50_000, soon());
        assert_eq!((ending, in_time), (Ending::Failed, true));
    }

    #[test]
    fn all_work_is_done_once_unless_it_is_late_or_fails() {
        let items: Vec<u32> = (1..=100).collect();
        let sum = AtomicU32::new(0);
        let add = |_: &Lane<'_>, item: &u32| {
            sum.fetch_add(*item, Ordering::Relaxed);
            Ok(())
        };
        assert!(share_out(&items, None, add).unwrap());
        assert_eq!(sum.load(Ordering::Relaxed), 5050);
        assert!(!share_out(&items, Some(Instant::now()), add).unwrap());
        assert!(share_out(&items, None, |_, _| anyhow::bail!("no")).is_err());
    }
}
