//! Says whether a GPU of this machine is fit for use.

use octopus_device::{SystemProvider, verify};
use std::process::ExitCode;

fn main() -> ExitCode {
    let report = verify(&SystemProvider::new());
    println!("{report}");
    ExitCode::from(report.overall.exit_code())
}
