//! Sampling in one call: to a trace in memory, or into a run folder.
//!
//! How many draws of each chain get predictions and log likelihoods, and how much memory these may take, stand here.

use crate::{PredictiveParts, Trace, TraceError, begin, complete, run_record};
use octopus_models::Problem;
use octopus_runs::{
    Checkpoints, CreateOptions, Goal, PreparedRun, RunError, RunFolder, RunRequest, RunStatus, RunWriter, Session,
    Timing, drive, groups_of, sample_in_memory,
};
use std::path::Path;

/// The draws of each chain for which observations are predicted and log likelihoods computed.
const PREDICTED: usize = 1000;
/// The most numbers in these two groups together: half a gibibyte.
const MOST: usize = 1 << 26;

/// Samples a problem, and returns the trace with ArviZ's groups `posterior`, `unconstrained_posterior`, `sample_stats`,
/// and where there are observations `observed_data`, `posterior_predictive` and `log_likelihood`. Nothing is written.
///
/// `request` is a [`SamplerConfig`](octopus_sampler::SamplerConfig), or a [`RunRequest`] for a device or a number of
/// threads. The same seed gives the same draws on every device, and those of `octopus sample`.
///
/// # Errors
/// When a setting is out of range, the density is broken, a device fails, the chains do not fit the memory, or the request
/// has a goal or keeps warm-up, which [`sample_to_folder`] does.
pub fn sample(problem: &dyn Problem, request: impl Into<RunRequest>) -> Result<Trace, TraceError> {
    let request = request.into();
    if request.goal != Goal::default() || request.keep_warmup {
        return Err(TraceError::lacks("a run in memory has no goal and keeps no warm-up: use sample_to_folder"));
    }
    let density = problem.density();
    let mut prepared = PreparedRun::of_run(density, request)?;
    let place = prepared.device.open()?;
    prepared.check_memory()?;
    let config = &prepared.request.sampler;
    let begun = prepared.pool.install(|| begin(problem, config, &prepared.request.init))?;
    let run = sample_in_memory(density, begun, &place, &prepared.pool)?;
    let mut record = run_record(problem, config.clone(), &prepared);
    record.timing = Timing { warmup_s: run.warmup_s, sampling_s: run.sampling_s };
    (record.status, record.adaptation) = (RunStatus::Complete, run.adaptation);
    let data = prepared.pool.install(|| groups_of(density, &run.blocks, &record))?;
    with_predictions(Trace { data, record: Some(record), name: density.name().to_owned() }, problem)
}

/// Samples a problem into the new run folder `dir`, as `octopus sample` does, and returns the trace as [`sample`] does.
/// The folder grows while it samples, and every command reads it; a process that is killed loses no checkpointed draw.
///
/// # Errors
/// As [`sample`]; and when `dir` holds something already, or the disk is too small.
pub fn sample_to_folder(
    problem: &dyn Problem,
    request: impl Into<RunRequest>,
    dir: &Path,
) -> Result<Trace, TraceError> {
    let density = problem.density();
    let mut prepared = PreparedRun::of_run(density, request.into())?;
    prepared.check_room(dir, &[density])?;
    let place = prepared.device.open()?;
    let PreparedRun { request, pool, .. } = &prepared;
    let begun = pool.install(|| begin(problem, &request.sampler, &request.init))?;
    let sampler = pool.install(|| place.begin(density, begun)).map_err(RunError::from)?;
    let record = run_record(problem, request.sampler.clone(), &prepared);
    let options = CreateOptions { force: false, keep_warmup: request.keep_warmup };
    let writer = RunWriter::create(dir, record, options)?;
    let session = Session { pool, checkpoints: Checkpoints::ByTime, observer: &mut () };
    let record = drive(sampler, density, writer, session)?.record;
    let data = RunFolder::open(dir)?.read()?;
    with_predictions(Trace { data, record: Some(record), name: dir.display().to_string() }, problem)
}

/// Adds the observations, and what the model predicts of them.
fn with_predictions(mut trace: Trace, problem: &dyn Problem) -> Result<Trace, TraceError> {
    let observed = problem.density().observations() > 0;
    let wanted = if observed { PredictiveParts::ALL } else { PredictiveParts::default() };
    complete(&mut trace, problem, wanted, PREDICTED, MOST)?;
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::Registry;
    use octopus_sampler::SamplerConfig;

    fn schools() -> std::sync::Arc<dyn Problem> {
        Registry::shipped().find("eight-schools").unwrap().build(&toml::Table::new(), None).unwrap()
    }

    /// A run in memory and one in a folder have the same groups, draws and statistics, bit for bit; only times differ.
    #[test]
    fn memory_and_folder_hold_the_same_trace() {
        let config = SamplerConfig { chains: 2, tune: 100, draws: 60, seed: 7, ..SamplerConfig::default() };
        let problem = schools();
        let dir = tempfile::tempdir().unwrap();
        let in_memory = sample(&*problem, config.clone()).unwrap();
        let in_folder = sample_to_folder(&*problem, config, &dir.path().join("run")).unwrap();
        let names: Vec<&String> = in_memory.data.groups.keys().collect();
        let mut expected =
            ["posterior", "unconstrained_posterior", "sample_stats", "observed_data", "constant_data"].to_vec();
        expected.extend(["posterior_predictive", "log_likelihood"]);
        assert_eq!(names, expected);
        assert_eq!(names, in_folder.data.groups.keys().collect::<Vec<_>>());
        for (name, group) in &in_memory.data.groups {
            let other = &in_folder.data.groups[name];
            assert!(group.variables == other.variables && group.coords == other.coords, "{name}");
        }
        assert_eq!(in_memory.diagnose().unwrap(), in_folder.diagnose().unwrap());
        let (a, b) = (in_memory.record.unwrap(), in_folder.record.unwrap());
        assert_eq!((a.adaptation, a.status, a.layout), (b.adaptation, b.status, b.layout));
        assert!(a.timing.sampling_s > 0.0 && a.data == b.data);
        assert!(sample_to_folder(&*problem, a.sampler, &dir.path().join("run")).is_err(), "the folder is taken");
    }

    #[test]
    fn a_run_in_memory_has_no_goal_and_keeps_no_warm_up() {
        let goal = Goal { max_seconds: Some(1.0), ..Goal::default() };
        for request in
            [RunRequest { goal, ..RunRequest::default() }, RunRequest { keep_warmup: true, ..RunRequest::default() }]
        {
            let error = sample(&*schools(), request).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains("sample_to_folder")));
        }
    }
}
