//! Phase 0 from end to end: verify, data, sample, diagnose, compare, predict, benchmark, plots, report.
//!
//! One file for each stage; a stage takes what the earlier ones found and returns what it found.

mod benchmark;
mod compare;
mod criteria;
mod dashboard;
mod data;
mod diagnose;
mod facts;
mod gpu;
mod gpu_benchmark;
mod planned;
mod plots;
mod predict;
mod report;
mod sample;
mod speedup;
mod strategies;
mod tables;
mod target;
mod verify;

pub(crate) use data::of_size;

use crate::interrupt::Interrupt;
use crate::output;
use anyhow::Result;
use octopus_device::DeviceChoice;
use octopus_report::{Report, Stories};
use octopus_runs::DeviceDecision;
use octopus_sampler::SamplerConfig;
use rayon::ThreadPool;
use std::path::PathBuf;
use std::time::Instant;

/// What is asked of phase 0.
pub(crate) struct Options {
    /// The folder for everything.
    pub(crate) out: PathBuf,
    /// Groups of 10 observations.
    pub(crate) groups: usize,
    /// The sampler's settings.
    pub(crate) sampler: SamplerConfig,
    /// Small benchmarks.
    pub(crate) quick: bool,
    /// What was asked for.
    pub(crate) asked: DeviceChoice,
    /// What samples, and why.
    pub(crate) device: DeviceDecision,
    /// Whether a missing GPU counts.
    pub(crate) require_gpu: bool,
    /// No progress and notes.
    pub(crate) quiet: bool,
    /// The command line.
    pub(crate) command: Vec<String>,
}

/// How phase 0 ended.
pub(crate) enum Outcome {
    /// All stages ran.
    Done(Box<Report>),
    /// The user stopped it while it sampled.
    Interrupted,
}

/// What the stages found.
struct Stages {
    machine: verify::Machine,
    data: data::Data,
    sampled: sample::Sampled,
    diagnosis: octopus_diag::Diagnosis,
    comparison: compare::Comparison,
    predicted: predict::Predicted,
    /// The run again on the GPU, or why not.
    gpu: std::result::Result<gpu::OnGpu, String>,
    benchmark: benchmark::Benchmarks,
    /// How each parameter converged, told while the draws are there.
    stories: Stories,
    /// The statistics of the transitions, kept when the draws have gone into the file.
    stats: Option<octopus_trace::Dataset>,
}

/// Runs all stages.
///
/// # Errors
/// When a stage cannot run at all; what it finds is never an error.
pub(crate) fn run(options: &Options, pool: &ThreadPool, interrupt: Interrupt) -> Result<Outcome> {
    let begin = Instant::now();
    let stage = |name: &str| {
        if !options.quiet {
            output::note(format!("[{:5.1} s] {name}", begin.elapsed().as_secs_f64()));
        }
    };
    stage("verify: what machine this is");
    let machine = verify::run();
    stage("data: made as NumPy makes them");
    let data = data::run(options.groups)?;
    stage("sample: into a run folder");
    let Some(sampled) = sample::run(options, &data.problem, pool, interrupt)? else {
        return Ok(Outcome::Interrupted);
    };
    // What an earlier validation left must not pass for this one's.
    plots::clear(&options.out)?;
    stage("diagnose: R-hat and effective sample sizes of every parameter");
    let diagnosis = diagnose::run(&sampled)?;
    stage("compare: with the exact posterior");
    let comparison = compare::run(&data.problem, &diagnosis)?;
    stage("predict: replicated observations against the observed ones");
    let predicted = predict::run(&data.problem, &sampled, options.sampler.seed)?;
    let gpu = gpu::run(options, &data.problem, &machine, pool, &stage)?;
    stage("benchmark: engines, strategies, sizes");
    let Some(benchmark) = benchmark::run(options, &data.problem, &comparison.exact, &gpu, pool, interrupt)? else {
        return Ok(Outcome::Interrupted);
    };
    let (stories, stats) = (Stories::default(), None);
    let mut stages =
        Stages { machine, data, sampled, diagnosis, comparison, predicted, gpu, benchmark, stories, stats };
    stage("plot: pictures, and the trace for ArviZ");
    let figures = plots::run(options, &mut stages)?;
    stage("report: criteria, page, tables");
    let report = report::run(options, &stages, &figures)?;
    stage("done");
    Ok(Outcome::Done(Box::new(report)))
}
