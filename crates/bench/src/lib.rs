//! Measures a machine and judges it: what its devices cost, how fast the sampler is there, and whether the bits are right.
//!
//! | You want | Use |
//! |--|--|
//! | to know whether every kernel gives the bits of the CPU and of a record | [`exact`] |
//! | the same of whole runs of the sampler, and of what draws mean | [`runs`] |
//! | what work costs on CPU and GPU, kept for `--device auto` | [`costs`] |
//! | how fast the sampler is: latency, launches, start-up, throughput by size and chains | [`sampler`] |
//! | a model on engines, by strategies and sizes, side by side: the benchmark of phase 0 | [`engines`] |
//! | to compare a machine's results with a sound machine's, and report them | [`accept`] |
//! | to see that everything from data to draws works | [`tiny_run()`] |
//!
//! The `run` of each module behind `octopus device` measures and returns its figures: as text they are what the command prints.
//!
//! ```
//! use octopus_device::Device;
//!
//! println!("{}", octopus_bench::tiny_run(Device::Cpu)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate prints nothing and knows no exit code. A device that is not there is
//! [`RunError::NoDevice`] somewhere in an error's chain.
#![forbid(unsafe_code)]

pub mod accept;
pub mod costs;
pub mod engines;
mod error;
pub mod exact;
mod expected;
mod json;
mod quality;
pub mod runs;
pub mod sampler;
mod tiny_run;
pub mod warm;

pub use error::BenchError;
pub use quality::Quality;
pub use tiny_run::tiny_run;

use octopus_device::{CudaContext, CudaError, Device};
use octopus_models::synthetic::Synthetic;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood, ModelError};
use octopus_runs::RunError;
use octopus_sampler::SamplerError;

/// An absent device or driver is missing hardware; anything else is a failure.
fn of_cuda(error: CudaError) -> BenchError {
    match error {
        CudaError::DeviceMissing { .. } => RunError::NoDevice(error.to_string()).into(),
        error if error.is_absence() => RunError::NoDevice(format!("{error}; see `octopus verify`")).into(),
        error => error.into(),
    }
}

/// A device that fails below the sampler has its own exit code, too.
fn of_sampler(error: SamplerError) -> BenchError {
    match error {
        SamplerError::Device(error) => of_cuda(error),
        error => error.into(),
    }
}

/// Makes the model of phase 0 with data that are made up.
fn model_of(made: Result<Synthetic, ModelError>, likelihood: Likelihood) -> Result<HierarchicalNormal, ModelError> {
    HierarchicalNormal::new(made?.data, HierarchicalPrior::default(), likelihood)
}

/// Makes a context on cuda:N.
fn context(ordinal: u32) -> Result<CudaContext, BenchError> {
    let context = Device::Cuda(ordinal).context().map_err(of_cuda)?;
    context.ok_or_else(|| RunError::NoDevice(format!("cuda:{ordinal} has no context")).into())
}
