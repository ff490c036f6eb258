//! The problem of a run: built again from its record, and written into one. Data that changed since the run began are
//! refused here (`resume`).

use crate::TraceError;
use octopus_models::{BuildError, Problem, Registry};
use octopus_runs::{ModelRecord, PreparedRun, RunRecord};
use octopus_sampler::SamplerConfig;
use std::sync::Arc;

/// Builds the problem of a run again, and checks that its data are the same as then.
///
/// # Errors
/// When the record's model is not in `models`, or the data have gone or changed.
pub fn of_run(models: Registry, record: &RunRecord) -> Result<Arc<dyn Problem>, TraceError> {
    let model = models.find(&record.model.name).map_err(TraceError::Record)?;
    let problem = model.read_and_build(&record.model.settings, None).map_err(|error| match error {
        error @ BuildError::Form { .. } => TraceError::Record(error),
        other => other.into(),
    })?;
    let (then, now) = (record.data.as_ref().map(|data| &data.sha256), &problem.data().sha256);
    if then != Some(now) || record.layout != *problem.density().layout() {
        return Err(BuildError::OtherData {
            data: problem.data().source.clone(),
            what: "values",
            then: then.map_or_else(|| "unknown".to_owned(), String::clone),
            now: now.clone(),
        }
        .into());
    }
    Ok(problem)
}

/// Returns the model of a problem as `run.toml` records it.
pub fn model_record(problem: &dyn Problem) -> ModelRecord {
    ModelRecord { name: problem.density().name().to_owned(), settings: problem.settings().clone() }
}

/// Returns the record of a prepared run that begins now. Of a batch, each run has its own `sampler`.
pub fn run_record(problem: &dyn Problem, sampler: SamplerConfig, prepared: &PreparedRun) -> RunRecord {
    let record = prepared.record(model_record(problem), sampler, problem.density().layout().clone());
    RunRecord { data: Some(problem.data().clone()), ..record }
}
