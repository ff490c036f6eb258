//! The stage that diagnoses the run: summary and checks.

use super::sample::Sampled;
use anyhow::{Context, Result};
use octopus_diag::{DiagnoseOptions, Diagnosis, diagnose, limits};
use octopus_runs::diagnose_options;

/// Diagnoses the run's draws.
///
/// # Errors
/// When the draws are missing, or cannot be summarised.
pub(super) fn run(sampled: &Sampled) -> Result<Diagnosis> {
    let options =
        DiagnoseOptions { max_rhat: limits::RHAT, min_ess: Some(limits::ESS), ..diagnose_options(&sampled.record) };
    let posterior = sampled.draws.posterior().context("the run holds no draws")?;
    Ok(diagnose(posterior, sampled.draws.group("sample_stats"), &options)?)
}
