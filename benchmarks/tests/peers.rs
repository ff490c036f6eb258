//! The peers' own diagnostics, with which their effective draws are counted, are ArviZ's.

use std::path::Path;
use std::process::Command;

#[test]
fn effective_sample_sizes_and_r_hat_are_those_of_arviz() {
    let Some(python) = std::env::var_os("OCTOPUS_PYTHON").filter(|python| !python.is_empty()) else {
        eprintln!("SKIPPED: no Python with ArviZ: set OCTOPUS_PYTHON");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/check_diagnostics.py");
    let output = Command::new(python).arg(script).output().expect("OCTOPUS_PYTHON cannot be run");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout);
    if said.contains("SKIPPED") {
        eprint!("{said}");
    }
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
}
