//! The stage that diagnoses the run: summary and checks.

use super::sample::Sampled;
use crate::error::Phase0Error;
use octopus_diag::{DiagnoseOptions, Diagnosis, diagnose, limits};
use octopus_runs::diagnose_options;

/// Diagnoses the run's draws.
///
/// # Errors
/// When the draws are missing, or cannot be summarised.
pub(super) fn run(sampled: &Sampled) -> Result<Diagnosis, Phase0Error> {
    let options =
        DiagnoseOptions { max_rhat: limits::RHAT, min_ess: Some(limits::ESS), ..diagnose_options(&sampled.record) };
    let posterior = sampled.draws.posterior().ok_or(Phase0Error::NoDraws)?;
    Ok(diagnose(posterior, sampled.draws.group("sample_stats"), &options)?)
}
