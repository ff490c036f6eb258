//! The summary says what became of the faults: a table of the crates, then the faults that no test noticed.

use super::list::{Genre, ListedFault};
use super::placed::Placed;
use super::record::{Outcome, Tried};
use crate::aligned::aligned;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What is known of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    Caught,
    TimedOut,
    Missed,
    NotReached,
    Equivalent,
    NotCompiling,
    Untried,
}

/// The columns of the table.
const COLUMNS: [(&str, Status); 7] = [
    ("caught", Status::Caught),
    ("ended by time", Status::TimedOut),
    ("missed", Status::Missed),
    ("not reached", Status::NotReached),
    ("equivalent", Status::Equivalent),
    ("no program", Status::NotCompiling),
    ("not tried", Status::Untried),
];

pub(super) struct Summary<'a> {
    pub(super) faults: &'a [ListedFault],
    /// The numbers of those that this is about.
    pub(super) chosen: &'a [usize],
    pub(super) placed: &'a Placed,
    /// Whether a test reaches a fault.
    pub(super) reached: &'a dyn Fn(usize) -> bool,
    /// Whether a fault stands in the list of equivalent ones.
    pub(super) equivalent: &'a dyn Fn(usize) -> bool,
    /// The line of the sources that a fault is in.
    pub(super) line: &'a dyn Fn(usize) -> &'a str,
    /// What was tried with a fault.
    pub(super) tried: &'a dyn Fn(usize) -> Option<&'a Tried>,
}

impl Summary<'_> {
    fn status(&self, fault: usize) -> Status {
        match (self.tried)(fault).map(|tried| tried.outcome) {
            Some(Outcome::Caught) => Status::Caught,
            Some(Outcome::TimedOut) => Status::TimedOut,
            _ if (self.equivalent)(fault) => Status::Equivalent,
            Some(Outcome::Missed | Outcome::OutOfTime) => Status::Missed,
            Some(Outcome::NotCompiling) => Status::NotCompiling,
            None if self.placed.not_compiling.contains(&fault) => Status::NotCompiling,
            None if self.placed.has(fault) && !(self.reached)(fault) => Status::NotReached,
            None => Status::Untried,
        }
    }

    /// Returns whether a test should be written.
    pub(super) fn any_survived(&self) -> bool {
        self.chosen.iter().any(|&fault| survived(self.status(fault)))
    }

    /// Returns how many faults nobody knows anything of.
    pub(super) fn untried(&self) -> usize {
        self.chosen.iter().filter(|fault| self.status(**fault) == Status::Untried).count()
    }

    /// Returns the table and the list.
    pub(super) fn text(&self) -> String {
        let mut crates: BTreeMap<String, BTreeMap<Status, usize>> = BTreeMap::new();
        let mut list = String::new();
        for &fault in self.chosen {
            let status = self.status(fault);
            let name = self.faults[fault].package.trim_start_matches("octopus-");
            let row = match self.faults[fault].genre {
                Genre::Number => format!("{name} numbers"),
                Genre::Rounding => format!("{name} roundings"),
                Genre::Setting => format!("{name} settings"),
                _ => name.to_owned(),
            };
            for row in [row, "\u{10ffff}all".to_owned()] {
                *crates.entry(row).or_default().entry(status).or_default() += 1;
            }
            if survived(status) {
                // Writing into a string does not fail.
                let _ =
                    writeln!(list, "{}: {}{}", self.faults[fault].name, (self.line)(fault), self.note(fault, status));
            }
        }
        let mut rows = vec![head()];
        // The sum has a name that comes after all others.
        rows.extend(crates.iter().map(|(name, counts)| row(name.trim_start_matches('\u{10ffff}'), counts)));
        format!("{}\n{}{list}", aligned(1, rows), if list.is_empty() { "" } else { "\n" })
    }

    fn note(&self, fault: usize, status: Status) -> String {
        match (self.tried)(fault) {
            None if status == Status::NotReached => "  # no test reaches it".to_owned(),
            Some(Tried { outcome: Outcome::OutOfTime, tests, reached_by, .. }) => {
                format!("  # there was time for {tests} of the {reached_by} tests that reach it")
            }
            _ => String::new(),
        }
    }
}

fn survived(status: Status) -> bool {
    matches!(status, Status::Missed | Status::NotReached)
}

fn head() -> Vec<String> {
    let counts = COLUMNS.iter().map(|(name, _)| *name);
    ["crate", "faults"].into_iter().chain(counts).chain(["share caught"]).map(str::to_owned).collect()
}

fn row(name: &str, counts: &BTreeMap<Status, usize>) -> Vec<String> {
    let count = |status: Status| counts.get(&status).copied().unwrap_or(0);
    let noticed = count(Status::Caught) + count(Status::TimedOut);
    let survived = count(Status::Missed) + count(Status::NotReached) + count(Status::Equivalent);
    let share = match noticed + survived {
        0 => "-".to_owned(),
        all => format!("{:.1} %", 100.0 * noticed as f64 / all as f64),
    };
    let sum: usize = counts.values().sum();
    let numbers = COLUMNS.iter().map(|(_, status)| count(*status).to_string());
    [name.to_owned(), sum.to_string()].into_iter().chain(numbers).chain([share]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::*;
    use serde_json::json;

    #[test]
    fn the_table_counts_and_the_list_names() {
        let fault = |name: &str, package: &str| {
            json!({ "name": name, "file": "a.rs", "package": package, "genre": "FnValue", "replacement": "0",
                "function": null, "span": { "start": { "line": 1, "column": 1 } } })
        };
        let names = ["zero", "one", "two", "three", "four", "five", "six", "seven"];
        let package = |number: usize| if number == 6 { "octopus-cli" } else { "octopus-runs" };
        let rows: Vec<_> = names.iter().enumerate().map(|(i, name)| fault(name, package(i))).collect();
        let faults = list::read(&json!(rows).to_string()).unwrap();
        let placed = Placed { not_compiling: [4].into(), left_over: [5].into() };
        let outcomes = [Outcome::Caught, Outcome::TimedOut, Outcome::OutOfTime];
        let tried: BTreeMap<usize, Tried> = outcomes
            .iter()
            .enumerate()
            .map(|(fault, &outcome)| {
                let name = String::new();
                (fault, Tried { fault, name, outcome, noticed_by: None, tests: 3, reached_by: 9, budget: 2.0 })
            })
            .collect();
        let chosen: Vec<usize> = (0..8).collect();
        let summary = Summary {
            faults: &faults,
            chosen: &chosen,
            placed: &placed,
            reached: &|fault| fault != 3,
            equivalent: &|fault| fault == 7,
            line: &|fault| if fault == 2 { "a + b" } else { "c" },
            tried: &|fault| tried.get(&fault),
        };
        let text = summary.text();
        let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(cells[1], ["cli", "1", "0", "0", "0", "0", "0", "0", "1", "-"], "{text}");
        assert_eq!(cells[2], ["runs", "7", "1", "1", "1", "1", "1", "1", "1", "40.0", "%"], "{text}");
        assert_eq!(cells[3], ["all", "8", "1", "1", "1", "1", "1", "1", "2", "40.0", "%"], "{text}");
        assert!(
            text.ends_with(
                "\ntwo: a + b  # there was time for 3 of the 9 tests that reach it\nthree: c  # no test reaches it\n"
            ),
            "{text}"
        );
        assert!(summary.any_survived());
        assert_eq!(summary.untried(), 2);
        assert!(!Summary { chosen: &[0, 1, 4, 5, 7], ..summary }.any_survived());
    }
}
