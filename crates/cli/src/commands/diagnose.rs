//! `octopus diagnose TRACE` summarises and checks the draws of a trace.

use crate::args::{DiagnoseArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Context, Result};
use octopus_diag::{DiagError, DiagnoseOptions, Rows, diagnose};
use octopus_trace::{Array, Dataset, shown};

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
    output::unless_quiet(global.quiet, &left_out(posterior)).iter().for_each(output::note);
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

/// Returns notes that name the variables of words and those that are not of every draw, of which there is nothing to
/// compute.
fn left_out(posterior: &Dataset) -> Vec<String> {
    let named = |is_left_out: fn(&Array) -> bool| {
        let found = posterior.variables.iter().filter(move |(_, array)| is_left_out(array));
        found.map(|(name, _)| shown(name)).collect::<Vec<_>>().join(", ")
    };
    let words = named(|array| !array.values.is_numeric());
    let constants = named(|array| array.values.is_numeric() && !array.is_sampled());
    [("they hold words and no numbers", words), ("they have no dimensions `chain` and `draw`", constants)]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(why, names)| format!("note: left out, since {why}: {names}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::Values;

    #[test]
    fn variables_without_numbers_of_every_draw_are_named() {
        let mut posterior = Dataset::default();
        posterior.insert("mu", Array::new([("chain", 1), ("draw", 1)], Values::F64(vec![0.5])));
        assert_eq!(left_out(&posterior), [""; 0]);
        posterior.insert("state", Array::new([("chain", 1), ("draw", 1)], Values::Strings(vec!["on".into()])));
        posterior.insert("scale", Array::new([], Values::F64(vec![0.5])));
        posterior.insert("x", Array::new([("sample", 1)], Values::F64(vec![0.5])));
        let notes = left_out(&posterior);
        assert!(notes.len() == 2 && notes[0].ends_with("words and no numbers: state"), "{notes:?}");
        assert!(notes[1].starts_with("note: left out") && notes[1].ends_with("`draw`: scale, x"), "{notes:?}");
    }
}
