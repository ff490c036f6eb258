//! The posterior of the two scales, everything else integrated out.

use super::statistics::Statistics;
use crate::HierarchicalPrior;
use std::f64::consts::{LN_2, PI};

/// log(2 pi).
const LN_TAU: f64 = 1.837_877_066_409_345_5;

/// The density of (log sigma_pop, log sigma_obs), and of mu_pop given them.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) statistics: Statistics,
    pub(super) prior: HierarchicalPrior,
    /// The part of the log density that does not depend on the scales.
    constant: f64,
}

/// What is known once the two scales are given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditional {
    /// log p(y, log sigma_pop, log sigma_obs), normalised priors and Jacobians included.
    pub(super) log_density: f64,
    /// Mean of mu_pop given the scales and the data.
    pub(super) location: f64,
    /// Variance of mu_pop given the scales and the data.
    pub(super) variance: f64,
}

impl Evidence {
    pub(super) fn new(statistics: Statistics, prior: HierarchicalPrior) -> Self {
        let half_normal = |scale: f64| 0.5 * (LN_2 - PI.ln()) - scale.ln();
        let within: f64 = statistics
            .classes
            .iter()
            .map(|class| -0.5 * class.count * ((class.size - 1.0) * LN_TAU + class.size.ln()))
            .sum();
        // The 2 pi of the group means, of mu_pop's prior and of the integral over mu_pop.
        let between = -0.5 * statistics.groups() * LN_TAU - prior.mu_sd.ln();
        let constant = within + between + half_normal(prior.sigma_pop_scale) + half_normal(prior.sigma_obs_scale);
        Self { statistics, prior, constant }
    }

    /// Evaluates the posterior at `[log sigma_pop, log sigma_obs]`: the group means are N(mu_pop, v_n), v_n =
    /// sigma_pop^2 + sigma_obs^2 / n, and mu_pop has a normal prior, so its integral is Gaussian (Gelman et al., BDA3,
    /// section 5.4).
    pub(super) fn at(&self, [log_pop, log_obs]: [f64; 2]) -> Conditional {
        let prior = &self.prior;
        let pop2 = (2.0 * log_pop).exp();
        let obs2 = (2.0 * log_obs).exp();
        let mut precision = prior.mu_sd.powi(-2);
        let mut weighted = 0.0;
        for class in &self.statistics.classes {
            let share = class.count / (pop2 + obs2 / class.size);
            precision += share;
            weighted += share * (class.mean - prior.mu_mean);
        }
        let shift = weighted / precision;
        let location = prior.mu_mean + shift;
        let mut log_variances = 0.0;
        let mut squares = (shift / prior.mu_sd).powi(2);
        for class in &self.statistics.classes {
            let variance = pop2 + obs2 / class.size;
            log_variances += class.count * variance.ln();
            squares += (class.spread + class.count * (class.mean - location).powi(2)) / variance;
        }
        let degrees = self.statistics.observations - self.statistics.groups();
        let log_density = self.constant
            - degrees * log_obs
            - 0.5 * (self.statistics.within / obs2 + log_variances + squares + precision.ln())
            - 0.5 * (pop2 / prior.sigma_pop_scale.powi(2) + obs2 / prior.sigma_obs_scale.powi(2))
            + log_pop
            + log_obs;
        let log_density = if log_density.is_finite() { log_density } else { f64::NEG_INFINITY };
        Conditional { log_density, location, variance: precision.recip() }
    }
}
