//! Log likelihoods and predictions of a trace, read from the trace or made again by its model.

use crate::observed::{Predictive, PredictiveParts};
use crate::{Trace, TraceError};
use octopus_diag::{LogLikelihood, relative_eff};
use octopus_models::Problem;
use octopus_trace::Array;

/// Adds the groups `posterior_predictive` and `log_likelihood` to a trace, where `wanted` asks for them, the trace lacks
/// them and the model can make them; adds `observed_data` and `constant_data` where `observed_data` is absent. The
/// groups are made from at most `per_chain` draws of each chain, and from fewer where they would hold more than `most`
/// numbers, but from at least one. Returns the number of draws of each chain that were used if it is smaller than
/// `per_chain`.
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
    let wanted = wanted.of(problem.density());
    let wanted = PredictiveParts {
        replicates: wanted.replicates && absent("posterior_predictive"),
        log_likelihood: wanted.log_likelihood && absent("log_likelihood"),
    };
    if absent("observed_data") {
        problem.add_observations(&mut trace.data);
    }
    if wanted == PredictiveParts::default() {
        return Ok(None);
    }
    let chains = trace.posterior()?.variables.values().map(Array::chains).max().unwrap_or(1);
    let of = |is_wanted: bool, count: usize| if is_wanted { count } else { 0 };
    let density = problem.density();
    let numbers = of(wanted.replicates, density.predictions()) + of(wanted.log_likelihood, density.observations());
    let each = chains * numbers;
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
        // First: of a run that is still in warm-up, nothing else needs to be said.
        let posterior = trace.posterior()?;
        let group = trace.data.group("log_likelihood").ok_or_else(|| {
            let what = "has no group `log_likelihood`: have your sampler keep it (in Stan as `log_lik`)";
            TraceError::lacks(format!("{name} {what}"))
        })?;
        let log_likelihood =
            LogLikelihood::read(group, names).map_err(|source| TraceError::Named { name: name.clone(), source })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};
    use octopus_trace::{Dataset, InferenceData, Values};

    const CHAINS: usize = 4;
    const DRAWS: usize = 5000;

    /// Returns a trace of draws that are correlated by `phi` with the draw before, of which every `step`-th has log
    /// likelihoods.
    fn correlated(phi: f64, step: usize) -> Trace {
        let row = |chain: u32| {
            let mut random = Stream::new(1, chain, 0, Purpose::User);
            let mut x = 0.0;
            std::iter::repeat_with(move || {
                x = phi * x + random.normal();
                x
            })
        };
        let (mut posterior, mut likelihood, mut data) =
            (Dataset::default(), Dataset::default(), InferenceData::default());
        let draws = (0..CHAINS as u32).flat_map(|chain| row(chain).take(DRAWS)).collect();
        posterior.insert("x", Array::new([("chain", CHAINS), ("draw", DRAWS)], Values::F64(draws)));
        let axes = [("chain", CHAINS), ("draw", DRAWS / step), ("observation", 2)];
        likelihood.insert("y", Array::new(axes, Values::F64(vec![-1.0; CHAINS * (DRAWS / step) * 2])));
        data.insert("posterior", posterior);
        data.insert("log_likelihood", likelihood);
        Trace { data, record: None, name: "correlated".to_owned() }
    }

    /// An autoregression with correlation phi has n (1 - phi) / (1 + phi) effective draws of n for the mean.
    #[test]
    fn the_relative_efficiency_is_that_of_the_draws() {
        for (phi, step, expected) in [
            (0.5, 1, 1.0 / 3.0),
            (0.8, 1, 1.0 / 9.0),
            // Every second draw: half as many are worth as much, and no draw is worth more than one.
            (0.5, 2, 2.0 / 3.0),
            (0.5, 10, 1.0),
            // Draws that each make up for the one before are worth more than independent ones.
            (-0.5, 1, 3.0),
            (-0.5, 10, 3.0),
        ] {
            let trace = correlated(phi, step);
            let found = PointwiseLikelihood::read(&trace, &[]).unwrap();
            assert_eq!(found.log_likelihood.samples(), CHAINS * DRAWS / step);
            let reff = found.reff;
            assert!((reff / expected - 1.0).abs() < 0.15, "{phi}, every {step}: {reff}, not {expected}");
        }
    }
}
