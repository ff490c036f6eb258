//! The stage that draws the pictures, and writes the trace that ArviZ opens.
//!
//! The list of deliverables (the files that phase 0 must leave) and the number of draws from the prior are here.

use super::{ValidationStage, dashboard, documents};
use crate::error::Phase0Error;
use crate::options::Phase0Options;
use crate::stages::Stages;
use octopus::{Material, Picture, PriorDraws, Trace, TraceError, rows};
use octopus_formats::write_netcdf;
use octopus_report::{Figure, Format, Stories, SummaryRow, write_figures};
use octopus_trace::InferenceData;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The number of draws from the prior in the trace.
const PRIOR_DRAWS: usize = 500;

/// The file of the trace of the PRD's problem, in the folder of phase 0.
const PRDS_TRACE: &str = "traces/phase0_test_trace.nc";
/// The file of the trace of any other problem.
const OTHER_TRACE: &str = "traces/trace.nc";
/// The picture of the predictive check.
const PREDICTIVE: &str = "ppc_plot.png";
/// The files that phase 0 must leave behind, beside the run folder, the documents and the trace.
const DELIVERABLES: [&str; 9] = [
    "trace_plot.png",
    "posterior_plot.png",
    "forest_plot.png",
    PREDICTIVE,
    "performance_comparison.png",
    "benchmark_report.txt",
    "report.json",
    "junit.xml",
    "index.html",
];

/// The files of the pictures of speed. Like many pictures of the trace they are not drawn in every run: they need sizes
/// other than the run's.
const SPEED: [&str; 2] = ["scaling_plot.png", "pareto_front_plot.png"];

/// Returns the file of the trace.
pub(super) fn trace_file(stages: &Stages) -> &'static str {
    if stages.prd.is_some() { PRDS_TRACE } else { OTHER_TRACE }
}

/// Returns the files that must be left behind, beside the run folder: all where the model predicts its observations.
pub(super) fn deliverables(stages: &Stages) -> Vec<&'static str> {
    let asked = |name: &&str| *name != PREDICTIVE || stages.predicted.is_ok();
    DELIVERABLES.into_iter().filter(asked).chain(documents::names()).chain([trace_file(stages)]).collect()
}

/// Removes the files of an earlier validation.
///
/// # Errors
/// When a file cannot be removed.
pub(super) fn clear(out: &Path) -> Result<(), Phase0Error> {
    let of_trace = Picture::all().map(|picture| format!("{}.png", picture.stem()));
    for name in DELIVERABLES
        .into_iter()
        .chain(documents::names())
        .chain([PRDS_TRACE, OTHER_TRACE])
        .chain(SPEED)
        .map(str::to_owned)
        .chain(of_trace)
    {
        let path = out.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Phase0Error::Io { action: "remove the earlier", path, source: error });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Draws the pictures and writes the trace. The draws move out of `stages`, since no later stage needs them.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn run(options: &Phase0Options<'_>, stages: &mut Stages) -> Result<Vec<Figure>, Phase0Error> {
    let problem = stages.problem;
    let mut data = std::mem::take(&mut stages.sampled.draws);
    if let Ok(predicted) = &stages.predicted {
        predicted.predictive.add_groups(&mut data);
    }
    if problem.simulator().is_some() {
        PriorDraws::new(problem, options.sampler().seed, PRIOR_DRAWS)?.add_groups(&mut data);
    }
    problem.add_observations(&mut data);
    stages.stats = data.group("sample_stats").cloned();
    let name = options.out.join("run").display().to_string();
    let mut trace = Trace { data, record: Some(stages.sampled.record.clone()), name };
    let figures = if options.does(ValidationStage::Plot).is_ok() { draw(options, stages, &trace)? } else { Vec::new() };
    stages.stories = Stories::from_posterior(trace.posterior()?, stages.diagnosis.summary.superchains)?;
    write_figures(&options.out, &figures, &[Format::Png])?;
    // This group would be half of the file, and everything in it follows from the posterior.
    trace.data.groups.shift_remove("unconstrained_posterior");
    write_trace(&options.out.join(trace_file(stages)), &trace.data)?;
    Ok(figures)
}

/// Makes all pictures of the trace and of speed.
fn draw(options: &Phase0Options<'_>, stages: &Stages, trace: &Trace) -> Result<Vec<Figure>, Phase0Error> {
    let material = Material::with_rows(trace, stages.problem, summary_rows(stages))?;
    let mut figures = Vec::new();
    for kind in Picture::all() {
        match kind.figure(&material) {
            Ok(figure) => figures.push(figure),
            Err(TraceError::Lacks(why)) => (options.say)(format!("no {}: {why}", kind.stem())),
            Err(other) => return Err(other.into()),
        }
    }
    figures.extend(stages.benchmark.iter().flat_map(|benchmark| dashboard::figures(benchmark, options)));
    // A picture may have nothing to draw, for example a picture of divergences where there are none.
    figures.retain(|figure| figure.plot.check().is_ok());
    Ok(figures)
}

/// Returns a row for every parameter, with its true value where that is known.
pub(super) fn summary_rows(stages: &Stages) -> Vec<SummaryRow> {
    rows(&stages.diagnosis.summary.parameters, &stages.problem.truth())
}

fn write_trace(path: &Path, data: &InferenceData) -> Result<(), Phase0Error> {
    if let Some(folder) = path.parent() {
        let failed = |source| Phase0Error::Io { action: "make the folder", path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(failed)?;
    }
    write_netcdf(path, data, true)?;
    Ok(())
}
