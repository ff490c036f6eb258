//! `cargo xtask rehearse`: the acceptance bundle, whole, on the software GPU.

use crate::place::target;
use crate::run::{self, TaskOutcome};
use crate::{accept, bundle};
use anyhow::{Context, Result};
use octopus_softgpu::{Lanes, SoftwareGpu, Unavailable, sampler_units};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The kernels of the runs' density, by the beginnings of their names; others are not needed, and each takes seconds to
/// build.
const UNITS: [&str; 2] = ["nuts_hierarchical_normal_", "hmc_hierarchical_normal_"];
/// Of the kernels for batches of data sets those that the bundle's batches take, by beginning and end.
const BATCHES: (&str, [&str; 2]) = ("nuts_batch_hierarchical_normal_", ["_32x1", "_128x8"]);

/// Makes the bundle of the binary that the tests have built, runs both parts on the software GPU and judges the results.
///
/// # Errors
/// When the bundle cannot be made or started.
pub(crate) fn run(root: &Path) -> Result<TaskOutcome> {
    run::timed("rehearse", || {
        let gpu = match software_gpu() {
            Ok(gpu) => gpu,
            Err(unavailable) => {
                eprintln!("xtask: rehearse: SKIPPED: {unavailable}");
                return Ok(TaskOutcome::Passed);
            }
        };
        let folder = target(root).join("rehearsal");
        bundle::make(root, &run::released(root), &folder)?;
        let results = target(root).join("rehearsal-results");
        if results.exists() {
            fs::remove_dir_all(&results).with_context(|| format!("cannot replace {}", results.display()))?;
        }
        for part in ["1", "2"] {
            let mut script = Command::new(folder.join("run-acceptance.sh"));
            script.args(["--part", part]).arg(&results);
            gpu.command(&mut script, octopus_softgpu::Settings::default());
            // The verdict asks for a real GPU, and the double is none.
            script.env("REQUIRE_GPU", "").env("BENCH_SIZES", "1024,10000");
            // The software GPU of compiled kernels has no text of a program.
            script.env("PROGRAM_DEVICES", "cpu");
            // A failed step is for the judge: it says which, and why.
            run::status(&mut script)?;
        }
        accept::judge(&run::released(root), &results, None)
    })
}

/// With the kernels of the sampler, whose lanes are arrays: hundreds of times faster than threads.
///
/// # Errors
/// When there is no C++ compiler, or it refuses a source.
pub(crate) fn software_gpu() -> Result<SoftwareGpu, Unavailable> {
    let (batches, shapes) = BATCHES;
    let needed = |unit: &String| {
        UNITS.iter().any(|beginning| unit.starts_with(beginning))
            || unit.starts_with(batches) && shapes.iter().any(|shape| unit.ends_with(shape))
    };
    let units: Vec<String> = sampler_units()?.into_iter().map(|unit| unit.name).filter(needed).collect();
    SoftwareGpu::build()?.with_sampler(Lanes::Arrays, &units)
}
