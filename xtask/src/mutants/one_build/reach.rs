//! Which faults each test comes by, found by running it once without any.

use super::folder::Folder;
use super::journal::Journal;
use super::lanes::{self, Ending};
use super::suite::Test;
use super::switch;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The file that keeps it.
const FILE: &str = "reached.jsonl";
/// What a test may take. Noting what is reached slows down loops over numbers; a test that is stopped has reached most of
/// it by then.
const LIMIT: Duration = Duration::from_secs(15);

/// What one test comes by.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reach {
    test: String,
    /// How long it took.
    pub(super) seconds: f64,
    /// The numbers of the faults.
    pub(super) faults: Vec<usize>,
}

/// What all tests come by.
pub(super) struct Reached {
    /// What each test reaches, in the tests' order. A test that failed reaches nothing here: it could not tell a fault.
    pub(super) by_test: Vec<Reach>,
    /// The names of the tests that failed without any fault.
    pub(super) failed: Vec<String>,
    /// Whether there was time for all tests.
    pub(super) in_time: bool,
}

/// Runs those of `tests` that have not passed, until it is late, and returns what each of them reaches.
///
/// # Errors
/// When tests cannot be run.
pub(super) fn all(folder: &Folder, tests: &[Test], until: Option<Instant>) -> Result<Reached> {
    let (journal, known) = Journal::<Reach>::open(&folder.file(FILE))?;
    let mut known: HashMap<String, Reach> = known.into_iter().map(|reach| (reach.test.clone(), reach)).collect();
    let new: Vec<&Test> = tests.iter().filter(|test| !known.contains_key(&test.name)).collect();
    if !new.is_empty() {
        eprintln!("xtask: {} tests run once without a fault", new.len());
    }
    let found = Mutex::new((journal, Vec::new(), Vec::new()));
    let in_time = lanes::share_out(&new, until, |lane, test| {
        let file = lane.file("reached");
        let (ending, took) = lane.run(test, (switch::REACHED, &file), LIMIT)?;
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        if ending == Ending::Late {
            // It is run again by the next call.
        } else if matches!(ending, Ending::Passed | Ending::TimedOut) {
            let bytes = fs::read(&file).unwrap_or_default();
            let reach = Reach { test: test.name.clone(), seconds: took.as_secs_f64(), faults: marked(&bytes) };
            found.0.add(&reach)?;
            found.1.push(reach);
        } else {
            eprintln!("xtask: {} {ending:?}:\n{}", test.name, lane.said());
            found.2.push(test.name.clone());
        }
        Ok(())
    })?;
    let (_, reached, failed) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    known.extend(reached.into_iter().map(|reach| (reach.test.clone(), reach)));
    Ok(Reached { by_test: in_order(tests.iter().map(|test| &*test.name), known), failed, in_time })
}

/// Returns what the tests with these `names` reach, which is nothing for those that are not `known`.
fn in_order<'a>(names: impl Iterator<Item = &'a str>, mut known: HashMap<String, Reach>) -> Vec<Reach> {
    let nothing = |name: &str| Reach { test: name.to_owned(), seconds: 0.0, faults: Vec::new() };
    names.map(|name| known.remove(name).unwrap_or_else(|| nothing(name))).collect()
}

/// Returns the numbers of the bytes that are not 0.
fn marked(bytes: &[u8]) -> Vec<usize> {
    bytes.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(number, _)| number).collect()
}

/// Returns the tests that reach each of the `faults` first faults.
pub(super) fn by_fault(reached: &[Reach], faults: usize) -> Vec<Vec<usize>> {
    let mut tests = vec![Vec::new(); faults];
    for (test, reach) in reached.iter().enumerate() {
        for &fault in reach.faults.iter().filter(|&&fault| fault < faults) {
            tests[fault].push(test);
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_turned_into_faults() {
        assert_eq!(marked(&[0, 1, 0, 1]), [1, 3]);
        let reach = |faults: &[usize]| Reach { test: String::new(), seconds: 1.0, faults: faults.to_vec() };
        assert_eq!(by_fault(&[reach(&[0, 2]), reach(&[2])], 3), [vec![0], vec![], vec![0, 1]]);
    }

    #[test]
    fn a_test_that_failed_keeps_its_place_and_reaches_nothing() {
        let reach = |name: &str| Reach { test: name.to_owned(), seconds: 1.0, faults: vec![4] };
        let known = ["a", "c"].map(|name| (name.to_owned(), reach(name))).into();
        let by_test = in_order(["a", "b", "c"].into_iter(), known);
        assert_eq!(by_fault(&by_test, 5)[4], [0, 2]);
    }
}
