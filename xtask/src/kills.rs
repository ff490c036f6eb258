//! `cargo xtask kills`: each command that writes files is killed at every operation on them.
//!
//! The test that does it is one of the command's own (`crates/cli/tests/cli/kills.rs`), and ignored because it takes
//! minutes; here it is run, and its table shown.

use crate::run::{self, PROFILE, TaskOutcome, cargo, check_failed};
use anyhow::Result;
use std::path::Path;

/// Kills all commands, or those with `name` in their names, and prints for each the operations, kills and failures.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn run(root: &Path, name: Option<&str>) -> Result<TaskOutcome> {
    let mut test = cargo(root, &["nextest", "run", "--package", "octopus-cli", "--cargo-profile", PROFILE]);
    test.args(["--run-ignored", "only", "--no-capture", "--filterset", "test(/kills_at_every_operation$/)"]);
    test.env("OCTOPUS_TEST_KILLED", name.unwrap_or_default());
    run::step("kills", &mut test, check_failed)
}
