//! `octopus diagnose TRACE` summarises and checks the draws of a trace.

use crate::args::{DiagnoseArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Context, Result};
use octopus_diag::{DiagError, DiagnoseOptions, Rows, diagnose};
use octopus_trace::{Dataset, shown};

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
    if let Some(note) = words_note(posterior) {
        output::unless_quiet(global.quiet, &[note]).iter().for_each(output::note);
    }
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

/// Returns a note that names the variables of words, of which there is nothing to compute; `None` where there are none.
fn words_note(posterior: &Dataset) -> Option<String> {
    let words = posterior.variables.iter().filter(|(_, array)| !array.values.is_numeric());
    let names: Vec<_> = words.map(|(name, _)| shown(name)).collect();
    (!names.is_empty()).then(|| format!("note: left out, since they hold words and no numbers: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::{Array, Values};

    #[test]
    fn variables_of_words_are_named() {
        let mut posterior = Dataset::default();
        posterior.insert("mu", Array::new([("chain", 1), ("draw", 1)], Values::F64(vec![0.5])));
        assert_eq!(words_note(&posterior), None);
        posterior.insert("state", Array::new([("chain", 1), ("draw", 1)], Values::Strings(vec!["on".into()])));
        let note = words_note(&posterior).unwrap();
        assert!(note.starts_with("note: left out") && note.ends_with(": state"), "{note}");
    }
}
