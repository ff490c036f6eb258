//! The arguments of `octopus device ...`, with their help: info, watch, benchmark, measure, warm, exact, sampler,
//! accept.

use super::sample::words;
use clap::{Args, Subcommand};
use octopus_sampler::Precision;
use std::path::PathBuf;

/// `octopus device`
#[derive(Debug, Subcommand)]
pub(crate) enum DeviceCommand {
    /// One line for each GPU
    ///
    /// Exit codes: 0 there is a GPU, 4 there is no GPU.
    List,
    /// Everything known about this machine and each GPU, or about one GPU
    ///
    /// Exit codes: 0 there is a GPU, 4 there is no GPU.
    Info(DeviceInfoArgs),
    /// Watch the GPUs, a line a second: utilization, memory, clocks, temperature, power
    ///
    /// Ends at Ctrl-C. With --json each line is an object. Exit codes: 0 there is a GPU, 4 there is no GPU.
    Watch(DeviceWatchArgs),
    /// Measure the costs of work on CPU and GPU, for `--device auto`, and keep them in the cache
    Measure(DeviceMeasureArgs),
    /// Have the driver compile the kernels that runs use most, before the first run waits for them
    ///
    /// Exit codes: 0 they are ready, 4 there is no GPU.
    Warm(DeviceWarmArgs),
    /// Run every kernel on fixed inputs and compare its bits with the CPU's, and with recorded ones
    ///
    /// Exit codes: 0 all are equal, 1 some differ, 4 there is no GPU.
    Exact(DeviceExactArgs),
    /// Time the sampler on the GPU and on all cores: latency, launches, start-up, throughput
    Sampler(DeviceSamplerArgs),
    /// Judge the results of the acceptance bundle on a machine; `cargo xtask accept` runs it
    ///
    /// Exit codes: 0 all is well, 1 it is not.
    #[command(hide = true)]
    Accept(DeviceAcceptArgs),
}

/// `octopus device info`
#[derive(Debug, Args)]
pub(crate) struct DeviceInfoArgs {
    /// Its number in `octopus device list`
    #[arg(value_name = "N")]
    pub(crate) device: Option<u32>,
}

/// `octopus device watch`
#[derive(Debug, Args)]
pub(crate) struct DeviceWatchArgs {
    /// Its number in `octopus device list` [default: all]
    #[arg(value_name = "N")]
    pub(crate) device: Option<u32>,
    /// The seconds between two readings
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) every: f64,
    /// End after N readings
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
}

/// `octopus device measure`
#[derive(Debug, Args)]
pub(crate) struct DeviceMeasureArgs {
    /// The N of cuda:N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: u32,
    /// The folder that keeps measurements [default: octopus/costs in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

/// `octopus device warm`
#[derive(Debug, Args)]
pub(crate) struct DeviceWarmArgs {
    /// The N of cuda:N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: u32,
    /// The models [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) model: Vec<String>,
    /// The precisions
    #[arg(long, value_parser = words::<Precision>(&["f64", "f32", "mixed"]), value_delimiter = ',',
          default_values_t = [Precision::F64, Precision::F32, Precision::Mixed])]
    pub(crate) precision: Vec<Precision>,
    /// The folder of the driver's compiled kernels, for runs with CUDA_CACHE_PATH=DIR [default: the
    /// driver's own]
    #[arg(long, value_name = "DIR")]
    pub(crate) kernel_cache: Option<PathBuf>,
}

/// `octopus device exact`
#[derive(Debug, Args)]
pub(crate) struct DeviceExactArgs {
    /// The N of cuda:N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: u32,
    /// Compare whole runs of the sampler instead of single kernels
    #[arg(long)]
    pub(crate) runs: bool,
    /// Little work, for tools that slow kernels down (compute-sanitizer, ncu)
    #[arg(long)]
    pub(crate) small: bool,
    /// Compare with the results in this file, too
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub(crate) expected: Option<PathBuf>,
    /// Write the results to this file, for --expected
    #[arg(long, value_name = "FILE", conflicts_with = "small")]
    pub(crate) record: Option<PathBuf>,
}

/// `octopus device sampler`
#[derive(Debug, Args)]
pub(crate) struct DeviceSamplerArgs {
    /// The N of cuda:N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: u32,
    /// Few and short runs; the software GPU of the tests is never given others
    #[arg(long)]
    pub(crate) small: bool,
    /// Start no new measurement after S seconds; the output lists the measurements left out
    #[arg(long, value_name = "S", default_value_t = 150)]
    pub(crate) seconds: u64,
    /// Write the results as JSON to this file after each measurement, in case the run is cut off
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Only start, draw once with GROUPS groups and print the times; the command runs this to measure a start
    #[arg(long, hide = true, value_name = "GROUPS:PRECISION")]
    pub(crate) first_draw: Option<String>,
}

/// `octopus device accept`
#[derive(Debug, Args)]
pub(crate) struct DeviceAcceptArgs {
    /// The results of `run-acceptance.sh`
    #[arg(value_name = "RESULTS")]
    pub(crate) results: PathBuf,
    /// Write the machine's report into a folder below this one; without it, only judge the results
    #[arg(long, value_name = "DIR")]
    pub(crate) reports: Option<PathBuf>,
}
