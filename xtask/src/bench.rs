//! `cargo xtask bench`: the criterion benchmarks.

use crate::run::{self, TaskOutcome, cargo};
use anyhow::Result;
use std::path::Path;

/// Runs every benchmark; `arguments` go to criterion (a filter, `--quick`, `--save-baseline NAME`, ...).
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<TaskOutcome> {
    // Benchmark targets by name: the library's own empty harness does not know criterion's flags.
    let mut command = cargo(root, &["bench", "--package", "octopus-benchmarks", "--bench", "*", "--"]);
    run::step("bench", command.args(arguments), run::check_failed)
}
