//! The `octopus` command: see `octopus help`.
#![forbid(unsafe_code)]

mod args;
mod auto;
mod calibration;
mod collect;
mod commands;
mod comparison;
mod config;
mod device;
mod exit;
mod goal;
mod interrupt;
mod likelihood;
mod observed;
mod output;
mod phase0;
mod pictures;
mod place;
mod problem;
mod progress;
mod reach;
mod run;
mod tiny_run;
mod trace;
mod truth;
mod work;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    report_panics();
    // clap answers --help and --version with 0 and a bad command line with 2, our Exit::Usage.
    let cli = args::Cli::parse();
    match commands::dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            output::error(&error);
            exit::of_error(&error).into()
        }
    }
}

/// As usual, but for those of libraries that read a damaged file: they end as an error that names it.
fn report_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !octopus_files::panics_become_errors() {
            usual(panic);
        }
    }));
}
