//! `octopus random DISTRIBUTION --n N` draws random numbers, into a file or to be read.

mod chosen;
mod file;

use crate::args::{Global, RandomArgs};
use crate::exit::{Exit, HardwareError, UsageError};
use crate::output;
use anyhow::Result;
use chosen::NamedDistribution;
use octopus_array::{BatchConfig, DrawError, Scalar, draw_batches};
use octopus_device::{Accelerators, Device, DeviceChoice, Probe, SystemProvider, Work, resolve};
use octopus_files::{Destination, NpyType};
use octopus_random::Key;
use serde_json::json;
use std::ops::Range;

/// The most numbers that are printed: more belong into a file.
const MOST_PRINTED: u64 = 100_000;

/// Draws random numbers.
///
/// # Errors
/// When a parameter is missing or out of range, a GPU is asked for and absent, or the file cannot be written.
pub(crate) fn run(args: &RandomArgs, global: Global) -> Result<Exit> {
    match args.dtype {
        NpyType::F8 => of_type::<f64>(args, global),
        NpyType::F4 | NpyType::F2 => of_type::<f32>(args, global),
    }
}

fn of_type<T: Scalar + file::Stored>(args: &RandomArgs, global: Global) -> Result<Exit> {
    let chosen = NamedDistribution::<T>::of(args.distribution, args.parameters.clone())?;
    let devices = devices(args.device, global)?;
    let config = BatchConfig { devices, memory: args.memory, threads: args.threads };
    // Told before a file is begun.
    config.batch::<T>(chosen.distribution.dimensions()).map_err(|error| UsageError(format!("--memory: {error}")))?;
    match args.own_out() {
        // What a symlink leads to is the file.
        Some(out) => file::write(Destination::of(&out)?.path(), args, &chosen, &config, global),
        None => print(args, &chosen, &config, global),
    }
}

impl RandomArgs {
    /// Returns the numbers of the draws that are made, from 0.
    fn numbers(&self) -> Result<Range<u64>, UsageError> {
        let Some(part) = self.part else { return Ok(0..self.n) };
        let own = part.stretch(self.n);
        if own.is_empty() {
            return Err(UsageError(format!("--part {part}: {} draws leave none for this part", self.n)));
        }
        Ok(own)
    }
}

/// Prints the draws, one on a line, the numbers of a vector side by side.
fn print<T: Scalar + file::Stored>(
    args: &RandomArgs,
    chosen: &NamedDistribution<T>,
    config: &BatchConfig,
    global: Global,
) -> Result<Exit> {
    let (n, dimensions) = (args.n, chosen.distribution.dimensions());
    if n.saturating_mul(dimensions as u64) > MOST_PRINTED {
        return Err(UsageError(format!("--n {n}: more than {MOST_PRINTED} numbers go into a file, --out FILE")).into());
    }
    let mut draws = Vec::new();
    draw_batches(chosen.distribution.as_ref(), Key::new(args.seed), 0..args.n, config, |batch: &[T]| {
        draws.extend(batch.iter().map(|draw| draw.shown(args.dtype)));
        Ok::<(), DrawError>(())
    })?;
    if global.json {
        let draws = if dimensions == 1 { json!(draws) } else { draws.chunks(dimensions).collect() };
        output::print_json(&json!({ "schema": 1, "distribution": chosen.words, "seed": args.seed, "draws": draws }))?;
    } else {
        let line = |draw: &[f64]| draw.iter().map(ToString::to_string).collect::<Vec<String>>().join(" ");
        let lines: Vec<String> = draws.chunks(dimensions).map(line).collect();
        output::print(&lines.join("\n"))?;
    }
    Ok(Exit::Fine)
}

/// Returns the devices that make the draws.
fn devices(choice: DeviceChoice, global: Global) -> Result<Vec<Device>> {
    if matches!(choice, DeviceChoice::Auto | DeviceChoice::Cpu) {
        return Ok(vec![Device::Cpu]);
    }
    let accelerators = Accelerators::of(&Probe::new(&SystemProvider::new()));
    let work = Work::new("draws");
    // What a GPU costs is asked for `auto` alone.
    let mut costs = |_| Err(octopus_device::CostsMiss::Missing { path: "costs.json".into() });
    let selection = resolve(choice, &accelerators, &work, &mut costs);
    let selection = selection.map_err(|error| HardwareError(error.to_string()))?;
    for note in output::unless_quiet(global.quiet, &selection.notes) {
        output::note(note);
    }
    Ok(std::iter::once(selection.device).chain(selection.others).collect())
}
