//! Summary and checks of the run.

use super::sample::Sampled;
use crate::trace::diagnose_options;
use anyhow::{Context, Result};
use octopus_diag::{DiagnoseOptions, Diagnosis, diagnose};

/// The PRD's limit: every parameter's bulk and tail effective sample size must be above it.
pub(super) const MIN_ESS: f64 = 400.0;
/// The PRD's limit: every parameter's R-hat must be below it.
pub(super) const MAX_RHAT: f64 = 1.01;

/// Diagnoses the run.
///
/// # Errors
/// When the draws are no trace.
pub(super) fn run(sampled: &Sampled) -> Result<Diagnosis> {
    let options = DiagnoseOptions { max_rhat: MAX_RHAT, min_ess: Some(MIN_ESS), ..diagnose_options(&sampled.record) };
    let posterior = sampled.draws.posterior().context("the run holds no draws")?;
    Ok(diagnose(posterior, sampled.draws.group("sample_stats"), &options)?)
}
