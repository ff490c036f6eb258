//! `octopus bench ...` times what Octopus does beside its sampler.

use super::device::{print, timed_beside};
use crate::args::{BenchCommand, BenchRandomArgs, Global};
use crate::exit::Exit;
use anyhow::Result;
use octopus_bench::random as draws;

/// Runs the subcommand of `octopus bench` that was given.
///
/// # Errors
/// When there is no such device, or the device fails.
pub(crate) fn run(command: &BenchCommand, global: Global) -> Result<Exit> {
    match command {
        BenchCommand::Random(args) => random(args, global),
    }
}

fn random(args: &BenchRandomArgs, global: Global) -> Result<Exit> {
    let beside = timed_beside(args.device, global);
    print(&draws::run(&beside, args.n as usize, args.small)?, global)?;
    Ok(Exit::Fine)
}
