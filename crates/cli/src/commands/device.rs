//! `octopus device ...` lists GPUs, measures how fast they are, and checks whether they compute the right bits.

mod accept;
mod info;
mod list;
mod measure;
mod warm;
mod watch;

use crate::args::{DeviceCommand, Global};
use crate::exit::Exit;
use anyhow::Result;

/// Runs the subcommand of `octopus device` that was given.
///
/// # Errors
/// When there is no such device, or the device fails.
pub(crate) fn run(command: &DeviceCommand, global: Global) -> Result<Exit> {
    match command {
        DeviceCommand::List => list::run(global),
        DeviceCommand::Info(args) => info::run(args, global),
        DeviceCommand::Watch(args) => watch::run(args, global),
        DeviceCommand::Measure(args) => measure::measure_costs(args, global),
        DeviceCommand::Warm(args) => warm::run(args, global),
        DeviceCommand::Exact(args) => measure::exact(args, global),
        DeviceCommand::Sampler(args) => measure::sampler(args, global),
        DeviceCommand::Accept(args) => accept::run(args),
    }
}
