//! `cargo xtask accept`: judges the results of `run-acceptance.sh` and makes a machine's report of them.
//!
//! The `octopus` binary judges (`octopus_bench::accept`), for it has the types that wrote the files: this program would
//! have to build most of the workspace to know them, too.

use crate::run::{self, TaskOutcome};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::{Command, Stdio};

/// Builds the binary and lets it judge the results in `folder`; when they are a GPU's and all is well, it writes
/// `reports/<machine>/`.
///
/// # Errors
/// When the binary cannot be started.
pub(crate) fn run(root: &Path, folder: &Path) -> Result<TaskOutcome> {
    if !run::build_octopus(root)? {
        return Ok(TaskOutcome::Failed(3));
    }
    judge(&run::released(root), folder, Some(&root.join("reports")))
}

/// Lets `octopus` judge the results in `folder`. Without a folder for `reports` it makes none:
/// the results are of the software GPU, or are only looked at.
///
/// # Errors
/// When the binary cannot be started.
pub(crate) fn judge(octopus: &Path, folder: &Path, reports: Option<&Path>) -> Result<TaskOutcome> {
    let mut octopus = Command::new(octopus);
    octopus.args(["device", "accept"]).arg(folder);
    if let Some(reports) = reports {
        octopus.arg("--reports").arg(reports);
    }
    let judged = octopus.stdout(Stdio::inherit()).output().context("cannot start octopus: build it first")?;
    for line in String::from_utf8_lossy(&judged.stderr).lines() {
        eprintln!("xtask: {line}");
    }
    Ok(if judged.status.success() { TaskOutcome::Passed } else { TaskOutcome::Failed(run::own_code(judged.status)) })
}
