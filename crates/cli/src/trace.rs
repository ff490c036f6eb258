//! Draws to look at: of a run folder, or of a file of another program.

use crate::problem::Problem;
use anyhow::{Context, Result, bail};
use octopus_diag::{DiagnoseOptions, ParameterSummary};
use octopus_report::SummaryRow;
use octopus_sampler::Strategy;
use octopus_trace::{Dataset, InferenceData, RunFolder, RunRecord, Status, read_netcdf};
use std::collections::HashMap;
use std::path::Path;

/// Draws, and the run they are of.
pub(crate) struct Trace {
    /// All groups.
    pub(crate) data: InferenceData,
    /// The run's record; none for a file.
    pub(crate) record: Option<RunRecord>,
}

impl Trace {
    /// Reads a run folder or a NetCDF file.
    ///
    /// # Errors
    /// When the path is neither, or is damaged.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if path.is_dir() {
            let folder = RunFolder::open(path)?;
            return Ok(Self { data: folder.read()?, record: Some(folder.record().clone()) });
        }
        Ok(Self { data: read_netcdf(path)?, record: None })
    }

    /// The draws proper.
    ///
    /// # Errors
    /// When there are none, because the run is still in warm-up, or the file has no such group.
    pub(crate) fn posterior(&self, path: &Path) -> Result<&Dataset> {
        match (self.data.posterior(), &self.record) {
            (Some(posterior), _) => Ok(posterior),
            (None, Some(_)) => {
                let path = path.display();
                bail!("the run in {path} is still in warm-up: continue it with `octopus resume {path}`")
            }
            (None, None) => bail!("{} has no group `posterior`: it is no trace of draws", path.display()),
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
    pub(crate) fn problem(&self) -> Result<Problem> {
        Problem::of_run(self.record.as_ref().context("a file does not tell its model")?)
    }
}

/// How the draws of a run are to be diagnosed.
pub(crate) fn diagnose_options(record: &RunRecord) -> DiagnoseOptions {
    let sampler = &record.sampler;
    DiagnoseOptions {
        max_tree_depth: Some(sampler.max_depth),
        superchains: (sampler.strategy == Strategy::ManyShort).then_some(sampler.superchains),
        ..DiagnoseOptions::default()
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
