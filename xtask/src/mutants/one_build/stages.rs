//! The stages of a change's trial: whose tests are asked next, and which faults that decides.

use super::list::ListedFault;
use super::packages::Packages;
use super::placed::Placed;
use super::record::{Outcome, Tried};
use std::collections::{BTreeMap, BTreeSet};

/// The faults of a change and what is known of them so far.
pub(super) struct Stages<'a> {
    pub(super) faults: &'a [ListedFault],
    pub(super) packages: &'a Packages,
    /// Whether a fault stands in the list of equivalent ones.
    pub(super) equivalent: &'a dyn Fn(usize) -> bool,
    pub(super) placed: Placed,
    /// What was tried last with a fault.
    pub(super) tried: BTreeMap<usize, Tried>,
    /// The faults that a test reaches.
    pub(super) reached: BTreeSet<usize>,
    /// Whether only the tests of the packages with faults are asked.
    alone: bool,
    /// The packages of which all tests were asked.
    pub(super) asked: BTreeSet<String>,
}

impl<'a> Stages<'a> {
    /// Makes the stages of which none has begun.
    pub(super) fn new(
        faults: &'a [ListedFault],
        packages: &'a Packages,
        equivalent: &'a dyn Fn(usize) -> bool,
        alone: bool,
    ) -> Self {
        let (placed, tried) = (Placed::default(), BTreeMap::new());
        Self { faults, packages, equivalent, placed, tried, reached: BTreeSet::new(), alone, asked: BTreeSet::new() }
    }

    /// Returns the packages with faults.
    pub(super) fn with_faults(&self) -> BTreeSet<String> {
        self.faults.iter().flat_map(ListedFault::packages).collect()
    }

    /// Returns the faults that a test may still notice.
    pub(super) fn open(&self) -> Vec<usize> {
        let open = |&fault: &usize| self.placed.has(fault) && !(self.equivalent)(fault) && !self.was_noticed(fault);
        (0..self.faults.len()).filter(open).collect()
    }

    /// Returns the packages whose tests are asked next: those with open faults, then those above them. Nothing else is
    /// built, and nothing at all when no fault is open.
    pub(super) fn next(&self) -> BTreeSet<String> {
        let own = self.open().into_iter().flat_map(|fault| self.faults[fault].packages()).collect();
        let not_asked = |names: &BTreeSet<String>| names.difference(&self.asked).cloned().collect::<BTreeSet<_>>();
        let next = not_asked(&own);
        if next.is_empty() { not_asked(&self.above(own)) } else { next }
    }

    /// Returns the packages whose tests may notice faults of these.
    fn above(&self, packages: BTreeSet<String>) -> BTreeSet<String> {
        if self.alone { packages } else { self.packages.above(&packages) }
    }

    /// Returns what was tried last with a fault; nothing for one that tests may notice which were not asked.
    pub(super) fn outcome(&self, fault: usize) -> Option<&Tried> {
        self.tried.get(&fault).filter(|_| self.is_decided(fault))
    }

    /// Returns whether a test reaches a fault, or may do so that was not asked.
    pub(super) fn is_reached(&self, fault: usize) -> bool {
        self.reached.contains(&fault) || !self.is_decided(fault)
    }

    /// Returns whether all that may notice a fault was asked, or enough of it.
    fn is_decided(&self, fault: usize) -> bool {
        self.was_noticed(fault) || self.above(self.faults[fault].packages().collect()).is_subset(&self.asked)
    }

    fn was_noticed(&self, fault: usize) -> bool {
        self.tried.get(&fault).is_some_and(|tried| matches!(tried.outcome, Outcome::Caught | Outcome::TimedOut))
    }
}

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::super::summary::Summary;
    use super::*;
    use serde_json::json;

    fn faults() -> Vec<ListedFault> {
        let fault = |package: &str| {
            json!({ "name": "a", "file": "a.rs", "package": package, "genre": "FnValue", "replacement": "0",
                "span": { "start": { "line": 1, "column": 1 } } })
        };
        list::read(&json!(["low", "low", "middle", "high", "low"].map(fault)).to_string()).unwrap()
    }

    /// `high` depends on `middle`, and that on `low`.
    fn packages() -> Packages {
        let package = |name: &str, on: &[&str]| {
            let on = on.iter().map(
                |on| json!({ "name": on, "req": "*", "path": "/w", "features": [], "uses_default_features": true }),
            );
            let on: Vec<_> = on.collect();
            json!({ "name": name, "manifest_path": "/w/Cargo.toml", "dependencies": on })
        };
        let packages = [package("low", &[]), package("middle", &["low"]), package("high", &["middle"])];
        serde_json::from_value(json!({ "packages": packages, "workspace_root": "/w" })).unwrap()
    }

    fn tried(fault: usize, outcome: Outcome) -> (usize, Tried) {
        let name = String::new();
        (fault, Tried { fault, name, outcome, noticed_by: None, tests: 1, reached_by: 1, budget: 2.0 })
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn tests_of_the_packages_with_faults_come_first_and_those_above_only_for_what_is_left() {
        let (faults, packages) = (faults(), packages());
        let mut stages = Stages::new(&faults, &packages, &|fault| fault == 4, false);
        assert_eq!((stages.open(), stages.next()), (vec![0, 1, 2, 3], set(&["high", "low", "middle"])));
        stages.asked = stages.next();
        assert!(stages.next().is_empty());
        // Of one package alone, what is above is built where a fault is left.
        let mut stages = Stages::new(&faults[..2], &packages, &|_| false, false);
        stages.placed.not_compiling.insert(1);
        assert_eq!((stages.open(), stages.next()), (vec![0], set(&["low"])));
        stages.asked = set(&["low"]);
        assert_eq!(stages.next(), set(&["high", "middle"]));
        stages.tried.extend([tried(0, Outcome::Caught)]);
        assert!(stages.next().is_empty());
    }

    /// A fault that was missed so far is no survivor while there are tests that were not asked.
    #[test]
    fn a_fault_is_decided_by_who_notices_it_or_by_all_who_may() {
        let (faults, packages) = (faults(), packages());
        let mut stages = Stages::new(&faults, &packages, &|_| false, false);
        stages.tried.extend([tried(0, Outcome::TimedOut), tried(1, Outcome::Missed), tried(3, Outcome::Missed)]);
        let decided = |stages: &Stages<'_>| (0..5).filter(|&fault| stages.is_decided(fault)).collect::<Vec<_>>();
        assert_eq!(decided(&stages), [0]);
        stages.asked = set(&["low", "high"]);
        assert_eq!(decided(&stages), [0, 3]);
        stages.asked = set(&["low", "middle", "high"]);
        assert_eq!(decided(&stages), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn faults_that_are_not_decided_are_counted_and_fail_nothing() {
        let (faults, packages) = (faults(), packages());
        let mut stages = Stages::new(&faults, &packages, &|_| false, false);
        stages.tried.extend([tried(0, Outcome::Caught), tried(1, Outcome::Missed), tried(2, Outcome::OutOfTime)]);
        stages.reached.extend([0, 1, 2]);
        // How many are left, and whether one has survived.
        let ending = |stages: &Stages<'_>| {
            let summary = Summary {
                faults: &faults,
                chosen: &[0, 1, 2, 3, 4],
                placed: &stages.placed,
                reached: &|fault| stages.is_reached(fault),
                equivalent: &|_| false,
                line: &|_| "",
                tried: &|fault| stages.outcome(fault),
            };
            (summary.untried(), summary.any_survived())
        };
        assert_eq!(ending(&stages), (4, false));
        // The tests of `high` were the last for its own fault alone, and none reaches it.
        stages.asked = set(&["high"]);
        assert_eq!(ending(&stages), (3, true));
        stages.asked = set(&["low", "middle", "high"]);
        assert_eq!(ending(&stages), (0, true));
    }
}
