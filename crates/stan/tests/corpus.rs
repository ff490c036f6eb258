//! Programs of other people, which are not part of the repository: stanc's own tests and posteriordb.
//!
//! `OCTOPUS_STANC3` names a checkout of stan-dev/stanc3, `OCTOPUS_POSTERIORDB` one of stan-dev/posteriordb.
//! `OCTOPUS_STAN_SHOW=1` prints the messages too.

use octopus_stan::{StanError, StanProgram};
use std::path::{Path, PathBuf};

/// What became of the programs of a folder.
#[derive(Default)]
struct Outcome {
    taken: usize,
    unsupported: Vec<(PathBuf, String)>,
    refused: Vec<(PathBuf, String)>,
}

impl Outcome {
    fn of(folder: &Path) -> Self {
        let mut outcome = Self::default();
        for path in programs(folder) {
            match StanProgram::read(&path) {
                Ok(_) => outcome.taken += 1,
                Err(error) if error.is_unsupported() => outcome.unsupported.push((path, first(&error))),
                Err(error) => outcome.refused.push((path, first(&error))),
            }
        }
        outcome
    }
}

fn first(error: &StanError) -> String {
    error.diagnostics().first().map_or_else(|| error.to_string(), |diagnostic| diagnostic.to_string())
}

/// All programs below a folder, in order.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("no entry").path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "stan") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn checkout(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        eprintln!("SKIPPED: {variable} names no checkout");
    }
    path
}

fn show(title: &str, list: &[(PathBuf, String)]) {
    println!("{title}: {}", list.len());
    let with_messages = std::env::var_os("OCTOPUS_STAN_SHOW").is_some();
    for (path, message) in list {
        println!("  {}", path.display());
        if with_messages {
            println!("{message}\n");
        }
    }
}

#[test]
fn good_programs_are_taken() {
    let Some(stanc) = checkout("OCTOPUS_STANC3") else { return };
    let outcome = Outcome::of(&stanc.join("test/integration/good"));
    println!("taken: {}", outcome.taken);
    show("refused by name", &outcome.unsupported);
    show("wrongly refused", &outcome.refused);
    assert!(outcome.refused.is_empty());
}

#[test]
fn bad_programs_are_refused() {
    let Some(stanc) = checkout("OCTOPUS_STANC3") else { return };
    let folder = stanc.join("test/integration/bad");
    let outcome = Outcome::of(&folder);
    println!("refused: {}", outcome.refused.len());
    show("refused by name", &outcome.unsupported);
    println!("wrongly taken: {}", outcome.taken);
    for path in programs(&folder).into_iter().filter(|path| StanProgram::read(path).is_ok()) {
        println!("  {}", path.display());
    }
    assert_eq!(outcome.taken, 0);
}

#[test]
fn the_programs_of_posteriordb_are_taken() {
    let Some(database) = checkout("OCTOPUS_POSTERIORDB") else { return };
    let outcome = Outcome::of(&database.join("posterior_database/models/stan"));
    println!("taken: {}", outcome.taken);
    show("refused by name", &outcome.unsupported);
    show("wrongly refused", &outcome.refused);
    assert!(outcome.refused.is_empty());
}
