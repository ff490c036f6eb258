//! Results of kinds of work that are wrong get no time: arrays and draws by `peer.py`, with faults by name.

use octopus_suite::{Suite, SuiteChoice, SuiteError, SuiteRun, SuiteVerdict};
use std::path::Path;

const SUITE: &str = r#"
about = "a test"
frameworks = FRAMEWORKS
repeats = 3
[[problem]]
program = PROGRAM
n = SIZES
[[method]]
name = METHOD
"#;

/// Of the larger results not every row is handed over.
const SIZES: &str = "[1000, 70000]";

fn suite(folder: &Path, faults: &[&str], program: &str, sizes: &str, method: &str) -> Suite {
    let path = folder.join(format!("{program}.toml"));
    let text = SUITE.replace("FRAMEWORKS", &format!("{faults:?}"));
    let text = text.replace("PROGRAM", &format!("{program:?}")).replace("METHOD", method);
    let text = text.replace("SIZES", sizes);
    std::fs::write(&path, text).unwrap();
    Suite::find(path.to_str().unwrap()).unwrap()
}

/// Runs faults, and asks for each verdict with words of the reason; of a result that passes there are times, of others none.
fn judged(program: &str, sizes: &str, method: &str, faults: &[(&str, SuiteVerdict, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<&str> = faults.iter().map(|(name, ..)| *name).collect();
    let Some(peers) = crate::peers(folder.path(), &names) else { return };
    let (suite, choice) = (suite(folder.path(), &names, program, sizes, method), SuiteChoice::default());
    let run = SuiteRun { suite: &suite, choice: &choice, peers: &peers, program: Default::default() };
    let results = run.run(&folder.path().join("results"), &mut ()).unwrap();
    for (name, verdict, words) in faults {
        let checks: Vec<_> = results.checks.iter().filter(|check| check.framework == *name).collect();
        assert!(!checks.is_empty());
        for check in checks {
            assert_eq!(check.verdict, *verdict, "{name}, {}: {}", check.case, check.note);
            assert!(check.note.contains(words), "{name}: {}", check.note);
        }
        let timed = |line: &octopus_suite::SuiteSummary| line.seconds.is_some();
        let own = results.summary().into_iter().filter(|line| line.framework == *name);
        assert!(own.into_iter().all(|line| timed(&line) == (*verdict == SuiteVerdict::Passed)), "{name}");
    }
}

#[test]
fn wrong_arrays_have_no_time() {
    judged(
        "arrays",
        SIZES,
        "[\"add\", \"sum\"]",
        &[
            ("none", SuiteVerdict::Passed, ""),
            ("rounded", SuiteVerdict::Failed, "its result is off by"),
            ("nan", SuiteVerdict::Failed, "its result is off by"),
            ("few", SuiteVerdict::Failed, "numbers and not"),
        ],
    );
}

#[test]
fn wrong_draws_have_no_time() {
    judged(
        "random",
        SIZES,
        "\"normal\"",
        &[
            ("none", SuiteVerdict::Passed, ""),
            ("spread", SuiteVerdict::Failed, "another distribution"),
            ("again", SuiteVerdict::Failed, "drew the same"),
            ("nan", SuiteVerdict::Failed, "another distribution"),
            ("shape", SuiteVerdict::Failed, "2 numbers each and not 1"),
        ],
    );
    let twice = ("twice", SuiteVerdict::Failed, "neighbours are correlated");
    judged("random", "[1000]", "\"normal\"", &[twice]);
}

#[test]
fn what_a_kind_of_work_does_not_know_is_refused() {
    let refused = |program: &str, method: &str| {
        let folder = tempfile::tempdir().unwrap();
        let suite = suite(folder.path(), &["none"], program, SIZES, method);
        let peers = octopus_suite::Peers { folder: folder.path().to_owned(), octopus: Vec::new() };
        let choice = SuiteChoice::default();
        let run = SuiteRun { suite: &suite, choice: &choice, peers: &peers, program: Default::default() };
        let error: SuiteError = run.run(&folder.path().join("results"), &mut ()).unwrap_err();
        error.to_string()
    };
    assert!(refused("arrays", "\"multiply\"").contains("there is no operation on arrays multiply"));
    assert!(refused("random", "\"cauchy\"").contains("there is no distribution cauchy"));
    assert!(refused("random", "\"gamma\"").contains("gamma: it needs shape"));
    assert!(refused("arrays", "\"add\"\nshape = 2").contains("there is no setting shape"));
    assert!(refused("diagnostics", "\"summary\"").contains("chains: nothing is given"));
}
