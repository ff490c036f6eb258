//! The order in which the tests of a stage are asked: quick ones first, in batches, so that most faults are noticed
//! before a slow test begins.

use super::suite::Test;
use std::collections::HashMap;

/// What the tests of the first batch take, in seconds. Each batch takes [`GROWTH`] times what the one before does.
const FIRST: f64 = 10.0;
const GROWTH: f64 = 2.0;
/// What is taken for the seconds of a unit test and of another, where nobody has measured them.
const UNMEASURED: [f64; 2] = [0.05, 1.0];

/// Puts `tests` in order and cuts them into batches; `seconds` has what some of them take, by their names.
pub(super) fn batches(tests: Vec<Test>, seconds: &HashMap<String, f64>) -> Vec<Vec<Test>> {
    let price = |test: &Test| seconds.get(&test.name).copied().unwrap_or(UNMEASURED[usize::from(!is_unit(test))]);
    let mut priced: Vec<(f64, Test)> = tests.into_iter().map(|test| (price(&test), test)).collect();
    priced.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut batches: Vec<Vec<Test>> = Vec::new();
    let (mut left, mut next) = (0.0, FIRST);
    for (price, test) in priced {
        match batches.last_mut() {
            Some(batch) if left > 0.0 => batch.push(test),
            _ => {
                batches.push(vec![test]);
                (left, next) = (next, GROWTH * next);
            }
        }
        left -= price;
    }
    batches
}

fn is_unit(test: &Test) -> bool {
    // Nextest calls the unit tests of a crate by the crate's name alone: `octopus-runs`, not `octopus-runs::suite`.
    test.name.split(' ').next() == Some(&*test.package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str) -> Test {
        Test {
            program: "".into(),
            folder: "".into(),
            package: name.split([' ', ':']).next().unwrap().to_owned(),
            name: name.to_owned(),
            within: String::new(),
        }
    }

    fn cut(names: &[&str], seconds: &[(&str, f64)]) -> Vec<Vec<String>> {
        let seconds = seconds.iter().map(|(name, seconds)| ((*name).to_owned(), *seconds)).collect();
        let batches = batches(names.iter().map(|name| test(name)).collect(), &seconds);
        batches.into_iter().map(|batch| batch.into_iter().map(|test| test.name).collect()).collect()
    }

    #[test]
    fn quick_tests_come_first_and_unit_tests_where_nothing_is_known() {
        let names = ["octopus-runs::suite c", "octopus-runs a", "octopus-runs b"];
        assert_eq!(cut(&names, &[]), [["octopus-runs a", "octopus-runs b", "octopus-runs::suite c"]]);
        let measured = [("octopus-runs::suite c", 0.01), ("octopus-runs a", 2.0)];
        assert_eq!(cut(&names, &measured), [["octopus-runs::suite c", "octopus-runs b", "octopus-runs a"]]);
    }

    #[test]
    fn each_batch_takes_twice_as_long_as_the_one_before() {
        let names: Vec<String> = (0..8).map(|number| format!("p {number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let seconds: Vec<(&str, f64)> = names.iter().map(|&name| (name, 5.0)).collect();
        let sizes: Vec<usize> = cut(&names, &seconds).iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 4, 2]);
        assert!(cut(&[], &[]).is_empty());
    }
}
