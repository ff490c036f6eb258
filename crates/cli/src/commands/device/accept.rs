//! `octopus device accept` judges what the acceptance bundle has left on a machine.

use crate::args::DeviceAcceptArgs;
use crate::exit::Exit;
use crate::output;
use anyhow::Result;
use octopus_bench::accept;

/// Tells the steps and what is objected to, and writes the report that is asked for when there is no objection.
///
/// # Errors
/// When a file of the results is missing or is not what it should be, or the report cannot be written.
pub(super) fn run(args: &DeviceAcceptArgs) -> Result<Exit> {
    let acceptance = accept::judge(&args.results)?;
    output::note(acceptance.to_string().trim_end_matches('\n'));
    if !acceptance.accepted() {
        return Ok(Exit::Bad);
    }
    match &args.reports {
        Some(reports) => output::print(&acceptance.write_report(reports)?.display().to_string())?,
        None => output::note(format!("accept: all is well on {}; no report was asked for", acceptance.device())),
    }
    Ok(Exit::Fine)
}
