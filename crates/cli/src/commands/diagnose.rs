//! `octopus diagnose TRACE` summarises and checks the draws of a trace.

use crate::args::{DiagnoseArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::output;
use anyhow::{Context, Result};
use octopus::Trace;
use octopus_diag::{DiagError, DiagnoseOptions, Rows, diagnose};
use octopus_runs::diagnose_options;

/// Summarises and checks the draws.
///
/// # Errors
/// When the draws cannot be read, or `--prob` is no probability.
pub(crate) fn run(args: &DiagnoseArgs, global: Global) -> Result<Exit> {
    let trace = Trace::open(&args.trace)?;
    let posterior = trace.posterior()?;
    let options = trace.record.as_ref().map(diagnose_options).unwrap_or_default();
    let options = DiagnoseOptions { prob: args.prob, ..options };
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
