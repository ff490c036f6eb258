//! `octopus device warm` has the driver compile the kernels before the first run needs them.

use super::measure::own_file;
use crate::args::{DeviceWarmArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::output;
use anyhow::{Context, Result};
use octopus_bench::warm::{self, CACHE_VARIABLE};
use octopus_models::Model;
use std::path::Path;
use std::process::Command;

/// Compiles the kernels of arrays and models, and says where the driver keeps them.
///
/// # Errors
/// When there is no such device, or it fails.
pub(super) fn run(args: &DeviceWarmArgs, global: Global) -> Result<Exit> {
    if let Some(folder) = &args.kernel_cache {
        return in_folder(folder, args, global);
    }
    let say = |what: String| output::unless_quiet(global.quiet, &[what]).iter().for_each(output::note);
    let models: Vec<&'static dyn Model> = if args.model.is_empty() {
        global.models.models().filter(|model| !model.is_program()).collect()
    } else {
        let find =
            |name: &String| global.models.find(name).map_err(|error| UsageError(format!("--model {name}: {error}")));
        args.model.iter().map(find).collect::<Result<_, _>>()?
    };
    let answer = warm::run(args.device, &models, &args.precision, &say)?;
    if global.json {
        output::print_json(&answer)?
    } else {
        output::print(answer.to_string().trim_end())?
    }
    Ok(Exit::Fine)
}

/// Does the same in a process of its own, whose driver keeps its cache in this folder: a driver looks up the variable
/// when it starts.
fn in_folder(folder: &Path, args: &DeviceWarmArgs, global: Global) -> Result<Exit> {
    let shown = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("--kernel-cache: cannot make the folder {shown}"))?;
    let folder = folder.canonicalize().with_context(|| format!("--kernel-cache: cannot find the folder {shown}"))?;
    let mut command = Command::new(own_file()?);
    command.args(["device", "warm", "--device", &args.device.to_string()]).env(CACHE_VARIABLE, &folder);
    command.args(args.model.iter().flat_map(|name| ["--model", name]));
    let precisions: Vec<String> = args.precision.iter().map(ToString::to_string).collect();
    command.args(["--precision", &precisions.join(",")]);
    command.args(global.json.then_some("--json")).args(global.quiet.then_some("--quiet"));
    let status = command.status().context("this program cannot start itself")?;
    let exit = match status.code() {
        Some(0) => Exit::Fine,
        Some(code) if code == Exit::NoHardware as i32 => Exit::NoHardware,
        _ => Exit::Failed,
    };
    if exit == Exit::Fine && !global.quiet {
        output::note(format!("give later runs the same: {CACHE_VARIABLE}={}", folder.display()));
    }
    Ok(exit)
}
