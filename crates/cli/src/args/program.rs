//! The arguments of `octopus model`, which lists models, describes programs and copies shipped ones.

use super::model::{absolute, entry};
use super::{DataArgs, MachineArgs, ModelArgs, SampleArgs};
use clap::{Args, Subcommand};
use octopus_device::DeviceChoice;
use octopus_models::{Model, ShippedProgram, StanModel};
use std::path::PathBuf;
use toml::{Table, Value};

/// `octopus model`
#[derive(Debug, Subcommand)]
pub(crate) enum ProgramCommand {
    /// Which models are there? Names for `octopus sample`, and what each is
    ///
    /// Exit codes: 0 fine.
    List,
    /// Copy a program that ships, with its data, into a folder, to change it
    ///
    /// Files that are there stay as they are: then nothing is copied.
    ///
    /// Exit codes: 0 copied, 2 there is no such program or a file is there already, 3 the folder cannot be written.
    Copy(CopyArgs),
    /// Is a Stan program right, supported, and its gradient sound?
    ///
    /// Says which data it asks for, what its parameters and other variables are, which functions it uses, and what is not
    /// supported, with its place. With data it also checks sizes and bounds, and compares gradients with finite differences.
    ///
    /// Exit codes: 0 nothing is wrong, 1 something is not supported, does not fit or is wrong, 2 the program is no Stan.
    Check(ProgramArgs),
    /// What does a Stan program do for each gradient, and how long does it take?
    ///
    /// Prints the loops of log density and gradient: the rows that each goes over, its operations, gathers and sums.
    Show(ProgramArgs),
}

/// `octopus model copy`
#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// The program, such as `polynomial`; `octopus model list` has all
    pub(crate) name: String,
    /// The folder, which is made if it is not there [default: NAME]
    pub(crate) folder: Option<PathBuf>,
}

/// `octopus model check`, `octopus model show`
#[derive(Debug, Args)]
pub(crate) struct ProgramArgs {
    /// The Stan program, or the name of one that ships
    #[arg(value_name = "FILE.stan|NAME")]
    pub(crate) program: String,
    /// Its data: JSON, R's dump (.R), CSV or Parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// A value of its data, over the file's: --set N=3 --set x=[1,2.5]; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = entry)]
    pub(crate) set: Vec<(String, Value)>,
}

impl ProgramArgs {
    /// Returns a run of the program on the CPU.
    pub(crate) fn as_sample(&self) -> SampleArgs {
        let set: Table = self.set.iter().cloned().collect();
        let program = match ShippedProgram::find(&self.program) {
            Some(shipped) => Value::from(shipped.name),
            None => absolute(&self.program),
        };
        let values = [("program", program), ("set", Value::Table(set))];
        let options = StanModel.options().iter();
        let given = options.filter_map(|option| {
            let (_, value) = values.iter().find(|(name, _)| *name == option.name)?;
            Some((option, value.clone()))
        });
        SampleArgs {
            model: StanModel.name().to_owned(),
            data: DataArgs { data: self.data.clone(), ..DataArgs::default() },
            model_settings: ModelArgs::of(given.collect()),
            machine: MachineArgs { device: Some(DeviceChoice::Cpu), ..MachineArgs::default() },
            ..SampleArgs::default()
        }
    }
}
