//! `octopus device measure`, `exact` and `sampler`: what `octopus-bench` measures and judges.

use crate::args::{DeviceExactArgs, DeviceMeasureArgs, DeviceSamplerArgs, Global};
use crate::exit::Exit;
use crate::output;
use anyhow::Result;
use octopus_bench::{costs, exact, runs, sampler};
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::Command;

/// Measures what work costs on a device and keeps the result.
///
/// # Errors
/// When there is no such device, it fails, or the cache cannot be written.
pub(super) fn measure_costs(args: &DeviceMeasureArgs, global: Global) -> Result<Exit> {
    let say = |what: String| {
        if !global.quiet {
            output::note(what);
        }
    };
    let answer = costs::run(args.device, args.cache.as_deref(), &say)?;
    if global.json {
        let costs::MeasuredCosts { device, file, device_costs } = &answer;
        output::print_json(&json!({
            "schema": 1, "device": device, "test_double": device.test_double, "file": file, "costs": device_costs,
        }))?;
    } else {
        output::print(&answer.to_string())?;
    }
    say(format!("kept in {}", answer.file.display()));
    Ok(Exit::Fine)
}

/// Compares all kernels, or whole runs, with the CPU's bits.
///
/// # Errors
/// When there is no such device, it fails, or a file cannot be used.
pub(super) fn exact(args: &DeviceExactArgs, global: Global) -> Result<Exit> {
    let (expected, record) = (args.expected.as_deref(), args.record.as_deref());
    let options = exact::ExactOptions { device: args.device, small: args.small, expected, record };
    let equal = if args.runs {
        let answer = runs::run(&options)?;
        print(&answer, global)?;
        answer.equal()
    } else {
        let answer = exact::run(&options)?;
        print(&answer, global)?;
        answer.equal()
    };
    if let (Some(path), false) = (record, global.quiet) {
        output::note(format!("recorded in {}", path.display()));
    }
    Ok(if equal { Exit::Fine } else { Exit::Bad })
}

/// Times the sampler.
///
/// # Errors
/// When there is no such device, it fails, or a file cannot be written.
pub(super) fn sampler(args: &DeviceSamplerArgs, global: Global) -> Result<Exit> {
    if let Some(what) = &args.first_draw {
        sampler::first_draw(args.device, what, &mut std::io::stdout())?;
        return Ok(Exit::Fine);
    }
    let starting = |what: &str| {
        let mut command = Command::new(own_file()?);
        command.args(["device", "sampler", "--device", &args.device.to_string(), "--first-draw", what]);
        Ok(command)
    };
    let (device, small, seconds) = (args.device, args.small, args.seconds);
    let options = sampler::SamplerOptions { device, small, seconds, out: args.out.as_deref(), starting: &starting };
    print(&sampler::run(&options)?, global)?;
    Ok(Exit::Fine)
}

/// Returns the file of this program.
pub(super) fn own_file() -> std::io::Result<PathBuf> {
    std::env::current_exe()
        .map_err(|error| std::io::Error::new(error.kind(), format!("this program does not know its own file: {error}")))
}

/// Prints an answer as JSON or as text.
///
/// # Errors
/// When stdout cannot be written.
pub(in crate::commands) fn print(answer: &(impl Serialize + Display), global: Global) -> Result<()> {
    if global.json { output::print_json(answer) } else { output::print(&answer.to_string()) }
}
