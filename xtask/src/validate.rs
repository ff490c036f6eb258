//! `cargo xtask validate`: the pipeline of the `octopus` binary, built first.

use crate::run::{self, TaskOutcome, cargo};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Builds the binary and becomes it, so that Ctrl-C reaches it alone and its exit code is ours.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn hand_over(root: &Path, arguments: &[String]) -> Result<TaskOutcome> {
    // A build of its own: its failure is exit code 3, not one of octopus' codes.
    if !run::build_octopus(root)? {
        return Ok(TaskOutcome::Failed(3));
    }
    let mut command = command(root, arguments);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(anyhow::Error::new(command.exec()).context("cannot start cargo"))
    }
    #[cfg(not(unix))]
    {
        let status = run::status(&mut command)?;
        Ok(if status.success() { TaskOutcome::Passed } else { TaskOutcome::Failed(run::own_code(status)) })
    }
}

/// Runs `octopus validate` as one step among others, with the binary that the tests have built and used: one for
/// itself would have other features of the dependencies, and build half of them again.
///
/// # Errors
/// When the binary cannot be started: the tests come first.
pub(crate) fn step(root: &Path, arguments: &[String]) -> Result<TaskOutcome> {
    let mut command = Command::new(run::released(root));
    run::step("validate", command.arg("validate").args(arguments).current_dir(root), run::own_code)
}

fn command(root: &Path, arguments: &[String]) -> Command {
    let words = ["run", "--quiet", "--release", "--package", "octopus-cli", "--bin", "octopus", "--", "validate"];
    let mut command = cargo(root, &words);
    command.args(arguments);
    command
}
