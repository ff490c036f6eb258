//! `octopus diagnose TRACE` summarises and checks the draws of a trace.

use crate::args::{DiagnoseArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Context, Result};
use octopus_diag::{DiagError, DiagnoseOptions, Rows, diagnose};

/// Summarises and checks the draws.
///
/// # Errors
/// When the draws cannot be read, or `--prob` is no probability.
pub(crate) fn run(args: &DiagnoseArgs, global: Global) -> Result<Exit> {
    let trace = open(&args.trace, global)?;
    let posterior = trace.posterior()?;
    let options = DiagnoseOptions { prob: args.prob, ..trace.diagnose_options() };
    let diagnosis = match diagnose(posterior, trace.data.group("sample_stats"), &options) {
        Ok(diagnosis) => diagnosis,
        Err(DiagError::Probability { value, expected, .. }) => {
            return Err(UsageError(format!("--prob {value}: must be {expected}")).into());
        }
        Err(error) => return Err(error).with_context(|| trace.name.clone()),
    };
    if trace.unfinished() {
        let run = &trace.name;
        output::warn(format!("the run is not complete, this is what is drawn so far; `octopus resume {run}` goes on"));
    }
    if global.json {
        output::print_json(&diagnosis)?;
    } else {
        output::print(&diagnosis.to_text(if args.all { Rows::All } else { Rows::default() }))?;
    }
    Ok(if diagnosis.good() { Exit::Fine } else { Exit::Bad })
}
