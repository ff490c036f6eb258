//! The exact posterior of the hierarchical normal model, by quadrature: the truth that samplers are held to.
//!
//! How far the step is refined (tolerances) stands here.
//!
//! Given sigma_pop and sigma_obs everything else in
//! [`HierarchicalNormal`](crate::HierarchicalNormal) is jointly normal, so mu_pop and every z integrate out in
//! closed form and two dimensions remain, whatever the number of groups. Over the logarithms of the two scales
//! the trapezoidal rule gives means and standard deviations to about eleven digits in milliseconds.
//!
//! ```
//! use octopus_models::exact::{ExactPosterior, Quantity};
//! use octopus_models::{HierarchicalPrior, synthetic::HierarchicalSpec};
//!
//! let data = HierarchicalSpec::default().generate()?.data;
//! let posterior = ExactPosterior::compute(&data, &HierarchicalPrior::default())?;
//! assert!((posterior.mu_pop.mean - 49.05501339589).abs() < 1e-9);
//!
//! // 10 is the true sigma_pop behind these data, and inside the 89% highest-density interval.
//! assert!(posterior.marginal(Quantity::SigmaPop).hdi(0.89).contains(10.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod evidence;
mod lattice;
mod marginal;
mod moments;
mod statistics;

pub use marginal::{Interval, Marginal};

use crate::exact::Exact;
use crate::moments::Moments;
use crate::{HierarchicalPrior, ModelError};
use evidence::Evidence;
use lattice::{Lattice, Modes};
use moments::{Affine, AllMoments, Given, mu_group_given_scales, z_given_scales};
use octopus_density::GroupedData;
use statistics::Statistics;
use thiserror::Error;

/// Why there is no exact posterior.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ExactError {
    /// The prior is out of range.
    #[error(transparent)]
    Data(#[from] ModelError),
    /// The posterior cannot be normalised.
    #[error(
        "no observation differs from the others of its group ({observations} observations, {groups} groups): \
         the posterior has no finite integral near sigma_obs = 0; give data that vary"
    )]
    Improper {
        /// The number of observations.
        observations: usize,
        /// The number of groups.
        groups: usize,
    },
    /// Refinement did not bring the error down, or needed too many points.
    #[error(
        "the quadrature did not converge: moments still move by {error:.1e} standard deviations with {nodes} points"
    )]
    NotConverged {
        /// The largest change of any moment in the last refinement, in standard deviations.
        error: f64,
        /// Points of the last lattice.
        nodes: usize,
    },
}

/// A scalar of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The population mean.
    MuPop,
    /// The standard deviation of the group means.
    SigmaPop,
    /// The standard deviation of the observations.
    SigmaObs,
    /// The standardised deviation of a group.
    Z(usize),
    /// The mean of a group.
    MuGroup(usize),
}

impl Quantity {
    /// Returns the value `index` of the variable with this name in the model's layout; `None` for other names.
    pub fn named(variable: &str, index: usize) -> Option<Self> {
        match variable {
            "mu_pop" => Some(Self::MuPop),
            "sigma_pop" => Some(Self::SigmaPop),
            "sigma_obs" => Some(Self::SigmaObs),
            "z" => Some(Self::Z(index)),
            "mu_group" => Some(Self::MuGroup(index)),
            _ => None,
        }
    }
}

/// The exact posterior: moments of all variables, marginals on request.
#[derive(Clone, Debug)]
pub struct ExactPosterior {
    /// The population mean.
    pub mu_pop: Moments,
    /// The standard deviation of the group means.
    pub sigma_pop: Moments,
    /// The standard deviation of the observations about their group's mean.
    pub sigma_obs: Moments,
    /// Each group's standardised deviation from the population mean.
    pub z: Vec<Moments>,
    /// Each group's mean.
    pub mu_group: Vec<Moments>,
    /// log p(y): the evidence, all normalising constants included.
    pub log_marginal_likelihood: f64,
    /// The largest change of any mean or standard deviation when the step was last halved, in standard
    /// deviations. The error of what is returned is far below it.
    pub error: f64,
    evidence: Evidence,
    /// A lattice that is one refinement coarser, with `error` as its error: it suffices for marginals, and is cheaper.
    coarse: Lattice,
    sigma_pop_marginal: Marginal,
    sigma_obs_marginal: Marginal,
}

/// The change between two refinements that ends them, in standard deviations.
const TOLERANCE: f64 = 1e-11;
/// The change that is still good enough when rounding forbids better.
const ACCEPTABLE: f64 = 1e-8;
/// Halvings of the step, at most.
const REFINEMENTS: usize = 6;

impl ExactPosterior {
    /// Integrates the posterior of groups of any sizes (also 1) and any number of groups (also 1).
    ///
    /// # Errors
    /// [`ExactError::Data`] for a prior out of range, [`ExactError::Improper`] for data without spread,
    /// [`ExactError::NotConverged`] when the error stays above 1e-8 standard deviations.
    pub fn compute(data: &GroupedData, prior: &HierarchicalPrior) -> Result<Self, ExactError> {
        prior.validate()?;
        let evidence = Evidence::new(Statistics::new(data)?, *prior);
        let modes = Modes::find(&evidence);
        let mut fineness = 0.8;
        let mut coarse = Lattice::fill(&evidence, &modes, fineness)?;
        let mut coarse_moments = AllMoments::new(&evidence, &coarse);
        let mut error = f64::INFINITY;
        for refinement in 1..=REFINEMENTS {
            fineness *= 0.5;
            let fine = Lattice::fill(&evidence, &modes, fineness)?;
            let moments = AllMoments::new(&evidence, &fine);
            let change = moments.distance(&coarse_moments);
            // Rounding, not the step, when a halving no longer helps.
            let stalled = change <= ACCEPTABLE && change > 0.1 * error;
            error = change;
            if error <= TOLERANCE || stalled || (refinement == REFINEMENTS && error <= ACCEPTABLE) {
                return Ok(Self {
                    mu_pop: moments.mu_pop,
                    sigma_pop: moments.sigma_pop,
                    sigma_obs: moments.sigma_obs,
                    z: moments.z,
                    mu_group: moments.mu_group,
                    log_marginal_likelihood: fine.log_integral,
                    error,
                    sigma_pop_marginal: Marginal::scale(&fine, 0),
                    sigma_obs_marginal: Marginal::scale(&fine, 1),
                    evidence,
                    coarse,
                });
            }
            (coarse, coarse_moments) = (fine, moments);
        }
        Err(ExactError::NotConverged { error, nodes: coarse.nodes.len() })
    }

    /// Returns the posterior mean and standard deviation of `quantity`.
    ///
    /// # Panics
    /// When there is no such group.
    pub fn moments(&self, quantity: Quantity) -> Moments {
        match quantity {
            Quantity::MuPop => self.mu_pop,
            Quantity::SigmaPop => self.sigma_pop,
            Quantity::SigmaObs => self.sigma_obs,
            Quantity::Z(j) => self.z[j],
            Quantity::MuGroup(j) => self.mu_group[j],
        }
    }

    /// Returns the marginal distribution: distribution function, quantiles, intervals. For mu_pop, a z or a mu_group it
    /// takes about a millisecond; those of the scales are ready. Keep the result where several numbers are wanted.
    ///
    /// # Panics
    /// When there is no such group.
    pub fn marginal(&self, quantity: Quantity) -> Marginal {
        match quantity {
            Quantity::SigmaPop => self.sigma_pop_marginal.clone(),
            Quantity::SigmaObs => self.sigma_obs_marginal.clone(),
            Quantity::MuPop => {
                let nodes = self.coarse.nodes.iter();
                Marginal::mixture(self.mu_pop.mean, nodes.map(|node| (node.weight, node.location, node.variance)))
            }
            Quantity::Z(j) => self.group_mixture(j, self.z[j].mean, 0.0, z_given_scales),
            Quantity::MuGroup(j) => {
                let own = self.evidence.statistics.means[j];
                self.group_mixture(j, own, own, mu_group_given_scales)
            }
        }
    }

    /// Returns the highest-density interval of probability `p`, the shortest one: [`Marginal::hdi`].
    ///
    /// # Panics
    /// When `p` is not inside (0, 1), or there is no such group.
    pub fn hdi(&self, quantity: Quantity, p: f64) -> Interval {
        self.marginal(quantity).hdi(p)
    }

    /// The mixture of group `j`'s normal conditionals, moved by `shift`, sharpest at `center`.
    fn group_mixture(&self, j: usize, center: f64, shift: f64, given: Given) -> Marginal {
        let statistics = &self.evidence.statistics;
        let class = &statistics.classes[statistics.class[j]];
        let x = statistics.means[j] - class.mean;
        Marginal::mixture(
            center,
            self.coarse.nodes.iter().map(|node| {
                let Affine { intercept, slope, variance } = given(class, node);
                (node.weight, shift + intercept + slope * x, variance)
            }),
        )
    }
}

impl Exact for ExactPosterior {
    fn method(&self) -> &'static str {
        "by quadrature over the two scales, good to ten digits"
    }

    fn log_evidence(&self) -> Option<f64> {
        Some(self.log_marginal_likelihood)
    }

    fn moments_of(&self, variable: &str, index: usize) -> Option<Moments> {
        Quantity::named(variable, index).map(|quantity| self.moments(quantity))
    }

    fn hdi_of(&self, variable: &str, index: usize, probability: f64) -> Option<(f64, f64)> {
        let Interval { low, high } = self.hdi(Quantity::named(variable, index)?, probability);
        Some((low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::Labels;
    use serde_json::Value;

    /// Six values in three groups (tests/data/make_exact.py): moments, the evidence, and distribution functions.
    #[test]
    fn a_small_posterior_is_that_of_dense_matrices() {
        let cases: Value = serde_json::from_str(include_str!("../../tests/data/exact_cases.json")).unwrap();
        let case = cases.as_array().unwrap().iter().find(|case| case["name"] == "other_prior").unwrap();
        let list = |value: &Value| -> Vec<f64> { serde_json::from_value(value.clone()).unwrap() };
        let group: Vec<usize> = list(&case["group"]).iter().map(|&j| j as usize).collect();
        let data = GroupedData::new(Labels::Range(3), &group, &list(&case["y"])).unwrap();
        let prior: HierarchicalPrior = serde_json::from_value(case["prior"].clone()).unwrap();
        let (ours, expected) = (ExactPosterior::compute(&data, &prior).unwrap(), &case["posterior"]);
        assert!(ours.error < 1e-9, "{}", ours.error);
        let moments = |value: &Value| -> Moments { serde_json::from_value(value.clone()).unwrap() };
        let check = |quantity: Quantity, expected: Moments| {
            let found = ours.moments(quantity);
            let off = (found.mean - expected.mean).abs().max((found.sd - expected.sd).abs()) / expected.sd;
            assert!(off < 2e-9, "{quantity:?}: {found:?}, not {expected:?}");
        };
        for name in ["mu_pop", "sigma_pop", "sigma_obs"] {
            check(Quantity::named(name, 0).unwrap(), moments(&expected[name]));
        }
        for j in 0..3 {
            check(Quantity::Z(j), moments(&expected["z"][j]));
            check(Quantity::MuGroup(j), moments(&expected["mu_group"][j]));
        }
        let evidence = expected["log_marginal_likelihood"].as_f64().unwrap();
        assert!((ours.log_marginal_likelihood - evidence).abs() < 1e-9, "{}", ours.log_marginal_likelihood);
        for (variable, rows) in expected["cdf"].as_object().unwrap() {
            let marginal = ours.marginal(Quantity::named(variable, 0).unwrap());
            for row in rows.as_array().unwrap() {
                let [x, p] = [0, 1].map(|k: usize| row[k].as_f64().unwrap());
                assert!((marginal.cdf(x) - p).abs() < 1e-8, "{variable}: P(<= {x}) = {}, not {p}", marginal.cdf(x));
            }
        }
        let sigma_pop = ours.marginal(Quantity::SigmaPop);
        assert_eq!((sigma_pop.cdf(0.0), sigma_pop.cdf(-1.0)), (0.0, 0.0));
        let Interval { low, high } = sigma_pop.hdi(0.5);
        assert!((sigma_pop.cdf(high) - sigma_pop.cdf(low) - 0.5).abs() < 1e-10, "{low} {high}");
    }

    /// The lower of two modes is so narrow that the lattice is halved for it again and again. The evidence is
    /// the sum over rectangles in the logarithms of the scales.
    #[test]
    fn a_narrow_mode_beside_a_wide_one_is_resolved() {
        let group: Vec<usize> = (0..100).map(|k| k / 50).collect();
        let y: Vec<f64> = (0..100).map(|k| f64::from(20 * (k / 50) - 10 + 2 * (k % 2) - 1)).collect();
        let data = GroupedData::new(Labels::Range(2), &group, &y).unwrap();
        let prior = HierarchicalPrior { mu_mean: 0.0, mu_sd: 5.0, sigma_pop_scale: 0.0621, sigma_obs_scale: 1000.0 };
        let posterior = ExactPosterior::compute(&data, &prior).unwrap();
        let mut all = 0.0;
        for row in 0..800 {
            for column in 0..200 {
                let logs = [-14.0 + 0.02 * f64::from(row), -0.5 + 0.02 * f64::from(column)];
                all += (posterior.evidence.at(logs).log_density - posterior.log_marginal_likelihood).exp() * 4e-4;
            }
        }
        // The rectangles leave out what lies below a sigma_pop of e^-14.
        assert!((all - 1.0).abs() < 3e-5, "{all}");
    }
}
