//! Log likelihoods and predictions of a trace: those it holds, or those its model makes again.

use crate::observed::{Predictive, PredictiveParts};
use crate::{Trace, TraceError};
use octopus_diag::{LogLikelihood, relative_eff};
use octopus_models::Problem;
use octopus_trace::Array;

/// Adds what is wanted and absent of `posterior_predictive` (with `observed_data` and `constant_data`) and `log_likelihood`, of
/// at most `per_chain` draws of each chain and of so few that there are `most` numbers at the most. Returns the draws of each
/// chain that were used where these are fewer than asked for.
///
/// # Errors
/// When the trace lacks the positions.
pub fn complete(
    trace: &mut Trace,
    problem: &dyn Problem,
    wanted: PredictiveParts,
    per_chain: usize,
    most: usize,
) -> Result<Option<usize>, TraceError> {
    let absent = |group: &str| trace.data.group(group).is_none();
    let wanted = PredictiveParts {
        replicates: wanted.replicates && absent("posterior_predictive"),
        log_likelihood: wanted.log_likelihood && absent("log_likelihood"),
    };
    if absent("observed_data") {
        problem.add_observations(&mut trace.data);
    }
    let groups = usize::from(wanted.replicates) + usize::from(wanted.log_likelihood);
    if groups == 0 {
        return Ok(None);
    }
    let chains = trace.posterior()?.variables.values().map(Array::chains).max().unwrap_or(1);
    let each = chains * groups * problem.density().observations();
    let used = per_chain.min(most / each.max(1)).max(1);
    let seed = trace.record.as_ref().map_or(0, |record| record.sampler.seed);
    Predictive::new(&trace.data, problem, seed, used, wanted)?.add_groups(&mut trace.data);
    Ok((used < per_chain).then_some(used))
}

/// The log likelihoods of a trace, and what its draws are worth.
pub struct PointwiseLikelihood<'a> {
    /// Samples by observations.
    pub log_likelihood: LogLikelihood<'a>,
    /// The relative effective sample size of those draws.
    pub reff: f64,
}

impl<'a> PointwiseLikelihood<'a> {
    /// Of the variables `names`; without names of the only one.
    ///
    /// # Errors
    /// When there is no such group or variable.
    pub fn of(trace: &'a Trace, names: &[&str]) -> Result<Self, TraceError> {
        let name = &trace.name;
        let group = trace.data.group("log_likelihood").ok_or_else(|| {
            let what = "has no group `log_likelihood`: have your sampler keep it (in Stan as `log_lik`)";
            TraceError::lacks(format!("{name} {what}"))
        })?;
        let log_likelihood =
            LogLikelihood::of(group, names).map_err(|source| TraceError::Named { name: name.clone(), source })?;
        let posterior = trace.posterior()?;
        let drawn = posterior.variables.values().find(|array| array.is_sampled()).map_or(0, samples);
        // Of draws that were left out the others are further apart, and worth more each, but not more than one.
        let kept = log_likelihood.samples().max(1);
        let whole = relative_eff(posterior)?;
        let reff = (whole * drawn as f64 / kept as f64).min(whole.max(1.0));
        Ok(Self { log_likelihood, reff })
    }
}

fn samples(array: &Array) -> usize {
    array.chains() * array.draws()
}
