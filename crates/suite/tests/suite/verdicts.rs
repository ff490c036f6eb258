//! What a framework cannot claim itself is found: another density, other draws, other evidence, no answer.

use crate::run;
use octopus_suite::{SuiteChoice, SuiteVerdict};

/// Each fault with its verdict for chains and for particles, and words of the reason.
const FAULTS: &[(&str, SuiteVerdict, SuiteVerdict, &str)] = &[
    ("none", SuiteVerdict::Passed, SuiteVerdict::Passed, ""),
    ("prior", SuiteVerdict::Failed, SuiteVerdict::Failed, "its log density is another one"),
    ("mute", SuiteVerdict::Error, SuiteVerdict::Error, "it told no log densities"),
    ("rounded", SuiteVerdict::Failed, SuiteVerdict::Failed, "its log density is another one"),
    ("spread", SuiteVerdict::Failed, SuiteVerdict::Failed, "standard errors"),
    ("few", SuiteVerdict::Failed, SuiteVerdict::Passed, "it makes 250 draws and not 500"),
    ("again", SuiteVerdict::Failed, SuiteVerdict::Failed, "drew the same"),
    ("evidence", SuiteVerdict::Passed, SuiteVerdict::Failed, "its evidence is off by 0.100"),
    ("nan", SuiteVerdict::Failed, SuiteVerdict::Failed, "not a finite number"),
    ("shape", SuiteVerdict::Failed, SuiteVerdict::Failed, "it draws 2 parameters, and the program has 3"),
    ("dies", SuiteVerdict::Error, SuiteVerdict::Error, "exit status: 7: out of luck"),
    ("silent", SuiteVerdict::Error, SuiteVerdict::Error, "no answer within 2 s"),
    ("nonsense", SuiteVerdict::Error, SuiteVerdict::Error, "its answer is not one"),
    ("cannot", SuiteVerdict::Cannot, SuiteVerdict::Cannot, "it only says so"),
];

#[test]
fn a_wrong_posterior_has_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<&str> = FAULTS.iter().map(|(name, ..)| *name).collect();
    let choice = SuiteChoice { sizes: vec![50], ..SuiteChoice::default() };
    let Some(results) = run(folder.path(), &names, &choice, &mut ()) else { return };
    let (summary, checks) = (results.summary(), &results.checks);
    for (name, of_chains, of_particles, words) in FAULTS {
        for (method, expected) in [("nuts", of_chains), ("importance", of_particles)] {
            let own = |case: &str, framework: &str| case.contains(method) && framework == *name;
            let check = checks.iter().find(|check| own(&check.case, &check.framework)).unwrap();
            assert_eq!(check.verdict, *expected, "{name}, {method}: {}", check.note);
            if *expected != SuiteVerdict::Passed {
                assert!(check.note.contains(words), "{name}, {method}: {}", check.note);
            }
            let line = summary.iter().find(|line| own(&line.case, &line.framework)).unwrap();
            assert_eq!(line.seconds.is_some(), *expected == SuiteVerdict::Passed, "{name}, {method}");
        }
    }
}

/// What a suite expects to fail has its times, marked; a density that is another one fails all the same.
#[test]
fn an_expected_failure_keeps_its_times_and_excuses_no_other_density() {
    let folder = tempfile::tempdir().unwrap();
    let Some(peers) = crate::peers(folder.path(), &["spread", "prior"]) else { return };
    let mut suite = crate::suite(folder.path(), &["spread", "prior"]);
    suite.method.truncate(1);
    suite.method[0].insert("expect".to_owned(), "failed inference".into());
    let choice = SuiteChoice { sizes: vec![50], ..SuiteChoice::default() };
    let run = octopus_suite::SuiteRun { suite: &suite, choice: &choice, peers: &peers, program: Default::default() };
    let results = run.run(&folder.path().join("results"), &mut ()).unwrap();
    let verdicts: Vec<SuiteVerdict> = results.checks.iter().map(|check| check.verdict).collect();
    assert_eq!(verdicts, [SuiteVerdict::Expected, SuiteVerdict::Failed]);
    assert!(results.checks[0].note.contains("expected: failed inference"), "{}", results.checks[0].note);
    let timed: Vec<bool> = results.summary().iter().map(|line| line.seconds.is_some()).collect();
    assert_eq!(timed, [true, false]);
}
