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

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{GroupedData, Labels};

    /// Solves a x = b for a positive definite matrix by elimination; returns x and the logarithm of the determinant.
    fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> (Vec<f64>, f64) {
        let n = b.len();
        let mut log_determinant = 0.0;
        for k in 0..n {
            log_determinant += a[k][k].ln();
            for i in k + 1..n {
                let factor = a[i][k] / a[k][k];
                for j in k..n {
                    a[i][j] -= factor * a[k][j];
                }
                b[i] -= factor * b[k];
            }
        }
        for k in (0..n).rev() {
            let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
            b[k] = (b[k] - known) / a[k][k];
        }
        (b, log_determinant)
    }

    /// Given the scales all observations together are normal, of a dense covariance, and so is mu_pop given them.
    #[test]
    fn the_posterior_of_the_scales_is_that_of_dense_normals() {
        let group = [0, 0, 0, 1, 2, 2, 3];
        let y = [41.0, 44.0, 47.5, 60.0, 49.0, 52.0, 38.5];
        let data = GroupedData::new(Labels::Range(4), &group, &y).unwrap();
        let prior = HierarchicalPrior { mu_mean: 43.0, mu_sd: 4.0, sigma_pop_scale: 6.0, sigma_obs_scale: 2.5 };
        let evidence = Evidence::new(Statistics::new(&data).unwrap(), prior);
        for [sigma_pop, sigma_obs] in [[5.0, 2.0], [0.3, 7.0], [11.0, 0.9], [1.5, 1.5]] {
            let covariance = |i: usize, j: usize| {
                let same = |is: bool, value: f64| if is { value * value } else { 0.0 };
                prior.mu_sd * prior.mu_sd + same(group[i] == group[j], sigma_pop) + same(i == j, sigma_obs)
            };
            let matrix: Vec<Vec<f64>> = (0..7).map(|i| (0..7).map(|j| covariance(i, j)).collect()).collect();
            let away: Vec<f64> = y.iter().map(|y| y - prior.mu_mean).collect();
            let (solved, log_determinant) = solve(matrix.clone(), away.clone());
            let squares: f64 = solved.iter().zip(&away).map(|(a, b)| a * b).sum();
            let half_normal = |x: f64, scale: f64| (2.0 / (scale * (2.0 * PI).sqrt())).ln() - 0.5 * (x / scale).powi(2);
            let expected = -0.5 * (7.0 * (2.0 * PI).ln() + log_determinant + squares)
                + half_normal(sigma_pop, prior.sigma_pop_scale)
                + half_normal(sigma_obs, prior.sigma_obs_scale)
                + sigma_pop.ln()
                + sigma_obs.ln();
            let found = evidence.at([sigma_pop.ln(), sigma_obs.ln()]);
            assert!((found.log_density - expected).abs() < 1e-11, "{}, not {expected}", found.log_density);
            let location = prior.mu_mean + 16.0 * solved.iter().sum::<f64>();
            assert!((found.location - location).abs() < 1e-11, "{}, not {location}", found.location);
            let variance = 16.0 - 256.0 * solve(matrix, vec![1.0; 7]).0.iter().sum::<f64>();
            assert!((found.variance - variance).abs() < 1e-11, "{}, not {variance}", found.variance);
        }
        assert_eq!(evidence.at([800.0, 0.0]).log_density, f64::NEG_INFINITY);
    }
}
