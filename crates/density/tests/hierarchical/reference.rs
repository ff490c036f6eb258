//! The model as its definition reads: a sum of normal log densities, one observation after another.

use crate::number::{Dual, Number};
use octopus_density::{Centering, GroupedData, HierarchicalPrior};
use std::f64::consts::PI;

/// log N(x | mean, sd)
pub(crate) fn normal<N: Number>(x: N, mean: N, sd: N) -> N {
    let standard = (x - mean) / sd;
    N::constant(-0.5 * (2.0 * PI).ln()) - sd.ln() - N::constant(0.5) * standard * standard
}

/// log HalfNormal(x | scale)
fn half_normal<N: Number>(x: N, scale: f64) -> N {
    N::constant(2f64.ln()) + normal(x, N::constant(0.0), N::constant(scale))
}

/// The log joint density, every constant included, at the coordinates `x_0 .. x_{G-1}, mu_pop, log sigma_pop,
/// log sigma_obs`, the effects in those of `centering`; with the Jacobians of `exp` and of the centering.
pub(crate) fn log_joint<N: Number>(data: &GroupedData, prior: &HierarchicalPrior, centering: Centering, at: &[N]) -> N {
    let groups = data.groups();
    let (mu, log_pop, log_obs) = (at[groups], at[groups + 1], at[groups + 2]);
    let (sigma_pop, sigma_obs) = (log_pop.exp(), log_obs.exp());
    let mut total = normal(mu, N::constant(prior.mu_mean), N::constant(prior.mu_sd))
        + half_normal(sigma_pop, prior.sigma_pop_scale)
        + log_pop
        + half_normal(sigma_obs, prior.sigma_obs_scale)
        + log_obs;
    for j in 0..groups {
        // The group's mean, and log dz/dx.
        let (mean, log_slope) = match centering {
            Centering::NonCentered => (mu + sigma_pop * at[j], N::constant(0.0)),
            Centering::Centered => (at[j], N::constant(0.0) - log_pop),
            Centering::Standardised => {
                let count = N::constant(data.group(j).len() as f64);
                let average = N::constant(data.group(j).iter().sum::<f64>()) / count;
                // The precisions of the data and of the population, as shares of what both know of the mean.
                let (by_data, by_population) = (count * sigma_pop * sigma_pop, sigma_obs * sigma_obs);
                let share = by_data / (by_data + by_population);
                let rest = by_population / (by_data + by_population);
                let mean = mu + share * (average - mu) + sigma_pop * rest.sqrt() * at[j];
                (mean, N::constant(0.5) * rest.ln())
            }
        };
        total = total + normal((mean - mu) / sigma_pop, N::constant(0.0), N::constant(1.0)) + log_slope;
        for &y in data.group(j) {
            total = total + normal(N::constant(y), mean, sigma_obs);
        }
    }
    total
}

/// What [`log_joint`] has and the library leaves out: the terms that do not depend on the position.
pub(crate) fn constant(data: &GroupedData, prior: &HierarchicalPrior) -> f64 {
    let normals = (data.values().len() + data.groups() + 3) as f64;
    2.0 * 2f64.ln()
        - 0.5 * normals * (2.0 * PI).ln()
        - prior.mu_sd.ln()
        - prior.sigma_pop_scale.ln()
        - prior.sigma_obs_scale.ln()
}

/// The derivative of [`log_joint`] along coordinate `i`.
pub(crate) fn derivative(
    data: &GroupedData,
    prior: &HierarchicalPrior,
    centering: Centering,
    at: &[f64],
    i: usize,
) -> f64 {
    let dual: Vec<Dual> =
        at.iter().enumerate().map(|(k, &value)| Dual { value, derivative: f64::from(u8::from(k == i)) }).collect();
    log_joint(data, prior, centering, &dual).derivative
}

/// The log density of the scalars alone, the groups' means integrated out; but for a constant.
pub(crate) fn log_marginal(data: &GroupedData, prior: &HierarchicalPrior, at: &[f64]) -> f64 {
    let groups = data.groups();
    let (mu, log_pop, log_obs) = (at[groups], at[groups + 1], at[groups + 2]);
    let (sigma_pop, sigma_obs) = (log_pop.exp(), log_obs.exp());
    let mut total = normal(mu, prior.mu_mean, prior.mu_sd)
        + half_normal(sigma_pop, prior.sigma_pop_scale)
        + log_pop
        + half_normal(sigma_obs, prior.sigma_obs_scale)
        + log_obs;
    for j in 0..groups {
        let values = data.group(j);
        let count = values.len() as f64;
        let average = values.iter().sum::<f64>() / count;
        let within: f64 = values.iter().map(|y| (y - average) * (y - average)).sum();
        let sd = (sigma_pop * sigma_pop + sigma_obs * sigma_obs / count).sqrt();
        total += normal(average, mu, sd) - (count - 1.0) * log_obs - 0.5 * within / (sigma_obs * sigma_obs);
    }
    total
}
