//! `cargo xtask rehearse`: the acceptance bundle, whole, on the software GPU.

use crate::accept::{self, Purpose};
use crate::run::{self, Outcome};
use crate::{bundle, target};
use anyhow::{Context, Result};
use octopus_softgpu::SoftwareGpu;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Makes the bundle of the release binary that is there, runs it on the software GPU and judges the results.
///
/// # Errors
/// When the bundle cannot be made or started.
pub(crate) fn run(root: &Path) -> Result<Outcome> {
    run::timed("rehearse", || {
        let gpu = match SoftwareGpu::build() {
            Ok(gpu) => gpu,
            Err(unavailable) => {
                eprintln!("xtask: rehearse: SKIPPED: {unavailable}");
                return Ok(Outcome::Passed);
            }
        };
        let folder = target(root).join("rehearsal");
        bundle::make(root, &folder)?;
        let results = target(root).join("rehearsal-results");
        if results.exists() {
            fs::remove_dir_all(&results).with_context(|| format!("cannot replace {}", results.display()))?;
        }
        let mut script = Command::new(folder.join("run-acceptance.sh"));
        script.arg(&results);
        gpu.command(&mut script, octopus_softgpu::Settings::default());
        // A failed step is for the judge: it says which, and why.
        run::status(&mut script)?;
        accept::run(root, &results, Purpose::Rehearsal)
    })
}
