//! The model as its definition reads: a sum of normal log densities, one observation after another.

use crate::number::{Dual, Number};
use octopus_density::{GroupedData, HierarchicalPrior};
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
/// log sigma_obs` where `x_j = sigma_pop^lambda_j z_j + lambda_j mu_pop`; with the Jacobians of `exp` and of
/// the centering.
pub(crate) fn log_joint<N: Number>(data: &GroupedData, prior: &HierarchicalPrior, lambda: &[f64], at: &[N]) -> N {
    let groups = data.groups();
    let (mu, log_pop, log_obs) = (at[groups], at[groups + 1], at[groups + 2]);
    let (sigma_pop, sigma_obs) = (log_pop.exp(), log_obs.exp());
    let mut total = normal(mu, N::constant(prior.mu_mean), N::constant(prior.mu_sd))
        + half_normal(sigma_pop, prior.sigma_pop_scale)
        + log_pop
        + half_normal(sigma_obs, prior.sigma_obs_scale)
        + log_obs;
    for j in 0..groups {
        let lambda = N::constant(lambda[j]);
        let z = (at[j] - lambda * mu) / (lambda * log_pop).exp();
        // dz/dx = sigma_pop^-lambda
        total = total + normal(z, N::constant(0.0), N::constant(1.0)) - lambda * log_pop;
        let mean = mu + sigma_pop * z;
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
pub(crate) fn derivative(data: &GroupedData, prior: &HierarchicalPrior, lambda: &[f64], at: &[f64], i: usize) -> f64 {
    let dual: Vec<Dual> =
        at.iter().enumerate().map(|(k, &value)| Dual { value, derivative: f64::from(u8::from(k == i)) }).collect();
    log_joint(data, prior, lambda, &dual).derivative
}
