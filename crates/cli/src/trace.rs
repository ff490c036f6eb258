//! Draws to look at: of a run folder, or of another program.

use crate::problem;
use anyhow::{Context, Result, bail};
use octopus_diag::ParameterSummary;
use octopus_models::{Problem, Registry};
use octopus_report::SummaryRow;
use octopus_runs::{RunFolder, RunRecord, Status, open_trace};
use octopus_trace::{Attribute, Dataset, InferenceData};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Draws, and the run they are of.
pub(crate) struct Trace {
    /// All groups.
    pub(crate) data: InferenceData,
    /// The run's record; none for what another program wrote.
    pub(crate) record: Option<RunRecord>,
    /// Where it was read, in words.
    pub(crate) name: String,
}

impl Trace {
    /// Reads a trace of any format: a run folder, a file or store of another program, or the CSV files of CmdStan's
    /// chains, which are several paths.
    ///
    /// # Errors
    /// When there is no trace at a path, or it is damaged.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self> {
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

    /// The draws proper.
    ///
    /// # Errors
    /// When there are none, because the run is still in warm-up, or the file has no such group.
    pub(crate) fn posterior(&self) -> Result<&Dataset> {
        let name = &self.name;
        match (self.data.posterior(), &self.record) {
            (Some(posterior), _) => Ok(posterior),
            (None, Some(_)) => bail!("the run in {name} is still in warm-up: continue it with `octopus resume {name}`"),
            (None, None) => bail!("{name} has no group `posterior`: it is no trace of draws"),
        }
    }

    /// Whether the run can still grow.
    pub(crate) fn unfinished(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.status != Status::Complete)
    }

    /// The model of the run with its data.
    ///
    /// # Errors
    /// For a file, and when the data have gone or changed.
    pub(crate) fn problem(&self, models: Registry) -> Result<Arc<dyn Problem>> {
        problem::of_run(models, self.record.as_ref().context("a file does not tell its model")?)
    }
}

/// The rows of a summary for pictures and reports.
pub(crate) fn rows(parameters: &[ParameterSummary], truth: &HashMap<String, f64>) -> Vec<SummaryRow> {
    let row = |p: &ParameterSummary| SummaryRow {
        name: p.name.clone(),
        mean: p.mean,
        sd: p.sd,
        hdi89: (p.hdi[0], p.hdi[1]),
        eti89: (p.eti[0], p.eti[1]),
        rhat: p.rhat,
        ess_bulk: p.ess_bulk,
        ess_tail: p.ess_tail,
        mcse_mean: p.mcse_mean,
        truth: truth.get(&p.name).copied(),
    };
    parameters.iter().map(row).collect()
}

/// An attribute in words.
pub(crate) fn attribute_text(value: &Attribute) -> String {
    match value {
        Attribute::Text(text) => text.clone(),
        Attribute::F64(value) => value.to_string(),
        Attribute::I64(value) => value.to_string(),
        Attribute::List(values) => values.iter().map(attribute_text).collect::<Vec<_>>().join(", "),
    }
}
