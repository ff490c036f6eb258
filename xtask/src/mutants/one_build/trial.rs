//! Each fault is turned on for the tests that reach it, until one fails.

use super::lanes::{self, Ending, Lane};
use super::list::ListedFault;
use super::reach::Reach;
use super::record::{Outcome, Record, Tried};
use super::suite::Test;
use super::switch;
use crate::mutants::equivalent;
use anyhow::Result;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Tests of one fault take at most so many seconds altogether. Faults that need more wait until all others were tried;
/// after the last round they are taken for missed.
const BUDGETS: [f64; 3] = [2.0, 10.0, 60.0];
/// A test may take this long, and this many times what it takes without a fault.
const LEAST_LIMIT: f64 = 20.0;
const LIMIT_FACTOR: f64 = 8.0;
/// What it takes to start any test, in seconds.
const START: f64 = 0.02;
/// Faults from one line of progress to the next.
const TOLD: usize = 200;

pub(super) struct Trial<'a> {
    pub(super) faults: &'a [ListedFault],
    pub(super) tests: &'a [Test],
    /// What each of the tests reaches.
    pub(super) reached: &'a [Reach],
    /// The tests that reach each fault.
    pub(super) by_fault: &'a [Vec<usize>],
}

/// What the threads of a trial share.
struct Progress<'a> {
    record: &'a mut Record,
    kills: Kills,
    done: usize,
    survived: usize,
}

impl Trial<'_> {
    /// Tries those of `chosen` that are not in the record yet, until it is late. Returns whether there was time for
    /// all. What the record and `earlier` know of other faults says which tests to try first.
    ///
    /// # Errors
    /// When a test cannot be started or the record cannot be written.
    pub(super) fn run(
        &self,
        chosen: &[usize],
        record: &mut Record,
        earlier: &[Tried],
        until: Option<Instant>,
    ) -> Result<bool> {
        let mut in_time = true;
        for budget in BUDGETS {
            in_time = in_time && self.round(chosen, record, earlier, budget, until)?;
        }
        Ok(in_time)
    }

    fn round(
        &self,
        chosen: &[usize],
        record: &mut Record,
        earlier: &[Tried],
        budget: f64,
        until: Option<Instant>,
    ) -> Result<bool> {
        let mut todo: Vec<usize> =
            chosen.iter().copied().filter(|&fault| !is_known(record.get(fault), budget)).collect();
        // Those first that no test noticed when it was asked last: somebody may wait for them.
        let noticed: HashSet<String> = earlier.iter().map(|tried| keys(&tried.name)[2].clone()).collect();
        todo.sort_by_key(|&fault| (noticed.contains(&keys(&self.faults[fault].name)[2]), scattered(fault)));
        eprintln!("xtask: {} faults to try, with at most {budget} s of tests each", todo.len());
        let kills = Kills::of(earlier.iter().chain(record.all()), self.tests);
        let progress = Mutex::new(Progress { record, kills, done: 0, survived: 0 });
        lanes::share_out(&todo, until, |lane, &fault| {
            let order = self.order(fault, &lock(&progress).kills);
            let Some((tried, noticed_by)) = self.put_in(fault, &order, budget, lane)? else { return Ok(()) };
            let mut progress = lock(&progress);
            match noticed_by {
                Some(test) => progress.kills.add(&self.faults[fault].name, test),
                None => progress.survived += 1,
            }
            progress.done += 1;
            if progress.done.is_multiple_of(TOLD) {
                eprintln!("xtask: {} of {} faults, {} survived", progress.done, todo.len(), progress.survived);
            }
            progress.record.add(tried)
        })
    }

    /// Returns what became of a fault, and the test that noticed it; nothing when the time of all was up before.
    fn put_in(
        &self,
        fault: usize,
        order: &[usize],
        budget: f64,
        lane: &Lane<'_>,
    ) -> Result<Option<(Tried, Option<usize>)>> {
        let start = Instant::now();
        let number = fault.to_string();
        let (mut outcome, mut noticed_by, mut tests) = (Outcome::Missed, None, 0);
        let mut out_of_time = false;
        for &test in order {
            if start.elapsed().as_secs_f64() + self.reached[test].seconds > budget {
                out_of_time = true;
                continue;
            }
            tests += 1;
            let limit = Duration::from_secs_f64(LEAST_LIMIT + LIMIT_FACTOR * self.reached[test].seconds);
            outcome = match lane.run(&self.tests[test], (switch::FAULT, Path::new(&number)), limit)?.0 {
                Ending::Passed => continue,
                Ending::Failed => Outcome::Caught,
                Ending::TimedOut => Outcome::TimedOut,
                Ending::Late => return Ok(None),
            };
            noticed_by = Some(test);
            break;
        }
        if noticed_by.is_none() && out_of_time {
            outcome = Outcome::OutOfTime;
        }
        let name = self.faults[fault].name.clone();
        let by = noticed_by.map(|test| self.tests[test].name.clone());
        let tried = Tried { fault, name, outcome, noticed_by: by, tests, reached_by: order.len(), budget };
        Ok(Some((tried, noticed_by)))
    }

    /// Returns the tests that reach a fault, those first that promise to notice it soonest.
    fn order(&self, fault: usize, kills: &Kills) -> Vec<usize> {
        let listed = &self.faults[fault];
        let price = |&test: &usize| {
            let own = if self.tests[test].package == listed.package { 3.0 } else { 1.0 };
            (self.reached[test].seconds + START) / (own * kills.promise(&listed.name, test))
        };
        let mut priced: Vec<(f64, usize)> = self.by_fault[fault].iter().map(|test| (price(test), *test)).collect();
        priced.sort_by(|a, b| a.0.total_cmp(&b.0));
        priced.into_iter().map(|(_, test)| test).collect()
    }
}

/// Returns whether nothing more would be known of a fault by trying it with tests of `budget` seconds.
fn is_known(tried: Option<&Tried>, budget: f64) -> bool {
    tried.is_some_and(|tried| tried.outcome != Outcome::OutOfTime || tried.budget >= budget)
}

/// Returns where a fault stands among the others: far from its neighbours, so that a trial that ends early has seen a
/// fair sample of all.
fn scattered(fault: usize) -> u64 {
    (fault as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn lock<'a, 'b>(progress: &'a Mutex<Progress<'b>>) -> MutexGuard<'a, Progress<'b>> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many faults each test has noticed in a file, with words of some kind in a function, and in a function.
#[derive(Default)]
struct Kills {
    of: HashMap<String, HashMap<usize, u32>>,
}

impl Kills {
    /// Returns those of `tests` that have noticed a fault before.
    fn of<'a>(tried: impl Iterator<Item = &'a Tried>, tests: &[Test]) -> Self {
        let numbers: HashMap<&str, usize> =
            tests.iter().enumerate().map(|(number, test)| (&*test.name, number)).collect();
        let mut kills = Self::default();
        for tried in tried {
            if let Some(&test) = tried.noticed_by.as_deref().and_then(|name| numbers.get(name)) {
                kills.add(&tried.name, test);
            }
        }
        kills
    }

    fn add(&mut self, fault: &str, test: usize) {
        for key in keys(fault) {
            *self.of.entry(key).or_default().entry(test).or_default() += 1;
        }
    }

    /// Returns how likely `test` notices a fault, against one that has noticed none.
    fn promise(&self, fault: &str, test: usize) -> f64 {
        let count = |key| self.of.get(key).and_then(|tests| tests.get(&test)).map_or(0.0, |&count| f64::from(count));
        let [file, function, words] = keys(fault);
        1.0 + 2.0 * count(&file) + 20.0 * count(&function) + 100.0 * count(&words)
    }
}

/// Returns what a fault has in common with others: its file, its function, and its words. No line: it may have moved.
fn keys(fault: &str) -> [String; 3] {
    let (file, words) = equivalent::place_and_words(fault).unwrap_or((fault, ""));
    // A function that is replaced as a whole stands at the begin of the words.
    let replaced = words.strip_prefix("replace ").and_then(|rest| rest.split([' ', '(']).next());
    let function = words.rsplit_once(" in ").map_or(replaced.unwrap_or_default(), |(_, function)| function);
    [file.to_owned(), format!("{file} {function}"), format!("{file} {words}")]
}

#[cfg(test)]
mod tests {
    use super::super::list::{self, Genre};
    use super::super::reach;
    use super::*;
    use serde_json::json;

    fn fault(function: &str) -> serde_json::Value {
        json!({ "name": format!("a.rs:1:1: replace + with - in {function}"), "file": "a.rs", "package": "octopus-a", "genre": "FnValue", "replacement": "0",
            "function": { "function_name": function }, "span": { "start": { "line": 1, "column": 1 } } })
    }

    #[test]
    fn those_out_of_time_are_tried_again_with_more() {
        let tried = |outcome| Tried {
            fault: 0,
            name: String::new(),
            outcome,
            noticed_by: None,
            tests: 1,
            reached_by: 2,
            budget: BUDGETS[0],
        };
        assert!(!is_known(None, BUDGETS[0]));
        assert!(is_known(Some(&tried(Outcome::OutOfTime)), BUDGETS[0]));
        assert!(!is_known(Some(&tried(Outcome::OutOfTime)), BUDGETS[1]));
        assert!(is_known(Some(&tried(Outcome::Missed)), BUDGETS[1]));
    }

    #[test]
    fn what_noticed_a_fault_before_is_asked_first() {
        let tried = |name: &str, by: &str| Tried {
            fault: 0,
            name: name.to_owned(),
            outcome: Outcome::Caught,
            noticed_by: Some(by.to_owned()),
            tests: 1,
            reached_by: 2,
            budget: 2.0,
        };
        let test = |name: &str| Test {
            program: "".into(),
            folder: "".into(),
            package: String::new(),
            name: name.to_owned(),
            within: String::new(),
        };
        let known = [tried("a.rs:9:9: replace + with - in f", "b"), tried("a.rs:1:1: replace f -> u8 with 0", "gone")];
        let kills = Kills::of(known.iter(), &[test("a"), test("b")]);
        // Its line has moved. Others of the function, and of the file, are less like it.
        let promises = ["replace + with - in f", "replace - with + in f", "replace + with - in g"]
            .map(|words| kills.promise(&format!("a.rs:1:2: {words}"), 1));
        assert_eq!(promises, [123.0, 23.0, 3.0]);
        assert_eq!(kills.promise("a.rs:1:2: replace + with - in f", 0), 1.0);
        assert_eq!(keys("a.rs:1:1: replace f -> u8 with 0")[1], keys("a.rs:2:2: delete ! in f")[1]);
    }

    #[test]
    fn tests_that_promise_most_come_first() {
        let faults = list::read(&json!([fault("f"), fault("g")]).to_string()).unwrap();
        assert_eq!(faults[0].genre, Genre::FnValue);
        let test = |package: &str, name: &str| Test {
            program: "".into(),
            folder: "".into(),
            package: package.to_owned(),
            name: name.to_owned(),
            within: String::new(),
        };
        let tests = [test("octopus-a", "slow"), test("octopus-b", "other"), test("octopus-a", "own")];
        let line = |seconds: f64| json!({ "test": "", "seconds": seconds, "faults": [0, 1] }).to_string();
        let reached: Vec<Reach> = [3.0, 0.1, 0.1].map(|seconds| serde_json::from_str(&line(seconds)).unwrap()).to_vec();
        let by_fault = reach::by_fault(&reached, 2);
        let trial = Trial { faults: &faults, tests: &tests, reached: &reached, by_fault: &by_fault };
        let mut kills = Kills::default();
        assert_eq!(trial.order(0, &kills), [2, 1, 0]);
        // One that has noticed a fault in the function is worth waiting for.
        kills.add(&faults[0].name, 0);
        kills.add("a.rs:7:1: replace f -> u8 with 1", 0);
        assert_eq!(trial.order(0, &kills), [0, 2, 1]);
        assert_eq!(trial.order(1, &kills), [2, 1, 0]);
    }
}
