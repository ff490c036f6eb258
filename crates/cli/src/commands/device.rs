//! `octopus device ...` lists GPUs, measures how fast they are, and checks whether they compute the right bits.

mod benchmark;
mod calibrate;
mod exact;
mod expected;
mod info;
mod list;
mod runs;
mod sampler;

use crate::args::{DeviceCommand, Global};
use crate::exit::{Exit, HardwareError};
use anyhow::Result;
use octopus_device::CudaError;

/// Runs the subcommand of `octopus device` that was given.
///
/// # Errors
/// When there is no such device, or the device fails.
pub(crate) fn run(command: &DeviceCommand, global: Global) -> Result<Exit> {
    match command {
        DeviceCommand::List => list::run(global),
        DeviceCommand::Info(args) => info::run(args, global),
        DeviceCommand::Benchmark(args) => benchmark::run(args, global),
        DeviceCommand::Calibrate(args) => calibrate::run(args, global),
        DeviceCommand::Exact(args) => exact::run(args, global),
        DeviceCommand::Sampler(args) => sampler::run(args, global),
    }
}

/// Converts an error of CUDA: an absent device or driver is missing hardware, anything else is a failure.
fn of_cuda(error: CudaError) -> anyhow::Error {
    match error {
        CudaError::DeviceMissing { .. } => HardwareError(error.to_string()).into(),
        error if error.is_absence() => HardwareError(format!("{error}; see `octopus verify`")).into(),
        error => error.into(),
    }
}
