//! The stage that judges all results and writes the report.

use super::plots::{DELIVERABLES, TRACE, summary_rows};
use super::{Phase0Options, Stages, criteria, facts, tables};
use crate::error::Phase0Error;
use octopus_report::{Deliverable, Figure, Report, SCHEMA, deliverables, write_report};
use octopus_runs::now_utc;

/// Judges the results and writes the report.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn run(options: &Phase0Options<'_>, stages: &Stages, figures: &[Figure]) -> Result<Report, Phase0Error> {
    // Only after writing can it be seen whether every file was made, and the report itself is one of them. So the
    // report is written first as if all were made, and again if they were not.
    let hoped: Vec<Deliverable> =
        DELIVERABLES.iter().map(|&name| Deliverable { name: name.to_owned(), made: true }).collect();
    let mut report = compose(options, stages, &hoped)?;
    write_report(&options.out, &report, figures)?;
    let made = deliverables(&options.out, &DELIVERABLES);
    if made != hoped {
        report.verdict = criteria::verdict(options, stages, &made);
        write_report(&options.out, &report, figures)?;
    }
    Ok(report)
}

fn compose(options: &Phase0Options<'_>, stages: &Stages, made: &[Deliverable]) -> Result<Report, Phase0Error> {
    let version = env!("CARGO_PKG_VERSION");
    Ok(Report {
        schema: SCHEMA,
        title: "Octopus phase 0".into(),
        created: now_utc(),
        program: format!("octopus {version}"),
        reproduce: vec![
            reproduce(options),
            format!("python -c 'import arviz; print(arviz.from_netcdf(\"{}\"))'", options.out.join(TRACE).display()),
        ],
        verdict: criteria::verdict(options, stages, made),
        data: facts::data(stages),
        model: facts::model(stages),
        settings: facts::settings(options)?.into_iter().collect(),
        machine: facts::machine(stages),
        versions: [("octopus".to_owned(), version.to_owned())].into_iter().collect(),
        convergence: facts::convergence(stages, stages.stats.as_ref()),
        parameters: summary_rows(stages),
        stories: stages.stories.clone(),
        predictive: stages.predicted.statistics.clone(),
        benchmark: Some(stages.benchmark.summary()),
        comparisons: tables::all(stages),
    })
}

/// Returns the command line, without the path of the program.
fn reproduce(options: &Phase0Options<'_>) -> String {
    let words = options.command.iter().skip(1).map(String::as_str);
    std::iter::once("octopus").chain(words).collect::<Vec<_>>().join(" ")
}
