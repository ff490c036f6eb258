//! Traces that have been read: from a run folder, or from files of another program.

use crate::{TraceError, problem};
use octopus_diag::{DiagnoseOptions, ParameterSummary};
use octopus_models::{Problem, Registry};
use octopus_report::SummaryRow;
use octopus_runs::{RunFolder, RunRecord, RunStatus, diagnose_options, open_trace};
use octopus_trace::{Attribute, Dataset, InferenceData};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The draws of a run, with the run's record where there is one.
pub struct Trace {
    /// All groups of the trace.
    pub data: InferenceData,
    /// The run's record; `None` for files that another program wrote.
    pub record: Option<RunRecord>,
    /// The path or paths that the trace was read from, as text.
    pub name: String,
}

impl Trace {
    /// Reads a trace of any format: a run folder, a file or store of another program, or the CSV files of CmdStan's
    /// chains, which are several paths.
    ///
    /// # Errors
    /// When there is no trace at a path, or it is damaged.
    pub fn open(paths: &[PathBuf]) -> Result<Self, TraceError> {
        let name = match paths {
            [path] => path.display().to_string(),
            [first, others @ ..] => format!("{} and {} more", first.display(), others.len()),
            [] => String::new(),
        };
        if let [path] = paths
            && RunFolder::is_run(path)
        {
            let folder = RunFolder::open(path)?;
            return Ok(Self { data: folder.read()?, record: Some(folder.record().clone()), name });
        }
        Ok(Self { data: open_trace(paths)?, record: None, name })
    }

    /// Returns the draws without warm-up: the group `posterior`.
    ///
    /// # Errors
    /// When the run is still in warm-up, or the file has no group `posterior`.
    pub fn posterior(&self) -> Result<&Dataset, TraceError> {
        let name = &self.name;
        let warmup = || self.data.group("warmup_posterior").is_some();
        match (self.data.posterior(), &self.record) {
            (Some(posterior), _) => Ok(posterior),
            (None, Some(_)) => Err(TraceError::InWarmUp { name: name.clone() }),
            (None, None) if warmup() => Err(TraceError::lacks(format!(
                "{name} has no draws yet, only those of warm-up: its chains were stopped, or written, before warm-up ended"
            ))),
            (None, None) => Err(TraceError::lacks(format!("{name} has no group `posterior`: it is no trace of draws"))),
        }
    }

    /// Returns the options with which the draws are diagnosed: those of the run's settings, and the depth limit where the
    /// attributes of another program's trace tell it.
    pub fn diagnose_options(&self) -> DiagnoseOptions {
        let of_run = self.record.as_ref().map(diagnose_options);
        of_run.unwrap_or_else(|| DiagnoseOptions {
            max_tree_depth: self.told_depth_limit(),
            ..DiagnoseOptions::default()
        })
    }

    /// Returns the depth limit of all chains, as the attributes of a group tell it. ArviZ has the settings of CmdStan as
    /// lists of text, with an entry for each chain.
    fn told_depth_limit(&self) -> Option<u32> {
        fn whole(value: &Attribute) -> Option<u32> {
            match value {
                Attribute::I64(number) => u32::try_from(*number).ok(),
                Attribute::F64(number) => (number.fract() == 0.0 && *number > 0.0).then_some(*number as u32),
                Attribute::Text(text) => text.trim().parse().ok(),
                Attribute::List(values) => {
                    let first = whole(values.first()?)?;
                    values.iter().all(|value| whole(value) == Some(first)).then_some(first)
                }
            }
        }
        const NAMES: [&str; 4] = ["max_treedepth", "max_tree_depth", "max_depth", "maxdepth"];
        let groups = ["sample_stats", "posterior"].into_iter().filter_map(|group| self.data.group(group));
        groups.flat_map(|group| NAMES.iter().filter_map(|name| group.attrs.get(*name))).find_map(whole)
    }

    /// Returns whether the trace is of a run that is not complete and can still grow.
    pub fn unfinished(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.status != RunStatus::Complete)
    }

    /// Builds the model of the run again, with its data.
    ///
    /// # Errors
    /// When the trace is a file of another program, the model is not in `models`, or the data have gone or changed.
    pub fn problem(&self, models: Registry) -> Result<Arc<dyn Problem>, TraceError> {
        problem::of_run(models, self.record.as_ref().ok_or(TraceError::NoModel)?)
    }
}

/// Converts summaries of parameters to rows for pictures and reports; `truth` has the true values by name.
pub fn rows(parameters: &[ParameterSummary], truth: &HashMap<String, f64>) -> Vec<SummaryRow> {
    let row = |p: &ParameterSummary| SummaryRow { summary: p.clone(), truth: truth.get(&p.name).copied() };
    parameters.iter().map(row).collect()
}
