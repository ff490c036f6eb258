//! `octopus diagnose TRACE` summarises and checks the draws of a trace.

use crate::args::{DiagnoseArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Context, Result};
use octopus_diag::{DiagError, DiagnoseOptions, Rows, diagnose, unusable_statistics};
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
    let notes = left_out(posterior, trace.data.group("sample_stats"));
    output::unless_quiet(global.quiet, &notes).iter().for_each(output::note);
    if trace.unfinished() {
        let run = &trace.name;
        output::warn(format!("the run is not complete, this is what is drawn so far; `octopus resume {run}` goes on"));
    }
    if global.json {
        output::print_json(&diagnosis)?;
    } else {
        output::print(&diagnosis.to_text(if args.all { Rows::All } else { Rows::default() }))?;
    }
    Ok(if diagnosis.usable() { Exit::Fine } else { Exit::Bad })
}

/// Returns notes that name the variables of words and those that are not of every draw, of which there is nothing to
/// compute, and the statistics that do not have a number for each draw.
fn left_out(posterior: &Dataset, stats: Option<&Dataset>) -> Vec<String> {
    let named = |is_left_out: fn(&Array) -> bool| {
        let found = posterior.variables.iter().filter(move |(_, array)| is_left_out(array));
        found.map(|(name, _)| shown(name)).collect::<Vec<_>>().join(", ")
    };
    let words = named(|array| !array.values.is_numeric());
    let constants = named(|array| array.values.is_numeric() && !array.is_sampled());
    let odd: Vec<_> = stats.map(unusable_statistics).unwrap_or_default().into_iter().map(shown).collect();
    [
        ("they hold words and no numbers", words),
        ("they have no dimensions `chain` and `draw`", constants),
        ("as statistics they do not have one number for each draw", odd.join(", ")),
    ]
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
        assert_eq!(left_out(&posterior, None), [""; 0]);
        posterior.insert("state", Array::new([("chain", 1), ("draw", 1)], Values::Strings(vec!["on".into()])));
        posterior.insert("scale", Array::new([], Values::F64(vec![0.5])));
        posterior.insert("x", Array::new([("sample", 1)], Values::F64(vec![0.5])));
        let mut stats = Dataset::default();
        stats.insert("energy", Array::new([("chain", 1), ("draw", 1)], Values::F64(vec![0.5])));
        stats.insert("step_size", Array::new([("chain", 1)], Values::F64(vec![0.5])));
        stats.insert("diverging", Array::new([("chain", 1), ("draw", 1)], Values::Strings(vec!["False".into()])));
        let notes = left_out(&posterior, Some(&stats));
        assert!(notes.len() == 3 && notes[2].ends_with("each draw: diverging, step_size"), "{notes:?}");
        assert!(notes[0].ends_with("words and no numbers: state"), "{notes:?}");
        assert!(notes[1].starts_with("note: left out") && notes[1].ends_with("`draw`: scale, x"), "{notes:?}");
    }
}
