//! Formatting, by the formatter.

use crate::run::cargo;
use anyhow::{Context, Result, bail};
use std::path::Path;

/// What `cargo fmt` would change; `None` when it would change nothing.
///
/// # Errors
/// When the formatter cannot be run, or cannot read a file.
pub(super) fn difference(root: &Path) -> Result<Option<String>> {
    let output = cargo(root, &["fmt", "--all", "--check"]).output().context("cannot start cargo fmt")?;
    if output.status.success() {
        return Ok(None);
    }
    if output.stdout.is_empty() {
        bail!("cargo fmt: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()))
}
