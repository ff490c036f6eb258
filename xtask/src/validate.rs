//! `octopus validate` as a step of CI. As a task, `cargo xtask validate`, it is in `xtask/launch`.

use crate::run::{self, TaskOutcome};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Runs `octopus validate` as one step among others, with the binary that the tests have built and used: one for
/// itself would have other features of the dependencies, and build half of them again.
///
/// # Errors
/// When the binary cannot be started: the tests come first.
pub(crate) fn step(root: &Path, arguments: &[String]) -> Result<TaskOutcome> {
    let mut command = Command::new(run::released(root));
    run::step("validate", command.arg("validate").args(arguments).current_dir(root), run::own_code)
}
