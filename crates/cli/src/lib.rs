//! The `octopus` command as a function, so that a program with models of its own has the same commands.
//!
//! ```no_run
//! use octopus_models::{EightSchoolsModel, HierarchicalNormalModel, Model, Registry};
//!
//! // A model of one's own is one more line.
//! static MODELS: [&dyn Model; 2] = [&HierarchicalNormalModel, &EightSchoolsModel];
//!
//! fn main() -> std::process::ExitCode {
//!     octopus_cli::main(Registry::new(&MODELS), std::env::args_os()).into()
//! }
//! ```
#![forbid(unsafe_code)]

mod args;
mod calibration;
mod commands;
mod config;
mod exit;
mod interrupt;
mod logging;
mod opened;
mod output;
mod outputs;
mod profile;
mod progress;
mod share;

use exit::Exit;
use logging::LogFile;
use octopus_models::Registry;
use profile::Profile;
use std::ffi::OsString;

/// Runs the command line `words` with these models, and returns the exit code that `octopus help` explains. The first
/// word is the program's name.
pub fn main(models: Registry, words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    report_panics();
    let cli = match args::Cli::read(models, words) {
        Ok(cli) => cli,
        // clap answers --help and --version with 0 and a bad command line with 2, our Exit::Usage.
        Err(error) => {
            output::misuse(&error);
            return u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8);
        }
    };
    let exit = dispatch(cli).unwrap_or_else(|error| {
        output::error(&error);
        exit::of_error(&error)
    });
    exit as u8
}

/// Runs a command, with the logging and the profile that were asked for.
fn dispatch(cli: args::Cli) -> anyhow::Result<Exit> {
    interrupt::watch()?;
    outputs::outputs_of(&cli).check()?;
    let profile = cli.log.profile.as_deref().map(Profile::begin).transpose()?;
    let log = cli.log.log_file.as_deref().map(LogFile::create).transpose()?;
    let writing = logging::start(cli.log.verbose, log.as_ref(), profile.as_ref())?;
    let exit = commands::dispatch(cli);
    // The profile is complete once the guard is dropped.
    drop(writing);
    let kept = profile.map_or(Ok(()), Profile::keep);
    let told = log.map_or(Ok(()), |log| log.end());
    let Ok(exit) = exit else {
        // The command's own error is the one to end with.
        kept.err().into_iter().chain(told.err()).for_each(|error| output::warn(output::chain(&error)));
        return exit;
    };
    kept.and(told).map(|()| exit)
}

/// Reports panics as usual, except those of libraries that read a damaged file: these become an error that names the
/// file.
fn report_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !octopus_files::panics_become_errors() {
            usual(panic);
        }
    }));
}
