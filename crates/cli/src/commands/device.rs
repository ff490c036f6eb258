//! `octopus device ...`: what GPUs there are, how fast they are, whether they compute the right bits.

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

/// Does what `octopus device` is asked for.
///
/// # Errors
/// When there is no such device, or it fails.
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

/// An absent device or driver is missing hardware; anything else is a failure.
fn of_cuda(error: CudaError) -> anyhow::Error {
    match error {
        CudaError::DeviceMissing { .. } => HardwareError(error.to_string()).into(),
        error if error.is_absence() => HardwareError(format!("{error}; see `octopus verify`")).into(),
        error => error.into(),
    }
}
