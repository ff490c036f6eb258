//! Programs of one's own with what is known of their posterior, and what is wrong with a suite before anything is run.

use octopus_models::ShippedProgram;
use octopus_suite::{Peers, Suite, SuiteChoice, SuiteObserver, SuiteResults, SuiteRun, SuiteVerdict};
use serde_json::{Value, json};
use std::path::Path;

/// Counts the cases that begin.
#[derive(Default)]
struct Begun(usize);

impl SuiteObserver for Begun {
    fn case(&mut self, _number: usize, _of: usize, _name: &str) {
        self.0 += 1;
    }
}

/// Runs the polynomial as a program of one's own, with these lines about its problem and its methods.
fn run(folder: &Path, peers: &Peers, frameworks: &[&str], problem: &str, method: &str) -> Result<SuiteResults, String> {
    let shipped = ShippedProgram::find("polynomial").unwrap();
    std::fs::write(folder.join("mine.stan"), shipped.text).unwrap();
    std::fs::write(folder.join("mine.json"), shipped.data).unwrap();
    let text = format!(
        "about = \"a test\"\nframeworks = {frameworks:?}\nrepeats = 3\n[[problem]]\nprogram = \"mine.stan\"\n{problem}\n\
         [[method]]\nname = \"nuts\"\nchains = 4\ndraws = 500\n{method}\n"
    );
    std::fs::write(folder.join("a-test.toml"), text).unwrap();
    let suite = Suite::find(folder.join("a-test.toml").to_str().unwrap()).unwrap();
    let choice = SuiteChoice::default();
    let run = SuiteRun { suite: &suite, choice: &choice, peers, program: Default::default() };
    let (results, mut begun) = (tempfile::tempdir().unwrap(), Begun::default());
    run.run(results.path(), &mut begun).map_err(|error| {
        assert_eq!(begun.0, 0, "a case has begun");
        octopus::with_causes(&error)
    })
}

/// Returns the hash that an error tells.
fn told(error: &str) -> String {
    let (_, rest) = error.split_once("here it is ").unwrap();
    rest[..64].to_owned()
}

#[test]
fn times_of_a_program_of_ones_own_count_beside_its_truth() {
    let folder = tempfile::tempdir().unwrap();
    let Some(peers) = crate::peers(folder.path(), &["none", "spread"]) else { return };
    let data = "data = \"mine.json\"";
    let verdicts = |more: &str| {
        let results = run(folder.path(), &peers, &["none", "spread"], &format!("{data}\n{more}"), "")?;
        Ok::<Vec<_>, String>(results.checks.iter().map(|check| check.verdict).collect())
    };
    assert_eq!(verdicts("").unwrap(), [SuiteVerdict::Unchecked; 2]);

    let shipped: Value = serde_json::from_str(include_str!("../../../../models/polynomial/truth.json")).unwrap();
    let mut truth = json!({ "method": "in closed form", "moments": shipped["moments"] });
    let write = |truth: &Value| std::fs::write(folder.path().join("truth.json"), truth.to_string()).unwrap();
    let with_truth = "truth = \"truth.json\"";
    for name in ["program_sha256", "data_sha256"] {
        write(&truth);
        let error = verdicts(with_truth).unwrap_err();
        assert!(error.contains(&format!("{name} is missing")), "{error}");
        truth[name] = told(&error).into();
    }
    write(&truth);
    assert_eq!(verdicts(with_truth).unwrap(), [SuiteVerdict::Passed, SuiteVerdict::Failed]);

    // A truth that is another one fails what is right, unless it says that it is not exact.
    let mut other = truth.clone();
    let a = &truth["moments"]["a"];
    other["moments"]["a"]["mean"] = (a["mean"].as_f64().unwrap() + a["sd"].as_f64().unwrap()).into();
    write(&other);
    assert_eq!(verdicts(with_truth).unwrap()[0], SuiteVerdict::Failed);
    other["error"] = 1.0.into();
    write(&other);
    assert_eq!(verdicts(with_truth).unwrap()[0], SuiteVerdict::Passed);
    other["moments"]["d"] = other["moments"]["a"].clone();
    write(&other);
    assert!(verdicts(with_truth).unwrap_err().contains("the program has no d: it has a, b, c"));
    truth["data_sha256"] = "00".into();
    write(&truth);
    assert!(verdicts(with_truth).unwrap_err().contains("data_sha256 is 00"));
}

#[test]
fn what_is_wrong_is_told_before_the_first_case() {
    let folder = tempfile::tempdir().unwrap();
    let Some(peers) = crate::peers(folder.path(), &["none"]) else { return };
    let refused = |frameworks: &[&str], problem: &str, method: &str| {
        run(folder.path(), &peers, frameworks, problem, method).unwrap_err()
    };
    let data = "data = \"mine.json\"";
    let error = refused(&["none", "numpiro"], data, "");
    assert!(error.contains("there is no framework numpiro: take one of octopus, none"), "{error}");
    // The first case could be run.
    let error = refused(&["none"], "data = [\"mine.json\", \"yours.json\"]", "");
    assert!(error.contains("yours.json"), "{error}");
    let error = refused(&["none"], data, "target_accept = [0.8, 8.0]");
    assert!(error.contains("target_accept=8.0"), "{error}");
    let error = refused(&["none"], data, "target_acept = 0.8");
    assert!(error.contains("target_acept"), "{error}");
    let error = refused(&["none"], &format!("{data}\nsize = 3"), "");
    assert!(error.contains("there is no setting size: take one of program, data, truth"), "{error}");
}
