//! All faults at once, in a trial that a later call takes up; our own kinds of faults are built in the workspace's
//! target folder.

use super::folder::Folder;
use super::list::ListedFault;
use super::of_change::Staged;
use super::packages::Packages;
use super::placed::Placed;
use super::reach::{self, Reached};
use super::record::Record;
use super::suite::Test;
use super::summary::Summary;
use super::trial::Trial;
use super::{TRIED, group, placed, suite};
use crate::mutants::equivalent::Equivalents;
use crate::mutants::workshop::Workshop;
use crate::run::{TaskOutcome, cargo};
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Tries those of `faults` that are `chosen` and were not tried before, for as long as `limit` after all is built.
///
/// # Errors
/// When the faults cannot be placed or built, or the tests cannot be run.
pub(in crate::mutants) fn at_once(
    faults: &[ListedFault],
    lines: &[String],
    chosen: &[usize],
    how: &Staged<'_>,
    limit: Option<Duration>,
) -> Result<TaskOutcome> {
    let &Staged { workshop, root, profile, alone, .. } = how;
    // What no fault reaches is taken from there.
    let built = group::output(&mut cargo(root, &["test", "--workspace", "--profile", profile, "--no-run"]), None)?;
    if !built.status.success() {
        bail!("the tests cannot be built without faults:\n{}", String::from_utf8_lossy(&built.stderr));
    }
    let packages = Packages::read(workshop.source())?;
    let with_faults: BTreeSet<String> = faults.iter().flat_map(ListedFault::packages).collect();
    let above = packages.above(&with_faults);
    let folder = Folder::apart(workshop, "at-once", (&crate::place::target(root), profile), faults, &packages)?;
    let crates: Vec<&str> = with_faults.iter().filter_map(|name| name.strip_prefix("octopus-")).collect();
    let placed = placed::place(workshop, &folder, faults, &crates, || {
        let mut check = folder.cargo_of(&["check", "--keep-going", "--message-format=json"], &above);
        group::output(check.args(["--profile", profile]), None)
    })?;
    let of_chosen = || chosen.iter().map(|&fault| faults[fault].package.clone()).collect();
    let tests = suite::list_of(&folder, &if alone { of_chosen() } else { above }, None)?;
    let all = AtOnce { workshop, folder: &folder, faults, lines, chosen, placed: &placed };
    // What has no place is told in the table.
    all.try_them(&tests, limit, |_, _, _| Ok(()))
}

/// Faults that are built all at once.
pub(super) struct AtOnce<'a> {
    pub(super) workshop: &'a Workshop,
    pub(super) folder: &'a Folder,
    pub(super) faults: &'a [ListedFault],
    pub(super) lines: &'a [String],
    pub(super) chosen: &'a [usize],
    pub(super) placed: &'a Placed,
}

impl AtOnce<'_> {
    /// Tries the faults that were not tried before, for as long as `limit`, and says what became of all. `others` does what
    /// is left for those without a place: it is told whether there was time for all the rest, what is known, and which
    /// faults mean the same as what they replace. Tests that fail without a fault are left out, and named at the end: the
    /// outcome is then not a pass.
    ///
    /// # Errors
    /// When the tests cannot be run, and those of `others`.
    pub(super) fn try_them(
        &self,
        tests: &[Test],
        limit: Option<Duration>,
        others: impl FnOnce(bool, &mut Record, &dyn Fn(usize) -> bool) -> Result<()>,
    ) -> Result<TaskOutcome> {
        let &Self { workshop, folder, faults, lines, chosen, placed } = self;
        let Reached { by_test: reached, failed, .. } = reach::all(folder, tests, None)?;
        let by_fault = reach::by_fault(&reached, faults.len());
        let until = limit.map(|limit| Instant::now() + limit);
        let mut record = Record::open(&folder.file(TRIED))?;
        // Those in the list of equivalent ones are built all the same: a line there makes no new build.
        let equivalents = Equivalents::read(workshop.source())?;
        let equivalent = |fault: usize| equivalents.has(&faults[fault].name, &lines[fault]);
        let open = |&fault: &usize| placed.has(fault) && !by_fault[fault].is_empty() && !equivalent(fault);
        let asked: Vec<usize> = chosen.iter().copied().filter(open).collect();
        let trial = Trial { faults, tests, reached: &reached, by_fault: &by_fault };
        let in_time = trial.run(&asked, &mut record, &folder.earlier()?, until)?;
        // What is known is told even if the others cannot be tried.
        let others = others(in_time, &mut record, &equivalent);
        let summary = Summary {
            faults,
            chosen,
            placed,
            reached: &|fault| !by_fault[fault].is_empty(),
            equivalent: &equivalent,
            line: &|fault| &lines[fault],
            tried: &|fault| record.get(fault),
        };
        print!("{}", summary.text());
        if !in_time {
            eprintln!("xtask: the time is up; the next call goes on");
        }
        if !failed.is_empty() {
            eprintln!("xtask: these tests fail without any fault, and were left out: {}", failed.join(", "));
        }
        others?;
        Ok(if summary.any_survived() || !failed.is_empty() { TaskOutcome::Failed(1) } else { TaskOutcome::Passed })
    }
}
