//! The stage that judges all results and writes the report.

use super::plots::{summary_rows, trace_file};
use super::{criteria, facts, plots, tables};
use crate::error::Phase0Error;
use crate::options::Phase0Options;
use crate::stages::Stages;
use octopus_bench::engines::Benchmarks;
use octopus_report::{Deliverable, Figure, Report, SCHEMA, deliverables, write_report};
use octopus_runs::now_utc;

/// Judges the results and writes the report.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn run(options: &Phase0Options<'_>, stages: &Stages, figures: &[Figure]) -> Result<Report, Phase0Error> {
    // Only after writing can it be seen whether every file was made, and the report itself is one of them. So the
    // report is written first as if all were made, and again if they were not.
    let asked = plots::deliverables(stages);
    let hoped: Vec<Deliverable> = asked.iter().map(|&name| Deliverable { name: name.to_owned(), made: true }).collect();
    let mut report = compose(options, stages, &hoped)?;
    write_report(&options.out, &report, figures)?;
    let made = deliverables(&options.out, &asked);
    if made != hoped {
        report.verdict = criteria::verdict(options, stages, &made);
        write_report(&options.out, &report, figures)?;
    }
    Ok(report)
}

fn compose(options: &Phase0Options<'_>, stages: &Stages, made: &[Deliverable]) -> Result<Report, Phase0Error> {
    let version = env!("CARGO_PKG_VERSION");
    let trace = options.out.join(trace_file(stages));
    Ok(Report {
        schema: SCHEMA,
        title: title(stages),
        created: now_utc(),
        program: format!("octopus {version}"),
        reproduce: vec![
            reproduce(stages),
            format!("python -c 'import arviz; print(arviz.from_netcdf(\"{}\"))'", trace.display()),
        ],
        verdict: criteria::verdict(options, stages, made),
        data: facts::data(stages),
        model: facts::model(stages),
        settings: facts::settings(options)?.into_iter().collect(),
        machine: facts::machine(stages),
        versions: facts::versions().into_iter().collect(),
        convergence: facts::convergence(stages, stages.stats.as_ref()),
        parameters: summary_rows(stages),
        stories: stages.stories.clone(),
        predictive: stages.predicted.as_ref().map(|found| found.statistics.clone()).unwrap_or_default(),
        benchmark: stages.benchmark.as_ref().ok().map(Benchmarks::summary),
        comparisons: tables::all(stages),
    })
}

/// Returns the report's title.
fn title(stages: &Stages) -> String {
    match &stages.prd {
        Some(_) => "Octopus phase 0".into(),
        None => format!("Octopus validation of {}", stages.problem.density().name()),
    }
}

/// Returns the command line, without the path of the program.
fn reproduce(stages: &Stages) -> String {
    let words = stages.sampled.record.command.iter().skip(1).map(String::as_str);
    std::iter::once("octopus").chain(words).collect::<Vec<_>>().join(" ")
}
