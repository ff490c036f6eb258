//! `octopus compare A B` compares two traces or two reports, and ends with 1 when they differ.

use crate::args::{CompareArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Context, Result};
use octopus::rows;
use octopus::{ComparisonLimits, ReportComparison, TraceComparison};
use octopus_files::{WithInfinities, write_file};
use octopus_report::{Figure, ForestPlot, Format, read_report, write_figures};
use serde::Serialize;
use std::collections::HashMap;

/// The false-alarm probability of the comparison of two traces, unless the user gives one.
const ALPHA: f64 = 0.001;

/// Compares two posteriors, and the costs of sampling them.
///
/// # Errors
/// When draws cannot be read, the traces have no parameter in common, or a file cannot be written.
pub(crate) fn run(args: &CompareArgs, global: Global) -> Result<Exit> {
    let limits = ComparisonLimits { mean: args.max_mean, sd: args.max_sd, alpha: args.alpha.unwrap_or(ALPHA) };
    for (option, value, most, expected) in [
        ("--max-mean", limits.mean, f64::INFINITY, "a number, 0 or more"),
        ("--max-sd", limits.sd, f64::INFINITY, "a number, 0 or more"),
        ("--alpha", limits.alpha, 1.0, "a probability from 0 to 1"),
    ] {
        if !(0.0..=most).contains(&value) {
            return Err(UsageError(format!("{option} {value}: must be {expected}")).into());
        }
    }
    match [&args.first, &args.second].map(|path| path.extension().is_some_and(|ending| ending == "json")) {
        [false, false] => {}
        [true, true] if args.alpha.is_some() => {
            let why = "--alpha: two reports are compared by size, not by chance; leave it out";
            return Err(UsageError(why.into()).into());
        }
        [true, true] => return reports(args, limits, global),
        _ => return Err(UsageError("A and B: name two traces, or two report.json of `octopus validate`".into()).into()),
    }
    let traces = [open(std::slice::from_ref(&args.first), global)?, open(std::slice::from_ref(&args.second), global)?];
    for trace in traces.iter().filter(|trace| trace.unfinished()) {
        output::warn(format!("{} is not complete, this compares what is drawn so far", trace.name));
    }
    let comparison = TraceComparison::new(&traces, limits)?;
    if let Some(out) = &args.out {
        std::fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
        let json =
            serde_json::to_vec_pretty(&WithInfinities(&comparison)).context("cannot write the comparison as JSON")?;
        write_file(&out.join("comparison.json"), &json)?;
        let [first, second] =
            traces.each_ref().map(|trace| Ok::<_, anyhow::Error>((trace.name.as_str(), trace.posterior()?)));
        let (first, second) = (first?, second?);
        let rows = comparison.posterior.summaries.each_ref().map(|summary| rows(&summary.parameters, &HashMap::new()));
        let forest = ForestPlot::compared(&[(first.0, first.1, &rows[0]), (second.0, second.1, &rows[1])]);
        let figures = [Figure::new(comparison.plot()), Figure::new(forest)];
        write_figures(out, &figures, &[Format::Png])?;
    }
    tell(&comparison, || comparison.to_text(args.all), comparison.same, global)
}

/// Compares two `report.json`.
fn reports(args: &CompareArgs, limits: ComparisonLimits, global: Global) -> Result<Exit> {
    let reports = [read_report(&args.first)?, read_report(&args.second)?];
    let names = [&args.first, &args.second].map(|path| path.display().to_string());
    let comparison = ReportComparison::new(names, &reports, limits);
    if let Some(out) = &args.out {
        let json =
            serde_json::to_vec_pretty(&WithInfinities(&comparison)).context("cannot write the comparison as JSON")?;
        write_file(&out.join("comparison.json"), &json)?;
    }
    tell(&comparison, || comparison.to_text(args.all), comparison.same, global)
}

/// Prints a comparison, and returns how the command ends: well where both are the `same`.
fn tell(comparison: &impl Serialize, text: impl FnOnce() -> String, same: bool, global: Global) -> Result<Exit> {
    if global.json {
        output::print_json(comparison)?;
    } else {
        output::print(&text())?;
    }
    Ok(if same { Exit::Fine } else { Exit::Bad })
}
