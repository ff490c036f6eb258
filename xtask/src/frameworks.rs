//! `octopus bench test` as a step of CI, with the frameworks that pip installs in a minute or two.
//!
//! The others are built, take minutes, or are not on pip; and samplers fail eight schools as it is written down, which is no
//! fault of ours. A machine that has them tests them by `frameworks_that_are_installed_are_right`.

use crate::run::{self, TaskOutcome, check_failed, released};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Their folders in `benchmarks/peers`.
const INSTALLED: [&str; 3] = ["numpy", "arviz", "handwritten-jax"];

/// Installs the frameworks that are not here, and runs the smallest case of each suite with those that are. One that cannot be
/// installed is skipped aloud: CI does not depend on the network.
///
/// # Errors
/// When the binary cannot be started: the tests come first.
pub(crate) fn step(root: &Path) -> Result<TaskOutcome> {
    let octopus = || {
        let mut command = Command::new(released(root));
        command.current_dir(root).arg("bench");
        command
    };
    let is_here = |name: &str| root.join("benchmarks/peers").join(name).join(".venv/bin/python").exists();
    for name in INSTALLED.into_iter().filter(|name| !is_here(name)) {
        let mut setup = octopus();
        // Without a network pip is not waited for.
        run::status(setup.args(["setup", name]).env("PIP_RETRIES", "1").env("PIP_DEFAULT_TIMEOUT", "10"))?;
        if !is_here(name) {
            eprintln!("xtask: SKIPPED: {name}: pip has not installed it");
        }
    }
    let here: Vec<&str> = INSTALLED.into_iter().filter(|name| is_here(name)).collect();
    if here.is_empty() {
        eprintln!("xtask: SKIPPED: no framework is here; the tests have run the suites with Octopus alone");
        return Ok(TaskOutcome::Passed);
    }
    let mut test = octopus();
    run::step("bench test", test.args(["test", "--frameworks", &format!("octopus,{}", here.join(","))]), check_failed)
}
