//! `cargo xtask mutants`: deliberate faults, each put into a copy of the sources, and the tests that must notice.
//!
//! The copy lies in `target/mutants`, with a build folder of its own that all faults share. A fault whose text is
//! no longer in the sources, or stands there twice, ends the task: a list of faults that do nothing proves nothing.

mod calibrated;
mod equivalent;
mod faults;
mod generated;
mod one_build;
mod own;
mod ptx;
mod waits;
mod wiring;
mod workshop;

use crate::aligned::aligned;
use crate::run::{self, TaskOutcome};
use anyhow::{Result, bail};
use faults::{FAULTS, Fault};
use generated::GeneratedOptions;
pub(crate) use generated::of_change;
use own::OwnOptions;
pub(crate) use own::of_today;
use std::path::Path;
use waits::WAITS;
use wiring::WIRING;
use workshop::{Tests, Verdict, Workshop};

/// Puts in the faults whose names contain one of `filters` (all without filters), one at a time, and says which
/// test caught each. With `--calibrate` before the names, `octopus calibrate` must catch eight of them; with `--wiring`,
/// cargo-mutants makes others; with `--own` they are of kinds that it does not make; with `--ptx` they are in lines of the committed PTX.
///
/// # Errors
/// When the sources cannot be copied or changed, the tests cannot be built, or they fail without any fault.
pub(crate) fn run(root: &Path, filters: &[String]) -> Result<TaskOutcome> {
    if let Some((first, rest)) = filters.split_first()
        && first == "--calibrate"
    {
        return calibrated::run(root, rest);
    }
    if let Some((first, rest)) = filters.split_first()
        && first == "--wiring"
    {
        return generated::run(root, &GeneratedOptions::parse("--wiring", &generated::CRATES, rest)?);
    }
    if let Some((first, rest)) = filters.split_first()
        && first == "--own"
    {
        return own::run(root, &OwnOptions::parse(rest)?);
    }
    if filters == ["--ptx"] {
        return ptx::run(root);
    }
    let chosen: Vec<&Fault> = all()
        .filter(|fault| filters.is_empty() || filters.iter().any(|part| fault.name.contains(part.as_str())))
        .collect();
    if chosen.is_empty() {
        bail!("no fault has a name with {filters:?} in it");
    }
    let workshop = Workshop::open(root)?;
    run::timed("mutants", || {
        let mut sound: Vec<Tests> = Vec::new();
        let mut rows = Vec::new();
        for fault in chosen {
            let tests = Tests::of(fault);
            if !sound.contains(&tests) {
                eprintln!("xtask: without a fault");
                if let Verdict::Caught(failed) = workshop.test(&tests)? {
                    bail!("the tests fail without any fault: {}", failed.join(", "));
                }
                sound.push(tests);
            }
            eprintln!("xtask: fault \"{}\" in {}", fault.name, fault.file);
            let verdict = workshop.test_with(fault)?;
            eprintln!("xtask: {}", words(&verdict).join(": "));
            rows.push((fault, verdict));
        }
        print!("{}", table(&rows));
        let survived = rows.iter().any(|(_, verdict)| *verdict == Verdict::Survived);
        Ok(if survived { TaskOutcome::Failed(1) } else { TaskOutcome::Passed })
    })
}

/// Returns every fault: of numerics, of wiring, of waiting.
fn all() -> impl Iterator<Item = &'static Fault> {
    FAULTS.iter().chain(&WIRING).chain(&WAITS)
}

/// Tests named for each fault; the others are counted.
const NAMED: usize = 3;

fn table(rows: &[(&Fault, Verdict)]) -> String {
    let lines = rows.iter().map(|(fault, verdict)| {
        let [word, by] = words(verdict);
        vec![fault.name.to_owned(), word, by]
    });
    let caught = rows.iter().filter(|(_, verdict)| *verdict != Verdict::Survived).count();
    format!("{}\n{caught} of {} faults caught\n", aligned(3, lines), rows.len())
}

/// Says in two words what became of a fault and what noticed it.
fn words(verdict: &Verdict) -> [String; 2] {
    match verdict {
        Verdict::Survived => ["SURVIVED".to_owned(), "no test noticed".to_owned()],
        Verdict::Caught(tests) => {
            let named = tests.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = tests.len().saturating_sub(NAMED);
            ["caught".to_owned(), if more > 0 { format!("{named} and {more} more") } else { named }]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_table_names_what_caught_and_what_did_not() {
        let names: Vec<String> = ["a::x", "b::y", "c::z", "d::w"].map(String::from).to_vec();
        let text = table(&[(&FAULTS[0], Verdict::Caught(names)), (&FAULTS[1], Verdict::Survived)]);
        assert!(text.contains("caught    a::x, b::y, c::z and 1 more"), "{text}");
        assert!(text.contains("SURVIVED  no test noticed"), "{text}");
        assert!(text.ends_with("1 of 2 faults caught\n"), "{text}");
    }

    /// The sources move on: a fault whose text has gone must be written anew.
    #[test]
    fn every_fault_has_its_place_in_the_sources() {
        for fault in all() {
            let text = std::fs::read_to_string(crate::place::root().join(fault.file)).expect(fault.file);
            let changed = workshop::replaced(&text, fault).unwrap_or_else(|error| panic!("{error:#}"));
            assert_ne!(changed, text);
        }
    }

    #[test]
    fn names_tell_faults_apart() {
        assert_eq!(all().map(|fault| fault.name).collect::<HashSet<_>>().len(), all().count());
    }
}
