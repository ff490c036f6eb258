//! Log likelihoods and predictions of a trace, read from the trace or made again by its model.

use crate::observed::{Predictive, PredictiveParts};
use crate::{Trace, TraceError};
use octopus_diag::{LogLikelihood, relative_eff};
use octopus_models::Problem;
use octopus_trace::Array;

/// Adds the groups `posterior_predictive` and `log_likelihood` to a trace, where `wanted` asks for them and the trace
/// lacks them; adds `observed_data` and `constant_data` where `observed_data` is absent. The groups are made from at
/// most `per_chain` draws of each chain, and from fewer where they would hold more than `most` numbers, but from at
/// least one. Returns the number of draws of each chain that were used if it is smaller than `per_chain`.
///
/// # Errors
/// When the trace lacks draws, or their unconstrained positions.
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

/// The log likelihoods of a trace, and the relative effective sample size of its draws.
pub struct PointwiseLikelihood<'a> {
    /// The log likelihoods, samples by observations.
    pub log_likelihood: LogLikelihood<'a>,
    /// The relative effective sample size of those draws.
    pub reff: f64,
}

impl<'a> PointwiseLikelihood<'a> {
    /// Reads the log likelihoods of the variables `names`, or without names of the only variable.
    ///
    /// # Errors
    /// When the trace has no draws, no group `log_likelihood`, or no such variable.
    pub fn read(trace: &'a Trace, names: &[&str]) -> Result<Self, TraceError> {
        let name = &trace.name;
        let group = trace.data.group("log_likelihood").ok_or_else(|| {
            let what = "has no group `log_likelihood`: have your sampler keep it (in Stan as `log_lik`)";
            TraceError::lacks(format!("{name} {what}"))
        })?;
        let log_likelihood =
            LogLikelihood::read(group, names).map_err(|source| TraceError::Named { name: name.clone(), source })?;
        let posterior = trace.posterior()?;
        let drawn = posterior.variables.values().find(|array| array.is_sampled()).map_or(0, samples);
        // Where draws were left out, the kept ones are further apart and each is worth more: up to one effective draw,
        // or up to `whole` where that is more.
        let kept = log_likelihood.samples().max(1);
        let whole = relative_eff(posterior)?;
        let reff = (whole * drawn as f64 / kept as f64).min(whole.max(1.0));
        Ok(Self { log_likelihood, reff })
    }
}

fn samples(array: &Array) -> usize {
    array.chains() * array.draws()
}
