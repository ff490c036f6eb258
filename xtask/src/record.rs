//! `cargo xtask record`: what kernels and whole runs give, anew, after a change that is meant to change bits.
//!
//! The software GPU runs the same sources; `octopus device exact` refuses to record what differs from the CPU engine.

use crate::rehearse::software_gpu;
use crate::run::{self, TaskOutcome};
use anyhow::Result;
use octopus_softgpu::Settings;
use std::path::Path;
use std::process::Command;

/// Writes `kernels/expected.json` and `kernels/expected-runs.json` with the release binary, which it builds.
///
/// # Errors
/// When there is no compiler for the software GPU, or the binary cannot be started.
pub(crate) fn run(root: &Path) -> Result<TaskOutcome> {
    if !run::build_octopus(root)? {
        return Ok(TaskOutcome::Failed(3));
    }
    let gpu = software_gpu()?;
    for (words, file) in [(&[][..], "kernels/expected.json"), (&["--runs"], "kernels/expected-runs.json")] {
        let mut octopus = Command::new(run::released(root));
        octopus.args(["device", "exact", "--quiet"]).args(words).arg("--record").arg(root.join(file));
        gpu.command(&mut octopus, Settings::default());
        if !run::status(&mut octopus)?.success() {
            return Ok(TaskOutcome::Failed(1));
        }
    }
    Ok(TaskOutcome::Passed)
}
