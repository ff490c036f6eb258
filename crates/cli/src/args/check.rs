//! The arguments of `octopus check`.

use super::{DataArgs, MachineArgs, ModelArgs, SampleArgs};
use clap::Args;
use octopus_device::DeviceChoice;
use std::path::PathBuf;

/// `octopus check`
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The model
    pub(crate) model: String,
    /// Settings file (TOML), read as by `octopus sample`
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Its settings.
    #[arg(skip)]
    pub(crate) model_settings: ModelArgs,
}

impl CheckArgs {
    /// Returns a run on the CPU with the same model.
    pub(crate) fn into_sample(self) -> SampleArgs {
        SampleArgs {
            model: self.model,
            config: self.config,
            data: self.data,
            model_settings: self.model_settings,
            machine: MachineArgs {
                device: Some(DeviceChoice::Cpu),
                no_fallback: false,
                gpu_memory: None,
                threads: None,
            },
            ..SampleArgs::default()
        }
    }
}
