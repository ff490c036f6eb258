//! The evidence of a model, the integral of prior times likelihood, from the draws of a run: by a bridge from a normal
//! distribution. Of several models: Bayes factors, and their probabilities.
//!
//! When an estimate is doubtful is decided here.

mod coordinates;
mod halves;
mod proposal;
mod text;

use crate::observed::Positions;
use crate::{Trace, TraceError};
use coordinates::BridgeCoordinates;
use halves::{CrossedEstimate, Halves};
use octopus_density::LogDensity;
use octopus_diag::BridgeEstimate;
use octopus_models::Problem;
use octopus_trace::{InferenceData, Values};

/// The largest standard error of a log evidence that is not doubtful: the evidence is known to a tenth.
const DOUBTFUL_ERROR: f64 = 0.1;
/// The least overlap of an estimate that is not doubtful: with less its error is larger than it says.
const LEAST_OVERLAP: f64 = 0.02;
/// How many standard errors of their difference the two halves' estimates may be apart.
const APART: f64 = 4.0;

/// A log evidence with how well it is known.
///
/// Each half of the draws has an estimate: a normal distribution is fitted to the other half, in the density's coordinates, and
/// [`bridge`](octopus_diag::bridge) leads from it to the draws. The evidence is the mean of both, whose errors
/// [go together](octopus_diag::bridge_covariance).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelEvidence {
    /// The logarithm of the integral of prior times likelihood, with all constants.
    pub log_evidence: f64,
    /// Its standard error, which is the relative error of the evidence.
    pub standard_error: f64,
    /// The estimates from the first halves of the chains and from the second halves. Both leave out the constants that the
    /// density leaves out.
    pub halves: [BridgeEstimate; 2],
    /// The draws that were used, of all chains.
    pub draws: usize,
}

impl ModelEvidence {
    /// The fewest draws of each chain that have an estimate: each half has its effective sample size.
    pub const FEWEST_DRAWS: usize = 8;

    /// Estimates the evidence of a density from draws of it: `positions` has `chains` chains, one after the other, of rows of
    /// the density's own coordinates. As many draws of normal distributions are made; they depend on `seed` alone.
    ///
    /// # Errors
    /// [`TraceError::Lacks`] where the density's [constant](LogDensity::log_constant) is not known, there are too few
    /// draws, or a coordinate does not move; [`TraceError::Density`] where the density is broken.
    pub fn of_draws(density: &dyn LogDensity, positions: &[f64], chains: usize, seed: u64) -> Result<Self, TraceError> {
        let constant = density.log_constant().ok_or_else(|| {
            TraceError::lacks(format!(
                "{}: the constants of its log density are not known, which the evidence is made of: a density of your own \
                 tells them by `LogDensity::log_constant`",
                density.name()
            ))
        })?;
        let dim = density.dim();
        let draws = positions.len() / (chains * dim).max(1);
        if draws < Self::FEWEST_DRAWS {
            return Err(TraceError::lacks(format!(
                "{draws} draws of each chain: at least {} are needed",
                Self::FEWEST_DRAWS
            )));
        }
        let chain = |chain: usize| &positions[chain * draws * dim..(chain + 1) * draws * dim];
        let middle = draws / 2 * dim;
        let first: Vec<f64> = (0..chains).flat_map(|k| &chain(k)[..middle]).copied().collect();
        let second: Vec<f64> = (0..chains).flat_map(|k| &chain(k)[middle..]).copied().collect();
        let mut best: Option<(Halves<'_>, CrossedEstimate)> = None;
        for coordinates in BridgeCoordinates::candidates(density, positions).map_err(TraceError::Density)? {
            let halves = Halves::new(density, coordinates, [first.clone(), second.clone()], chains);
            let (halves, found) = match halves.and_then(|halves| halves.bridge(0, seed).map(|found| (halves, found))) {
                // The density's own come first; others may overflow.
                Err(TraceError::Lacks(_)) if best.is_some() => continue,
                found => found?,
            };
            let overlap = found.estimate.overlap;
            let is_better = |best: &CrossedEstimate| overlap > best.estimate.overlap || best.estimate.overlap.is_nan();
            if best.as_ref().is_none_or(|(_, best)| is_better(best)) {
                best = Some((halves, found));
            }
        }
        let (halves, one) = best.ok_or_else(|| TraceError::lacks("there are no coordinates"))?;
        let other = halves.bridge(1, seed)?;
        let (error, other_error) = (one.estimate.standard_error, other.estimate.standard_error);
        let squares = error * error + other_error * other_error + one.covariance + other.covariance;
        Ok(Self {
            log_evidence: constant + 0.5 * (one.estimate.log_integral + other.estimate.log_integral),
            standard_error: 0.5 * squares.sqrt(),
            halves: [one.estimate, other.estimate],
            draws: chains * draws,
        })
    }

    /// Returns why the estimate is not to be trusted as it is, as a sentence.
    pub fn doubt(&self) -> Option<String> {
        let [one, other] = self.halves;
        let apart = (one.log_integral - other.log_integral).abs();
        let more = "draw more, or compute it by another method";
        if !(self.log_evidence.is_finite() && self.standard_error.is_finite()) {
            return Some("there is no estimate: the log density is NaN or infinite at draws".to_owned());
        }
        if self.standard_error > DOUBTFUL_ERROR {
            return Some(format!("its standard error is above {DOUBTFUL_ERROR}: {more}"));
        }
        if self.overlap() < LEAST_OVERLAP {
            return Some(format!("the draws have hardly anything in common with a normal distribution: {more}"));
        }
        if apart > APART * together(one.standard_error, other.standard_error) {
            return Some(format!("the two halves of the draws differ by {apart:.2}, more than by chance: {more}"));
        }
        None
    }

    /// Returns how much the draws and the normal distributions have in common, from 0 to 1: the less the larger the error.
    pub fn overlap(&self) -> f64 {
        self.halves[0].overlap.min(self.halves[1].overlap)
    }

    /// Returns the effective sample size of all draws in the bridges.
    pub fn ess(&self) -> f64 {
        self.halves.iter().map(|half| half.ess).sum()
    }

    /// Returns the logarithm of the Bayes factor of this model over another one of the same data, and its standard error.
    pub fn log_bayes_factor(&self, other: &Self) -> (f64, f64) {
        (self.log_evidence - other.log_evidence, together(self.standard_error, other.standard_error))
    }
}

/// Returns the probabilities of models of the same data, where each has the same probability before the data.
pub fn model_probabilities(models: &[ModelEvidence]) -> Vec<f64> {
    let highest = models.iter().map(|model| model.log_evidence).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = models.iter().map(|model| (model.log_evidence - highest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// Returns whether two problems have the same observations, whatever their names; `None` where one of them does not tell,
/// and their data differ.
pub fn same_observations(one: &dyn Problem, other: &dyn Problem) -> Option<bool> {
    if one.data().sha256 == other.data().sha256 {
        return Some(true);
    }
    let observed = |problem: &dyn Problem| {
        let mut data = InferenceData::default();
        problem.add_observations(&mut data);
        let values = data.groups.shift_remove("observed_data")?.variables.into_values().map(|array| array.values);
        Some(values.collect::<Vec<Values>>())
    };
    Some(observed(one)? == observed(other)?)
}

impl Trace {
    /// Estimates the evidence of the trace's model from at most `per_chain` draws of each chain, evenly spread.
    /// [`problem`](Self::problem) builds the model.
    ///
    /// # Errors
    /// As [`ModelEvidence::of_draws`], and where the trace lacks the unconstrained positions of its draws.
    pub fn evidence(&self, problem: &dyn Problem, per_chain: usize, seed: u64) -> Result<ModelEvidence, TraceError> {
        let density = problem.density();
        self.posterior()?;
        let positions = Positions::new(&self.data, density)?;
        let count = per_chain.min(positions.draws);
        let mut chosen = vec![0.0; positions.chains * count * density.dim()];
        for (k, row) in chosen.chunks_exact_mut(density.dim()).enumerate() {
            positions.read(k / count, k % count * positions.draws / count, row);
        }
        ModelEvidence::of_draws(density, &chosen, positions.chains, seed)
    }
}

/// The standard error of a sum.
fn together(one: f64, other: f64) -> f64 {
    (one * one + other * other).sqrt()
}
