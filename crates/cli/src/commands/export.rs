//! `octopus export RUN --to FORMAT --out PATH`

use crate::args::{ExportArgs, ExportFormat, Global};
use crate::exit::Exit;
use crate::observed::{Predictive, add_observations};
use crate::output;
use crate::problem::Problem;
use anyhow::Result;
use octopus_trace::{RunFolder, write_csv, write_netcdf, write_zarr};
use serde_json::json;

/// Writes the run's draws, its observations where they are still to be had, and predictions if asked for.
///
/// # Errors
/// When the run cannot be read, or the file is there already or cannot be written.
pub(crate) fn run(args: &ExportArgs, global: Global) -> Result<Exit> {
    let folder = RunFolder::open(&args.run)?;
    let mut data = folder.read()?;
    if args.to != ExportFormat::Csv {
        match Problem::of_run(folder.record()) {
            Ok(problem) => {
                if args.predictive > 0 {
                    let seed = folder.record().sampler.seed;
                    Predictive::new(&data, &problem.model, seed, args.predictive)?.add_groups(&mut data);
                }
                add_observations(&mut data, &problem.model);
            }
            Err(error) if args.predictive > 0 => return Err(error),
            Err(error) => output::warn(format!("no observations in the file: {}", output::chain(&error))),
        }
    }
    match args.to {
        ExportFormat::Netcdf => write_netcdf(&args.out, &data, args.force)?,
        ExportFormat::Zarr => write_zarr(&args.out, &data, args.force)?,
        ExportFormat::Csv => write_csv(&args.out, &data, args.force)?,
    }
    if global.json {
        let groups: Vec<&String> = data.groups.keys().collect();
        output::print_json(&json!({ "schema": 1, "file": args.out, "groups": groups }))?;
    } else {
        output::print(&args.out.display().to_string())?;
    }
    Ok(Exit::Fine)
}
