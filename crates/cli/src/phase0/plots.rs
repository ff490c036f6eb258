//! The pictures, and the trace that ArviZ opens.

use super::{Options, Stages};
use crate::observed::add_observations;
use crate::trace::rows;
use anyhow::{Context, Result};
use octopus_density::LogDensity;
use octopus_report::{Figure, ForestPlot, Format, Plot, PosteriorPlot, PpcPlot, SummaryRow, TracePlot, write_figures};
use octopus_trace::write_netcdf;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Where the trace goes.
pub(super) const TRACE: &str = "traces/phase0_test_trace.nc";
/// All that phase 0 must leave behind, beside the run folder.
pub(super) const DELIVERABLES: [&str; 10] = [
    "trace_plot.png",
    "posterior_plot.png",
    "forest_plot.png",
    "ppc_plot.png",
    "performance_comparison.png",
    "benchmark_report.txt",
    "report.json",
    "junit.xml",
    "index.html",
    TRACE,
];

/// Removes the files of an earlier validation.
///
/// # Errors
/// When a file cannot be removed.
pub(super) fn clear(out: &Path) -> Result<()> {
    for name in DELIVERABLES {
        let path = out.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove the earlier {}", path.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Draws the pictures and writes the trace.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn run(options: &Options, stages: &mut Stages) -> Result<Vec<Figure>> {
    let rows = summary_rows(stages);
    let draws = &stages.sampled.draws;
    let posterior = draws.posterior().context("the run holds no draws")?;
    let ppc = PpcPlot {
        observed: stages.data.problem.model.data().values().to_vec(),
        replicates: stages.predicted.predictive.replicates.clone(),
        statistics: stages.predicted.statistics.clone(),
    };
    let figures = [
        Plot::Trace(TracePlot::from_posterior(posterior, draws.group("sample_stats"), &rows)),
        Plot::Posterior(PosteriorPlot::from_posterior(posterior, &rows)),
        Plot::Forest(ForestPlot::from_posterior(posterior, &rows)),
        Plot::Ppc(ppc),
        Plot::Performance(stages.benchmark.summary().plot()),
    ]
    .map(Figure::new);
    write_figures(&options.out, &figures, Format::Png)?;
    write_trace(options, stages)?;
    Ok(figures.into())
}

/// Every parameter with its truth.
pub(super) fn summary_rows(stages: &Stages) -> Vec<SummaryRow> {
    let problem = &stages.data.problem;
    let truth = problem.truth.as_ref().map(|truth| truth.by_name(problem.model.layout())).unwrap_or_default();
    rows(&stages.diagnosis.summary.parameters, &truth)
}

/// The draws move into the file's groups: nobody needs them afterwards.
fn write_trace(options: &Options, stages: &mut Stages) -> Result<()> {
    let mut data = std::mem::take(&mut stages.sampled.draws);
    stages.stats = data.group("sample_stats").cloned();
    // Half of the file, and everything in it follows from the posterior.
    data.groups.shift_remove("unconstrained_posterior");
    stages.predicted.predictive.add_groups(&mut data);
    add_observations(&mut data, &stages.data.problem.model);
    let path = options.out.join(TRACE);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    write_netcdf(&path, &data, true)?;
    Ok(())
}
