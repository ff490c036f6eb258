//! All faults in one build, each behind a question that the environment answers, so that one costs the milliseconds of
//! the tests that reach it instead of a build.
//!
//! The faults come from cargo-mutants' list; a fault that has no place here cargo-mutants builds itself. Answers are
//! kept beside the build, until the sources or tests change.

mod apart;
mod at_once;
mod batches;
mod blame;
mod folder;
mod group;
mod journal;
mod lanes;
mod list;
mod marks;
mod of_change;
mod packages;
mod placed;
mod reach;
mod record;
mod render;
mod sites;
mod stages;
mod suite;
mod summary;
mod switch;
mod trial;

use super::equivalent::Equivalents;
use super::generated::{CRATES, CargoMutants};
use crate::run::TaskOutcome;
use anyhow::{Result, bail};
use at_once::AtOnce;
pub(super) use at_once::at_once;
use folder::Folder;
pub(super) use list::{Genre, ListedFault, Place, Position, Span, read, source_lines};
pub(super) use of_change::{Clock, Staged, staged};
use placed::Placed;
use record::{Outcome, Record, Tried};
pub(super) use sites::SiteKind;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The file with what was tried.
const TRIED: &str = "tried.jsonl";

/// Which faults are tried, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrialOptions<'a> {
    /// The trial is limited to the faults of these crates.
    pub(super) crates: &'a [&'static str],
    /// The trial is limited to files whose paths contain one of these; all when empty.
    pub(super) files: &'a [String],
    /// The trial is limited to every n-th of them, from the k-th on.
    pub(super) part: Option<(usize, usize)>,
    /// The trial ends after this long. Building, and running the tests once without a fault, are not counted.
    pub(super) limit: Option<Duration>,
}

/// Tries the faults that were not tried before, and says what became of all. Tests that fail without a fault are left
/// out, and named at the end: the outcome is then not a pass.
///
/// # Errors
/// When the faults cannot be listed, placed or built, or the tests cannot be run.
pub(super) fn run(cargo_mutants: &CargoMutants, options: TrialOptions<'_>) -> Result<TaskOutcome> {
    let workshop = cargo_mutants.workshop();
    let faults = read(&cargo_mutants.list()?)?;
    let lines = source_lines(workshop.source(), &faults)?;
    let chosen = chosen(&faults, options);
    if chosen.is_empty() {
        bail!("no fault is in the files, crates and part that are asked for");
    }
    let folder = Folder::open(workshop, &faults)?;
    Folder::fetch(workshop)?;
    let placed = placed::place(workshop, &folder, &faults, &CRATES, || placed::check(&folder))?;
    let tests = suite::list(&folder)?;
    let all = AtOnce { workshop, folder: &folder, faults: &faults, lines: &lines, chosen: &chosen, placed: &placed };
    all.try_them(&tests, options.limit, |in_time, record, equivalent| {
        let mut rest = left_over(&chosen, &placed, record);
        rest.retain(|&fault| !equivalent(fault));
        if !rest.is_empty() {
            eprintln!("xtask: {} faults have no place in the one build, and are left to cargo-mutants", rest.len());
        }
        if in_time { put_in(cargo_mutants, &faults, &rest, record) } else { Ok(()) }
    })
}

/// Returns whether all faults of these `names` stand in the list of equivalent ones.
///
/// # Errors
/// When the faults cannot be listed, or the list cannot be read.
pub(super) fn all_are_equivalent(cargo_mutants: &CargoMutants, names: &[String]) -> Result<bool> {
    let root = cargo_mutants.workshop().source();
    let faults = read(&cargo_mutants.list()?)?;
    let lines = source_lines(root, &faults)?;
    let equivalents = Equivalents::read(root)?;
    let listed = faults.iter().zip(&lines).filter(|(fault, line)| equivalents.has(&fault.name, line));
    let listed: HashSet<&str> = listed.map(|(fault, _)| &*fault.name).collect();
    Ok(names.iter().all(|name| listed.contains(&**name)))
}

/// Returns the text of a file with all of `faults`, for tests.
#[cfg(test)]
pub(super) fn rendered(name: &str, text: &str, faults: &[ListedFault]) -> String {
    let numbered: Vec<(usize, &ListedFault)> = faults.iter().enumerate().collect();
    let found = sites::find(name, text, &numbered).unwrap_or_default();
    render::render(text, &found.sites, &std::collections::BTreeSet::new())
}

/// Returns the numbers of the faults that are asked for.
fn chosen(faults: &[ListedFault], options: TrialOptions<'_>) -> Vec<usize> {
    let of_crate =
        |fault: &ListedFault| options.crates.iter().any(|name| fault.package.strip_prefix("octopus-") == Some(*name));
    let of_file = |fault: &ListedFault| {
        options.files.is_empty() || options.files.iter().any(|part| fault.file.contains(part.as_str()))
    };
    let (k, n) = options.part.unwrap_or((1, 1));
    let asked = |(_, fault): &(usize, &ListedFault)| of_crate(fault) && of_file(fault);
    faults.iter().enumerate().filter(asked).map(|(number, _)| number).skip(k - 1).step_by(n).collect()
}

/// Returns those of `chosen` that cargo-mutants must put in.
fn left_over(chosen: &[usize], placed: &Placed, record: &Record) -> Vec<usize> {
    let left = |fault: &usize| placed.left_over.contains(fault) && record.get(*fault).is_none();
    chosen.iter().copied().filter(left).collect()
}

/// Has cargo-mutants put in `rest`, with a build for each.
fn put_in(cargo_mutants: &CargoMutants, faults: &[ListedFault], rest: &[usize], record: &mut Record) -> Result<()> {
    if rest.is_empty() {
        return Ok(());
    }
    let numbers: HashMap<&str, usize> = rest.iter().map(|&fault| (&*faults[fault].name, fault)).collect();
    cargo_mutants.put_in_all_but(faults.iter().map(|fault| &*fault.name).filter(|name| !numbers.contains_key(name)))?;
    for (file, outcome) in [
        ("caught.txt", Outcome::Caught),
        ("timeout.txt", Outcome::TimedOut),
        ("missed.txt", Outcome::Missed),
        ("unviable.txt", Outcome::NotCompiling),
    ] {
        for name in cargo_mutants.outcomes(file)? {
            if let Some(&fault) = numbers.get(&*name) {
                record.add(Tried { fault, name, outcome, noticed_by: None, tests: 0, reached_by: 0, budget: 0.0 })?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn crates_files_and_parts_limit_the_faults() {
        let fault = |number: usize| {
            let file = if number == 7 { "plot/b.rs" } else { "a.rs" };
            json!({ "name": number.to_string(), "file": file, "genre": "FnValue", "replacement": "0",
                "package": if number < 6 { "octopus-runs" } else { "octopus-cli" }, "function": null,
                "span": { "start": { "line": 1, "column": 1 } } })
        };
        let faults = read(&json!((0..9).map(fault).collect::<Vec<_>>()).to_string()).unwrap();
        let numbers = |crates: &'static [&'static str], part| {
            chosen(&faults, TrialOptions { crates, files: &[], part, limit: None })
        };
        assert_eq!(numbers(&["cli"], None), [6, 7, 8]);
        assert_eq!(numbers(&["cli", "runs"], Some((2, 3))), [1, 4, 7]);
        let files = ["plot/".to_owned()];
        let options = TrialOptions { crates: &["cli", "runs"], files: &files, part: None, limit: None };
        assert_eq!(chosen(&faults, options), [7]);
    }

    #[test]
    fn cargo_mutants_gets_what_is_left_over_once() {
        let path = std::env::temp_dir().join(format!("octopus-left-over-{}", std::process::id()));
        let placed = Placed { not_compiling: [1].into(), left_over: [2, 3].into() };
        let mut record = Record::open(&path).unwrap();
        assert_eq!(left_over(&[0, 1, 2, 3], &placed, &record), [2, 3]);
        let (name, outcome) = (String::new(), Outcome::Missed);
        record.add(Tried { fault: 3, name, outcome, noticed_by: None, tests: 0, reached_by: 0, budget: 0.0 }).unwrap();
        // A later call knows it too.
        let record = Record::open(&path).unwrap();
        assert_eq!(left_over(&[0, 1, 2, 3], &placed, &record), [2]);
        std::fs::remove_file(path).unwrap();
    }
}
