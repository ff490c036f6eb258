//! `octopus sample MODEL --out DIR` samples a model into a run folder.
//!
//! Here is what it and `octopus resume` print at the end (summary, diagnosis, the hint after Ctrl-C), how long a table
//! is, and the exit code that follows.

use super::evidence::constants_left_out;
use super::{batch, dry_run};
use crate::args::{Global, SampleArgs};
use crate::config::{RunConfig, config_error};
use crate::exit::{Exit, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Watcher;
use anyhow::Result;
use octopus::{begin, prior_conflicts, run_record};
use octopus_diag::{Diagnosis, Rows, diagnose};
use octopus_files::WithInfinities;
use octopus_models::Problem;
use octopus_runs::{
    CreateOptions, Driven, EndedBy, Goal, PreparedRun, RunCost, RunError, RunFolder, RunRecord, RunWriter, Session,
    Timing, diagnose_options, drive,
};
use octopus_sampler::{SamplerConfig, SamplerError};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The most rows of the table at the end of a run.
const ROWS: usize = 16;

/// Samples into a new run folder.
///
/// # Errors
/// When the data or settings cannot be used, or the folder cannot be written.
pub(crate) fn run(args: &SampleArgs, global: Global) -> Result<Exit> {
    if let Some(source) = &args.batch.batch {
        return batch::run(source, args, global);
    }
    let model = global.models.find(&args.model)?;
    let mut config = RunConfig::from_args(args, model, global.models)?;
    let request = config.request(&args.machine)?;
    let problem = config.problem(model)?;
    config.warnings.iter().for_each(output::warn);
    tell_of_data(&*problem, global);
    let density = problem.density();
    let mut prepared = PreparedRun::of_run(density, request)?;
    config.sampler.clone_from(&prepared.request.sampler);
    if let Some(plan) = prepared.plan.as_ref().filter(|_| !global.quiet) {
        output::note(format!("strategy: {}", plan.reason()));
    }
    if args.dry_run {
        let mut notes = prepared.device.notes.clone();
        notes.extend(plan_of(&*problem, &config.sampler));
        output::unless_quiet(global.quiet, &notes).iter().for_each(output::note);
        return dry_run::run(args, &config, &*problem, &prepared, global);
    }
    let out = args.out.as_deref().ok_or_else(|| UsageError("--out DIR is needed".into()))?;
    prepared.check_room(out, &[density])?;
    let interrupt = Interrupt::listen();
    // The chains are made before the folder, so that a run that cannot start leaves nothing behind.
    let place = prepared.device.open()?;
    let PreparedRun { cost, device, pool, .. } = &prepared;
    let groups = problem.data().groups;
    let begun = pool.install(|| begin(&*problem, &config.sampler, &prepared.request.init))?;
    let sampler = pool.install(|| place.begin(density, begun));
    let sampler = sampler.inspect_err(|error| advise_memory(error, cost, groups)).map_err(in_options)?;
    let record = run_record(&*problem, config.sampler.clone(), &prepared);
    let options = CreateOptions { force: args.force, keep_warmup: config.keep_warmup };
    let writer = RunWriter::create(out, record, options)?;
    let mut notes = device.lines();
    notes.extend(plan_of(&*problem, &config.sampler));
    output::unless_quiet(global.quiet, &notes).iter().for_each(output::note);
    // Values that made the data are known of made-up data alone.
    if model.reads_table() && !problem.truth().is_empty() {
        output::warn(format!("the observations are made up ({}): give yours with --data", problem.data().source));
    }
    let checkpoints = args.checkpoint_every.into();
    let observer = &mut Watcher::new(interrupt, global.quiet);
    let outcome = drive(sampler, density, writer, Session { pool, checkpoints, observer });
    let outcome = outcome.inspect_err(|error| advise(error, out, cost, groups))?;
    conclude(out, &outcome, &*problem, global)
}

/// Returns what is sampled: the data, the model and the run.
fn plan_of(problem: &dyn Problem, sampler: &SamplerConfig) -> [String; 3] {
    let data = problem.data();
    let counted = match (data.observations, data.groups) {
        (0, 0) => data.source.clone(),
        (rows, 0) => format!("{rows} observations ({})", data.source),
        (rows, groups) => format!("{rows} observations in {groups} groups ({})", data.source),
    };
    [
        format!("data: {counted}"),
        format!("model: {}", problem.statements().join(", ")),
        format!("run: {}", octopus_runs::describe(sampler)),
    ]
}

/// Says what was left out of a table, and warns of what the data cannot tell: before anything is drawn.
pub(super) fn tell_of_data(problem: &dyn Problem, global: Global) {
    let left_out = problem.data().left_out;
    if !left_out.is_nothing() && !global.quiet {
        output::note(format!("left out of {}: {left_out}", problem.data().source));
    }
    problem.findings().iter().for_each(output::warn);
}

/// Says how a run goes on whose folder could not be written, for example because a disk was full, and what would fit a
/// GPU whose memory was full.
pub(super) fn advise(error: &RunError, dir: &Path, cost: &RunCost, groups: usize) {
    match error {
        RunError::File(_) => {
            output::note(format!(
                "what was drawn until the last checkpoint is kept: `octopus resume {}`",
                dir.display()
            ));
        }
        RunError::Sampler(source) | RunError::Stopped { source, .. } => advise_memory(source, cost, groups),
        _ => {}
    }
}

/// Says what would fit a GPU whose memory was full.
pub(super) fn advise_memory(error: &SamplerError, cost: &RunCost, groups: usize) {
    cost.memory_advice(error, groups).iter().for_each(output::note);
}

/// Converts an error; a setting is called by its option's name.
fn in_options(error: SamplerError) -> anyhow::Error {
    match error {
        SamplerError::Config(error) => config_error(&error).into(),
        other => other.into(),
    }
}

/// Prints how the session ended; `octopus resume` uses this function, too.
///
/// # Errors
/// When the run cannot be read back, or stdout cannot be written.
pub(super) fn conclude(dir: &Path, outcome: &Driven, problem: &dyn Problem, global: Global) -> Result<Exit> {
    let (shown, record) = (dir.display(), &outcome.record);
    if outcome.interrupted {
        let population = record.sampler.algorithm.draws_population() && record.parts.is_empty();
        let kept = if population {
            "a population is drawn as a whole, and nothing of it is kept"
        } else {
            "what is drawn is kept"
        };
        output::note(format!("interrupted: {kept}; go on with `octopus resume {shown}`"));
        if global.json {
            output::print_json(&result(dir, record, Value::Null, outcome))?;
        }
        return Ok(Exit::Interrupted);
    }
    let diagnosis = read_back(dir, record)?;
    if global.json {
        output::print_json(&result(dir, record, serde_json::to_value(WithInfinities(&diagnosis))?, outcome))?;
    } else {
        let timing = &record.timing;
        let (warmup, sampling) = (timing.warmup_s, timing.sampling_s);
        let seconds = format!("{:.2} s (warm-up {warmup:.2} s, sampling {sampling:.2} s)", seconds_of(timing));
        let left_out = constants_left_out(record, problem.density());
        let found = record.population().map(|found| format!("{}\n", evidence_line(found, left_out)));
        let table = diagnosis.to_text(Rows::AtMost(ROWS));
        output::print(&format!("{table}\n{}{seconds}\nrun folder: {shown}", found.unwrap_or_default()))?;
    }
    problem.failures().iter().for_each(output::warn);
    let conflicts = prior_conflicts(problem, record.sampler.seed, &diagnosis.summary.parameters);
    conflicts.iter().for_each(|conflict| output::warn(conflict.to_string()));
    if !diagnosis.usable() {
        output::warn(format!("the draws should not be used as they are: see `octopus diagnose {shown}`"));
    }
    let doubt = record.population().and_then(|found| found.get("doubt")?.as_str());
    if let Some(doubt) = doubt {
        output::warn(format!("the draws should not be used as they are: {doubt}"));
    }
    let checked = if diagnosis.usable() && doubt.is_none() { Exit::Fine } else { Exit::Bad };
    let Some(ending) = &record.ending else { return Ok(checked) };
    output::note(ending.describe(Duration::from_secs_f64(seconds_of(&record.timing))));
    Ok(if reached(ending.by, record.goal) { checked } else { Exit::Bad })
}

/// Returns what a population has found of the evidence, in a line; `left_out` is what it lacks, where that is known.
fn evidence_line(found: &toml::Table, left_out: Option<f64>) -> String {
    let number = |name: &str| found.get(name).and_then(toml::Value::as_float).unwrap_or(f64::NAN);
    let k = found.get("pareto_k").and_then(toml::Value::as_float).map(|k| format!(", Pareto k {k:.2}"));
    format!(
        "log evidence {:.3} +- {:.3}{}, ESS of the weights {:.0}{}",
        number("log_evidence") + left_out.unwrap_or_default(),
        number("standard_error"),
        if left_out.is_none() { " without the constants that the density leaves out, which are not known" } else { "" },
        number("ess"),
        k.unwrap_or_default()
    )
}

/// Returns the seconds of warm-up and sampling together.
fn seconds_of(timing: &Timing) -> f64 {
    timing.warmup_s + timing.sampling_s
}

/// Returns whether a run has reached its targets, or has none.
fn reached(by: EndedBy, goal: Option<Goal>) -> bool {
    let targets = goal.map(|goal| (goal.target_ess, goal.target_rhat)).unwrap_or_default();
    by == EndedBy::Target || targets == (None, None)
}

/// Reads the draws of a run and diagnoses them.
///
/// # Errors
/// When the draws cannot be read or diagnosed, or there are none.
pub(super) fn read_back(dir: &Path, record: &RunRecord) -> Result<Diagnosis> {
    let _span = tracing::debug_span!("diagnose").entered();
    let data = RunFolder::open(dir)?.read_posterior()?;
    let posterior = data.posterior().ok_or_else(|| anyhow::anyhow!("the run holds no draws"))?;
    Ok(diagnose(posterior, data.group("sample_stats"), &diagnose_options(record))?)
}

fn result(dir: &Path, record: &RunRecord, diagnosis: Value, outcome: &Driven) -> Value {
    json!({
        "schema": 1,
        "run": dir,
        "status": record.status,
        "device": record.device,
        "device_reason": record.device_reason,
        "strategy_reason": record.strategy_reason,
        "usage": record.usage,
        "data": record.data,
        "sampler": record.sampler,
        "goal": record.goal,
        "ending": record.ending,
        "timing": record.timing,
        "leapfrogs": outcome.tally.leapfrogs,
        "population": record.population(),
        "diagnosis": diagnosis,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_takes_warm_up_and_sampling() {
        assert_eq!(seconds_of(&Timing { warmup_s: 1.5, sampling_s: 4.25 }), 5.75);
    }

    #[test]
    fn a_run_that_ends_before_its_targets_has_not_reached_its_goal() {
        let time = Goal { max_seconds: Some(5.0), ..Goal::default() };
        let ess = Goal { target_ess: Some(100.0), ..time };
        let rhat = Goal { target_rhat: Some(1.01), ..Goal::default() };
        for by in [EndedBy::Draws, EndedBy::Time] {
            assert_eq!(
                [None, Some(time), Some(ess), Some(rhat)].map(|goal| reached(by, goal)),
                [true, true, false, false]
            );
        }
        assert!([time, ess, rhat].into_iter().all(|goal| reached(EndedBy::Target, Some(goal))));
    }
}
