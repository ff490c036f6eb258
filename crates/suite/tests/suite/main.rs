//! Suites with frameworks that are right and wrong: `peer.py` has the polynomial's posterior in closed form, with faults by
//! name. The tests need `python3`, and say aloud when they are skipped.

mod folders;
mod own;
mod verdicts;
mod work;

use octopus_suite::{Peers, Suite, SuiteChoice, SuiteObserver, SuiteResults, SuiteRun};
use std::path::Path;
use std::process::{Command, Stdio};

/// A suite of chains and of weighted particles.
const SUITE: &str = r#"
about = "a test"
frameworks = FRAMEWORKS
repeats = 3
patience = 2.0
[[problem]]
program = "polynomial"
n = [10, 50]
[[method]]
name = "nuts"
chains = 4
draws = 500
[[method]]
name = "importance"
particles = 1000
"#;

/// Makes frameworks with these faults in a folder; `None`, aloud, without Python.
fn peers(folder: &Path, faults: &[&str]) -> Option<Peers> {
    let python = Command::new("python3").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !python.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: python3 cannot be run (see crates/suite/tests/suite/peer.py)");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/peer.py");
    for fault in faults {
        let own = folder.join("peers").join(fault);
        std::fs::create_dir_all(&own).unwrap();
        let run = ["python3", "-B", script.to_str().unwrap(), fault];
        std::fs::write(own.join("peer.toml"), format!("about = \"a test\"\nrun = {run:?}")).unwrap();
    }
    Some(Peers { folder: folder.join("peers"), octopus: Vec::new() })
}

/// Returns the suite with these frameworks.
fn suite(folder: &Path, faults: &[&str]) -> Suite {
    let path = folder.join("a-test.toml");
    std::fs::write(&path, SUITE.replace("FRAMEWORKS", &format!("{faults:?}"))).unwrap();
    Suite::find(path.to_str().unwrap()).unwrap()
}

/// Runs the suite with frameworks of these faults into the folder `results`.
fn run(folder: &Path, faults: &[&str], choice: &SuiteChoice, observer: &mut dyn SuiteObserver) -> Option<SuiteResults> {
    let (peers, suite) = (peers(folder, faults)?, suite(folder, faults).narrowed(choice).unwrap());
    let run = SuiteRun { suite: &suite, choice, peers: &peers, program: Default::default() };
    Some(run.run(&folder.join("results"), observer).unwrap())
}
