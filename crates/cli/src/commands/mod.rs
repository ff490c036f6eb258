//! The commands of `octopus`, each in its own file.

mod batch;
mod bench;
mod calibrate;
mod check;
mod compare;
mod completions;
mod data;
mod device;
mod diagnose;
mod dry_run;
mod evidence;
mod export;
mod loo;
mod man;
mod plot;
mod predict;
mod program;
mod random;
mod resume;
mod sample;
mod status;
mod submit;
mod sweep;
mod validate;
mod verify;

pub(crate) use batch::is_of_a_batch;
pub(crate) use sweep::is_of_a_sweep;

use crate::args::{Cli, Command};
use crate::exit::Exit;
use anyhow::Result;

/// Runs the command that the command line names.
///
/// # Errors
/// When the command fails; [`of_error`](crate::exit::of_error) returns the exit code.
pub(crate) fn dispatch(cli: Cli) -> Result<Exit> {
    let global = cli.global;
    match cli.command {
        Command::Verify(args) => verify::run(&args, global),
        Command::Device(command) => device::run(&command, global),
        Command::Sample(args) => sample::run(&args, global),
        Command::Resume(args) => resume::run(&args, global),
        Command::Diagnose(args) => diagnose::run(&args, global),
        Command::Plot(args) => plot::run(&args, global),
        Command::Compare(args) => compare::run(&args, global),
        Command::Loo(args) => loo::run(&args, global),
        Command::Evidence(args) => evidence::run(&args, global),
        Command::Calibrate(args) => calibrate::run(&args, global),
        Command::Check(args) => check::run(*args, global),
        Command::Model(command) => program::run(&command, global),
        Command::Sweep(args) => sweep::run(*args, global),
        Command::Status(args) => status::run(&args, global),
        Command::Submit(args) => submit::run(&args, global),
        Command::Export(args) => export::run(&args, global),
        Command::Predict(args) => predict::run(&args, global),
        Command::Validate(args) => validate::run(*args, global),
        Command::Random(args) => random::run(&args, global),
        Command::Data(command) => data::run(&command, global),
        Command::Bench(command) => bench::run(&command, global),
        Command::Completions(args) => completions::run(&args, global),
        Command::Man(args) => man::run(&args, global),
    }
}
