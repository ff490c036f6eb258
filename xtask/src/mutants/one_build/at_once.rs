//! All faults of our own kinds at once: one build in the target folder of the workspace, and one trial of them all that a
//! later call takes up.

use super::folder::Folder;
use super::list::ListedFault;
use super::of_change::Staged;
use super::packages::Packages;
use super::reach::{self, Reached};
use super::record::Record;
use super::summary::Summary;
use super::trial::Trial;
use super::{TRIED, group, placed, suite};
use crate::mutants::equivalent::Equivalents;
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
    let &Staged { workshop, root, profile, .. } = how;
    // What no fault reaches is taken from there.
    let built = group::output(&mut cargo(root, &["test", "--workspace", "--profile", profile, "--no-run"]), None)?;
    if !built.status.success() {
        bail!("the tests cannot be built without faults:\n{}", String::from_utf8_lossy(&built.stderr));
    }
    let packages = Packages::read(workshop.source())?;
    let with_faults: BTreeSet<String> = faults.iter().flat_map(ListedFault::packages).collect();
    let above = packages.above(&with_faults);
    let folder = Folder::apart(workshop, "at-once", (&crate::target(root), profile), faults, &packages)?;
    let crates: Vec<&str> = with_faults.iter().filter_map(|name| name.strip_prefix("octopus-")).collect();
    let placed = placed::place(workshop, &folder, faults, &crates, || {
        let mut check = folder.cargo_of(&["check", "--keep-going", "--message-format=json"], &above);
        group::output(check.args(["--profile", profile]), None)
    })?;
    let tests = suite::list_of(&folder, &above, None)?;
    let Reached { by_test: reached, failed, .. } = reach::all(&folder, &tests, None)?;
    let by_fault = reach::by_fault(&reached, faults.len());

    let until = limit.map(|limit| Instant::now() + limit);
    let mut record = Record::open(&folder.file(TRIED))?;
    let equivalents = Equivalents::read(workshop.source())?;
    let equivalent = |fault: usize| equivalents.has(&faults[fault].name, &lines[fault]);
    let open = |&fault: &usize| placed.has(fault) && !by_fault[fault].is_empty() && !equivalent(fault);
    let asked: Vec<usize> = chosen.iter().copied().filter(open).collect();
    let trial = Trial { faults, tests: &tests, reached: &reached, by_fault: &by_fault };
    let in_time = trial.run(&asked, &mut record, &folder.earlier()?, until)?;
    let summary = Summary {
        faults,
        chosen,
        placed: &placed,
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
    Ok(if summary.any_survived() || !failed.is_empty() { TaskOutcome::Failed(1) } else { TaskOutcome::Passed })
}
