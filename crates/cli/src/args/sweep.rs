//! The arguments of `octopus sweep`, with their help, defaults and limits.

use super::sample::thread_count;
use super::{DataArgs, MachineArgs, ModelArgs, SampleArgs, SamplerArgs, ShareArgs};
use clap::Args;
use octopus_device::DeviceChoice;
use std::path::PathBuf;

/// `octopus sweep`
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// The model
    pub(crate) model: String,
    /// Runs: seeds --seed, --seed + 1, ... [default of --seed: 42]
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// Write the result to this file too, as JSON
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: Option<PathBuf>,
    /// Keep each run's outcome in this folder, and the result (sweep.json); a sweep in it continues
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) keep: Option<PathBuf>,
    /// Settings file (TOML), read as by `octopus sample`
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Its settings.
    #[arg(skip)]
    pub(crate) model_settings: ModelArgs,
    /// Who makes which runs.
    #[command(flatten)]
    pub(crate) share: ShareArgs,
    /// Sampler.
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    /// CPU threads, each with a run of its own; the result does not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count, help_heading = "Machine")]
    pub(crate) threads: Option<usize>,
}

impl SweepArgs {
    /// The same as one run on the CPU.
    pub(crate) fn into_sample(self) -> SampleArgs {
        SampleArgs {
            model: self.model,
            config: self.config,
            data: self.data,
            model_settings: self.model_settings,
            sampler: self.sampler,
            machine: MachineArgs {
                device: Some(DeviceChoice::Cpu),
                no_fallback: false,
                gpu_memory: None,
                threads: self.threads,
            },
            ..SampleArgs::default()
        }
    }
}
