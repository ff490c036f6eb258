//! Phase 0 from end to end, with any model: verify, data, sample, diagnose, compare, predict, benchmark, plots, report.
//!
//! [`run`] does all stages and leaves a folder with the run, pictures, tables and a page. One file holds each stage, but
//! the benchmark, which is [`octopus_bench::engines`]; a stage takes what the earlier ones found and returns what it
//! found. What a model lacks is left out with the reason. `docs/requirements.md` says what phase 0 asks; what it asks
//! of the PRD's own problem alone is in `prd.rs`, and no other file names a model.
#![forbid(unsafe_code)]

mod compare;
mod criteria;
mod dashboard;
mod diagnose;
mod documents;
mod error;
mod facts;
mod gpu;
mod options;
mod plots;
mod prd;
mod predict;
mod report;
mod sample;
mod stage;
mod stages;
mod tables;
mod verify;

pub use error::Phase0Error;
pub use facts::versions;
pub use options::Phase0Options;
pub use stage::ValidationStage;

use octopus_bench::engines;
use octopus_models::Problem;
use octopus_models::exact::Exact;
use octopus_report::{Report, Stories};
use octopus_runs::Observer;
use prd::Prd;
use stages::Stages;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Returns the folder for a problem whose user names none: `reports/phase0` for the PRD's, and that of its model's name
/// for any other.
pub fn default_folder(problem: &dyn Problem) -> PathBuf {
    let name = if Prd::of(problem).is_some() { "phase0" } else { problem.density().name() };
    Path::new("reports").join(name)
}

/// Runs all stages, writes the report to the folder and returns it. Returns `None` when the observer stopped the
/// stages.
///
/// # Errors
/// When a stage cannot run at all; a bad result is not an error.
pub fn run(options: &Phase0Options<'_>, observer: &mut dyn Observer) -> Result<Option<Report>, Phase0Error> {
    let begin = Instant::now();
    let say = |seconds: f64, what: &str| (options.say)(format!("[{seconds:5.1} s] {what}"));
    let current = RefCell::new(None);
    let stage = |name: &str| {
        // The one before ends here.
        current.take();
        let short = name.split(':').next().unwrap_or(name);
        current.replace(Some(tracing::debug_span!("stage", name = %short).entered()));
        let seconds = begin.elapsed().as_secs_f64();
        tracing::debug!(seconds, "stage: {name}");
        say(seconds, name);
    };
    stage("verify: what machine this is");
    let machine = verify::run();
    let problem = options.problem;
    let prd = Prd::of(problem);
    match &prd {
        Some(_) => stage("data: made as NumPy makes them"),
        None => stage(&format!("data: {}", problem.data().source)),
    }
    stage("sample: into a run folder");
    let Some(sampled) = sample::run(options, observer)? else {
        return Ok(None);
    };
    // The files of an earlier validation must not pass for those of this one.
    plots::clear(&options.out)?;
    stage("diagnose: R-hat and effective sample sizes of every parameter");
    let diagnosis = diagnose::run(&sampled)?;
    let comparison = options.does(ValidationStage::Compare).and_then(|()| {
        stage("compare: with the exact posterior");
        compare::run(problem, &diagnosis)
    });
    let predicted = match options.does(ValidationStage::Predict) {
        Ok(()) => {
            stage("predict: replicated observations against the observed ones");
            predict::run(problem, &sampled, options.sampler().seed)?
        }
        Err(reason) => Err(reason),
    };
    let gpu = match options.does(ValidationStage::Gpu) {
        Ok(()) => gpu::run(options, &machine, &stage)?,
        Err(reason) => Err(reason),
    };
    let exact = comparison.as_ref().ok().map(|comparison| &*comparison.exact);
    let benchmark = match options.does(ValidationStage::Benchmark) {
        Ok(()) => match benchmark(options, prd.as_ref(), exact, &gpu, observer, &stage)? {
            Some(benchmark) => Ok(benchmark),
            None => return Ok(None),
        },
        Err(reason) => Err(reason),
    };
    let (stories, stats) = (Stories::default(), None);
    let mut stages =
        Stages { problem, prd, machine, sampled, diagnosis, comparison, predicted, gpu, benchmark, stories, stats };
    stage("plot: pictures, and the trace for ArviZ");
    let figures = plots::run(options, &mut stages)?;
    stage("report: criteria, page, tables");
    documents::write(options, &stages)?;
    let report = report::run(options, &stages, &figures)?;
    say(begin.elapsed().as_secs_f64(), "done");
    Ok(Some(report))
}

/// Times engines, strategies and sizes; returns `None` when the observer stopped it.
fn benchmark(
    options: &Phase0Options<'_>,
    prd: Option<&Prd>,
    exact: Option<&dyn Exact>,
    gpu: &Result<gpu::OnGpu, String>,
    observer: &dyn Observer,
    stage: &dyn Fn(&str),
) -> Result<Option<engines::Benchmarks>, Phase0Error> {
    stage("benchmark: engines, strategies, sizes");
    let timed = engines::EngineOptions { sampler: options.sampler(), quick: options.quick };
    let on_gpu = gpu.as_ref().map(gpu::OnGpu::to_time).map_err(String::clone);
    let sizes = match prd {
        Some(prd) if !options.quick => prd.other_sizes()?,
        _ => Vec::new(),
    };
    let measured = engines::TimedProblem { own: options.problem, exact, sizes: &sizes, prds: prd.is_some() };
    let mut found = engines::run(timed, measured, &on_gpu, &options.run.pool, observer)?;
    if let Some(found) = &mut found {
        found.peers.clone_from(&options.peers);
    }
    Ok(found)
}
