//! The stored values are the real ArviZ's. Needs a Python with `tests/arviz/requirements.txt` installed, named in
//! `OCTOPUS_PYTHON`; says aloud when it is skipped.

use std::path::Path;
use std::process::Command;

#[test]
fn the_stored_values_are_arvizs() {
    let Some(python) = std::env::var_os("OCTOPUS_PYTHON").filter(|python| !python.is_empty()) else {
        eprintln!("SKIPPED: no Python with ArviZ: set OCTOPUS_PYTHON (see crates/diag/tests/arviz/parity.py)");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arviz/parity.py");
    let output = Command::new(python).arg("-B").arg(script).output().expect("OCTOPUS_PYTHON cannot be run");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout);
    print!("{said}");
    said.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| eprintln!("{line}"));
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
}
