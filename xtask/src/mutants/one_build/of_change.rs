//! Faults in a few lines, such as a change in CI: few faults, and few minutes for all, building included.
//!
//! Nearly all faults are noticed by the tests of their own crate. So these alone are built first, and asked, quick ones
//! before slow ones; the crates that depend on it are built for the faults that are left.

use super::batches::batches;
use super::folder::Folder;
use super::group::{self, Late};
use super::list::ListedFault;
use super::packages::Packages;
use super::reach::{self, Reached};
use super::record::Record;
use super::stages::Stages;
use super::suite::{self, Test};
use super::summary::Summary;
use super::trial::Trial;
use super::{TRIED, placed};
use crate::bundle::sha256;
use crate::mutants::equivalent::Equivalents;
use crate::mutants::workshop::Workshop;
use crate::run::{TaskOutcome, cargo};
use crate::skipped;
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// When the trial of a change began, and when it must end.
#[derive(Clone, Copy, Debug)]
pub(in crate::mutants) struct Clock {
    begun: Instant,
    until: Option<Instant>,
}

impl Clock {
    /// Begins now, with at most `limit` for all.
    pub(in crate::mutants) fn begin(limit: Option<Duration>) -> Self {
        let begun = Instant::now();
        Self { begun, until: limit.map(|limit| begun + limit) }
    }

    fn tell(&self, what: &str) {
        eprintln!("xtask: {:.0} s: {what}", self.begun.elapsed().as_secs_f64());
    }
}

/// How faults are tried in stages.
pub(in crate::mutants) struct Staged<'a> {
    pub(in crate::mutants) workshop: &'a Workshop,
    /// The folder of the workspace.
    pub(in crate::mutants) root: &'a Path,
    pub(in crate::mutants) clock: Clock,
    /// The profile in which the tests are built.
    pub(in crate::mutants) profile: &'a str,
    /// Only the tests of the crates with faults are asked.
    pub(in crate::mutants) alone: bool,
}

/// Tries `faults`, which are in these `lines` of the sources. Those that there was no time for, or that have no place in
/// the one build, are left to the trial of all.
///
/// # Errors
/// When the faults cannot be placed or built, or the tests cannot be run.
pub(in crate::mutants) fn staged(faults: &[ListedFault], lines: &[String], how: &Staged<'_>) -> Result<TaskOutcome> {
    let Staged { workshop, clock, .. } = how;
    clock.tell(&format!("{} faults", faults.len()));
    if faults.is_empty() {
        return Ok(TaskOutcome::Passed);
    }
    let equivalents = Equivalents::read(workshop.source())?;
    let equivalent = |fault: usize| equivalents.has(&faults[fault].name, &lines[fault]);
    let packages = Packages::read(workshop.source())?;
    let mut stages = Stages::new(faults, &packages, &equivalent, how.alone);
    match all_stages(&mut stages, how) {
        Err(error) if error.is::<Late>() => clock.tell("the time is up"),
        outcome => outcome?,
    }
    let chosen: Vec<usize> = (0..faults.len()).collect();
    let summary = Summary {
        faults,
        chosen: &chosen,
        placed: &stages.placed,
        reached: &|fault| stages.is_reached(fault),
        equivalent: &equivalent,
        line: &|fault| &lines[fault],
        tried: &|fault| stages.outcome(fault),
    };
    print!("{}", summary.text());
    if summary.untried() > 0 {
        eprintln!("xtask: {} faults are left to the trials of the night", summary.untried());
    }
    Ok(if summary.any_survived() { TaskOutcome::Failed(1) } else { TaskOutcome::Passed })
}

/// Builds and asks the tests, stage by stage, until all faults are decided.
///
/// # Errors
/// [`Late`] when the time was up before, and those of [`staged()`].
fn all_stages(stages: &mut Stages<'_>, how: &Staged<'_>) -> Result<()> {
    let &Staged { workshop, root, clock, profile, alone } = how;
    // What no fault reaches is taken from there. Where few tests are asked, what they need is built when it is needed.
    if !alone {
        let mut build = cargo(root, &["test", "--workspace", "--profile", profile, "--no-run"]);
        let built = group::output(&mut build, clock.until)?;
        if !built.status.success() {
            bail!("the tests cannot be built without faults:\n{}", String::from_utf8_lossy(&built.stderr));
        }
        clock.tell("the workspace is built without faults");
    }
    let folder =
        Folder::apart(workshop, "of-change", (&crate::place::target(root), profile), stages.faults, stages.packages)?;
    let with_faults = stages.with_faults();
    let crates: Vec<&str> = with_faults.iter().filter_map(|name| name.strip_prefix("octopus-")).collect();
    stages.placed = placed::place(workshop, &folder, stages.faults, &crates, || {
        let mut build = folder.cargo_of(&["test", "--no-run", "--no-fail-fast", "--message-format=json"], &with_faults);
        group::output(build.args(["--profile", folder.profile()]), clock.until)
    })?;
    let seconds = skipped::seconds(root);
    loop {
        let next = stages.next();
        if next.is_empty() {
            return Ok(());
        }
        let tests = suite::list_of(&folder, &next, clock.until)?;
        clock.tell(&format!("{} tests of {} are built", tests.len(), named(&next)));
        for batch in batches(tests, &seconds) {
            if stages.open().is_empty() {
                break;
            }
            ask(stages, &folder, &batch, clock)?;
        }
        clock.tell(&format!("{} faults are not noticed so far", stages.open().len()));
        stages.asked.extend(next);
    }
}

/// Asks `tests` about the faults that are open.
///
/// # Errors
/// [`Late`] when the time was up before all were asked; when they cannot be run.
fn ask(stages: &mut Stages<'_>, folder: &Folder, tests: &[Test], clock: Clock) -> Result<()> {
    let Reached { by_test, failed, in_time } = reach::all(folder, tests, clock.until)?;
    if !failed.is_empty() {
        eprintln!("xtask: these tests fail without any fault, and were left out: {}", failed.join(", "));
    }
    let by_fault = reach::by_fault(&by_test, stages.faults.len());
    let asked: Vec<usize> = stages.open().into_iter().filter(|&fault| !by_fault[fault].is_empty()).collect();
    stages.reached.extend(&asked);
    let trial = Trial { faults: stages.faults, tests, reached: &by_test, by_fault: &by_fault };
    let mut record = Record::open(&folder.file(&record_of(tests)))?;
    let all_tried = trial.run(&asked, &mut record, &folder.earlier()?, clock.until)?;
    stages.tried.extend(asked.iter().filter_map(|&fault| Some((fault, record.get(fault)?.clone()))));
    if in_time && all_tried { Ok(()) } else { Err(Late.into()) }
}

/// Returns the name of the file for what was tried with these tests: of a fault that they have missed, others know nothing.
fn record_of(tests: &[Test]) -> String {
    let names: Vec<&str> = tests.iter().map(|test| &*test.name).collect();
    format!("{}-{TRIED}", &sha256(names.join("\n").as_bytes())[..16])
}

fn named(packages: &BTreeSet<String>) -> String {
    packages.iter().map(|name| name.trim_start_matches("octopus-")).collect::<Vec<_>>().join(", ")
}
