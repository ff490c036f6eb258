//! The faults of a change, for CI: few of them, and few minutes.
//!
//! Most faults are noticed by the unit tests of their own crate, in milliseconds. The other tests, which take minutes
//! together, are asked about those that are left.

use super::folder::Folder;
use super::list::{self, ListedFault};
use super::reach::{self, Reached};
use super::record::{Outcome, Record, Tried};
use super::suite::{self, Test};
use super::summary::Summary;
use super::trial::Trial;
use super::{TRIED, placed};
use crate::mutants::equivalent::Equivalents;
use crate::mutants::generated::CargoMutants;
use crate::run::TaskOutcome;
use anyhow::Result;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Tries the faults of the changed lines, with tests that take at most `limit`; what is built lies in `target`. Faults that there was no
/// time for, or that have no place in the one build, are left to the trial of all.
///
/// # Errors
/// When the faults cannot be listed, placed or built, or the tests cannot be run.
pub(in crate::mutants) fn of_change(
    cargo_mutants: &CargoMutants,
    target: &Path,
    limit: Option<Duration>,
) -> Result<TaskOutcome> {
    let workshop = cargo_mutants.workshop();
    let faults = list::read(&cargo_mutants.list_changed()?)?;
    eprintln!("xtask: {} faults in the changed lines", faults.len());
    if faults.is_empty() {
        return Ok(TaskOutcome::Passed);
    }
    let lines = list::source_lines(workshop.source(), &faults)?;
    let equivalents = Equivalents::read(workshop.source())?;
    let equivalent = |fault: usize| equivalents.has(&faults[fault].name, &lines[fault]);
    let folder = Folder::of_change(workshop, target, &faults)?;
    let placed = placed::place(workshop, &folder, &faults)?;
    let tiers = tiers(suite::list(&folder)?, &faults);

    let until = limit.map(|limit| Instant::now() + limit);
    let mut tests = Vec::new();
    let mut by_fault = Vec::new();
    let mut tried: BTreeMap<usize, Tried> = BTreeMap::new();
    let mut in_time = true;
    for (number, tier) in tiers.into_iter().enumerate() {
        let noticed = |fault: &usize| tried.get(fault).is_some_and(was_noticed);
        let mut asked: Vec<usize> =
            (0..faults.len()).filter(|fault| placed.has(*fault) && !equivalent(*fault) && !noticed(fault)).collect();
        if asked.is_empty() || !in_time {
            break;
        }
        tests.extend(tier);
        let reached = reach::all(&folder, &tests, until)?;
        by_fault = reach::by_fault(&reached.by_test, faults.len());
        asked.retain(|&fault| !by_fault[fault].is_empty());
        let Reached { by_test, failed, .. } = reached;
        if !failed.is_empty() {
            eprintln!("xtask: these tests fail without any fault, and were left out: {}", failed.join(", "));
        }
        let trial = Trial { faults: &faults, tests: &tests, reached: &by_test, by_fault: &by_fault };
        // A file for each tier: a fault that some tests have missed is asked of more.
        let mut record = Record::open(&folder.file(&format!("{number}-{TRIED}")))?;
        let all_tried = trial.run(&asked, &mut record, &folder.earlier()?, until)?;
        in_time = reached.in_time && all_tried;
        tried.extend(asked.iter().filter_map(|&fault| Some((fault, record.get(fault)?.clone()))));
    }
    if !in_time {
        eprintln!("xtask: the time is up: `cargo xtask mutants --wiring` tries all");
        // Tests that were not asked may notice those.
        tried.retain(|_, tried| was_noticed(tried));
        by_fault = vec![vec![0]; faults.len()];
    }
    let chosen: Vec<usize> = (0..faults.len()).collect();
    let summary = Summary {
        faults: &faults,
        chosen: &chosen,
        placed: &placed,
        by_fault: &by_fault,
        equivalent: &equivalent,
        line: &|fault| &lines[fault],
        tried: &|fault| tried.get(&fault),
    };
    print!("{}", summary.text());
    Ok(if summary.any_survived() { TaskOutcome::Failed(1) } else { TaskOutcome::Passed })
}

fn was_noticed(tried: &Tried) -> bool {
    matches!(tried.outcome, Outcome::Caught | Outcome::TimedOut)
}

/// Returns the tests in the order in which they are asked: unit tests of the crates with `faults`, their other tests,
/// and those of the crates that depend on them.
fn tiers(tests: Vec<Test>, faults: &[ListedFault]) -> [Vec<Test>; 3] {
    let with_faults: HashSet<&str> = faults.iter().map(|fault| &*fault.package).collect();
    let mut tiers = [const { Vec::new() }; 3];
    for test in tests {
        let own = with_faults.contains(&*test.package);
        // Nextest calls the unit tests of a crate by the crate's name alone: `octopus-runs`, not `octopus-runs::suite`.
        let unit = test.name.split(' ').next() == Some(&*test.package);
        tiers[if own && unit { 0 } else { 2 - usize::from(own) }].push(test);
    }
    tiers
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unit_tests_of_the_crates_with_faults_come_first() {
        let fault = json!([{ "name": "a", "file": "a.rs", "package": "octopus-runs", "genre": "FnValue",
            "replacement": "0", "span": { "start": { "line": 1, "column": 1 } } }]);
        let faults = list::read(&fault.to_string()).unwrap();
        let names = ["octopus-cli a", "octopus-runs b", "octopus-runs::suite c", "octopus-cli::cli d"];
        let test = |name: &str| Test {
            program: "".into(),
            folder: "".into(),
            package: name.split([' ', ':']).next().unwrap().to_owned(),
            name: name.to_owned(),
            within: String::new(),
        };
        let tiers = tiers(names.map(test).to_vec(), &faults);
        let named = tiers.map(|tier| tier.into_iter().map(|test| test.name).collect::<Vec<_>>());
        assert_eq!(
            named,
            [vec!["octopus-runs b"], vec!["octopus-runs::suite c"], vec!["octopus-cli a", "octopus-cli::cli d"]]
        );
    }
}
