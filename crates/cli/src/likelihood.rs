//! Log likelihoods and predictions of a trace: those it holds, or those its model makes again.

use crate::observed::{Predictive, add_observations};
use crate::trace::Trace;
use anyhow::{Context, Result, bail};
use octopus_diag::{LogLikelihood, relative_eff};
use octopus_trace::{Array, Dataset};

/// Adds what is absent of `observed_data`, `constant_data`, `posterior_predictive` and `log_likelihood`, the last two of at
/// most `per_chain` draws of each chain, where the model of the run and its data are at hand.
///
/// # Errors
/// When a group is absent and the model is not known, or its data have gone or changed.
pub(crate) fn complete(trace: &mut Trace, per_chain: usize) -> Result<()> {
    let needed = ["log_likelihood", "posterior_predictive", "observed_data"];
    if needed.iter().all(|group| trace.data.group(group).is_some()) {
        return Ok(());
    }
    let problem = trace.problem()?;
    let seed = trace.record.as_ref().map_or(0, |record| record.sampler.seed);
    Predictive::new(&trace.data, &problem.model, seed, per_chain)?.add_groups(&mut trace.data);
    add_observations(&mut trace.data, &problem.model);
    Ok(())
}

/// The log likelihoods of a trace, and what its draws are worth.
pub(crate) struct Judged<'a> {
    /// Samples by observations.
    pub(crate) log_likelihood: LogLikelihood<'a>,
    /// The relative effective sample size of those draws.
    pub(crate) reff: f64,
}

impl<'a> Judged<'a> {
    /// Of the variables `names`; without names of the only one.
    ///
    /// # Errors
    /// When there is no such group or variable.
    pub(crate) fn of(trace: &'a Trace, names: &[&str]) -> Result<Self> {
        let name = &trace.name;
        let group = trace.data.group("log_likelihood").with_context(|| {
            format!("{name} has no group `log_likelihood`: have your sampler keep it (in Stan as `log_lik`)")
        })?;
        let log_likelihood = LogLikelihood::of(group, names).with_context(|| name.clone())?;
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

/// Observations, and what the model predicts in their place.
#[derive(Clone, Debug)]
pub(crate) struct Predictions {
    /// As many as there are.
    pub(crate) observed: Vec<f64>,
    /// Samples by observations.
    pub(crate) predicted: Vec<f64>,
}

impl Predictions {
    /// The first variable that is in both groups; or the only one of each, whatever their names.
    ///
    /// # Errors
    /// When a group is absent, or nothing in them belongs together.
    pub(crate) fn of(trace: &Trace) -> Result<Self> {
        let group = |name: &str| trace.data.group(name).with_context(|| format!("the trace has no group `{name}`"));
        let (observed, predicted) = (group("observed_data")?, group("posterior_predictive")?);
        let pairs = pairs(observed, predicted);
        let fits = |(truth, array): &(&Array, &Array)| {
            array.is_sampled() && array.elements(2) == truth.values.len() && !truth.values.is_empty()
        };
        let Some((truth, array)) = pairs.into_iter().find(fits) else {
            bail!("no variable of `posterior_predictive` has the shape of one in `observed_data`");
        };
        Ok(Self { observed: truth.values.to_f64(), predicted: array.values.to_f64() })
    }

    /// At most `most` of the predicted data sets, evenly spread.
    pub(crate) fn some(&self, most: usize) -> Vec<Vec<f64>> {
        let width = self.observed.len();
        let rows = self.predicted.len() / width;
        let count = most.min(rows);
        (0..count)
            .map(|k| k * rows / count)
            .map(|row| self.predicted[row * width..(row + 1) * width].to_vec())
            .collect()
    }
}

/// Observed and predicted variables of one name; where there are none, the only ones.
fn pairs<'a>(observed: &'a Dataset, predicted: &'a Dataset) -> Vec<(&'a Array, &'a Array)> {
    let numeric = |group: &'a Dataset| group.variables.iter().filter(|(_, array)| array.values.is_numeric());
    let same: Vec<_> = numeric(observed).filter_map(|(name, truth)| Some((truth, predicted.get(name)?))).collect();
    if !same.is_empty() {
        return same;
    }
    let (truths, arrays): (Vec<_>, Vec<_>) = (numeric(observed).collect(), numeric(predicted).collect());
    match (truths.as_slice(), arrays.as_slice()) {
        ([(_, truth)], [(_, array)]) => vec![(*truth, *array)],
        _ => Vec::new(),
    }
}
