//! The `octopus` command: see `octopus help`.

use octopus_models::Registry;
use std::process::ExitCode;

fn main() -> ExitCode {
    octopus_cli::main(Registry::shipped(), std::env::args_os()).into()
}
