//! The model as its definition reads: a sum of normal log densities, one observation after another.

use crate::number::{Dual, Number};
use octopus_density::{Centering, GroupedData};
use octopus_models::HierarchicalPrior;
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

/// A single observation says nothing of the noise: its standardised coordinates are non-centered ones.
pub(crate) fn effective(data: &GroupedData, centering: Centering) -> Centering {
    match centering {
        Centering::Standardised if data.values().len() == 1 => Centering::NonCentered,
        other => other,
    }
}

/// mu_pop, log sigma_pop and log sigma_obs at a position in the coordinates of `centering`, and the log-Jacobian of these
/// three. Standardised ones take all groups to have the mean size, and the data for what they say of the noise, given the
/// ratio of the scales, and of mu_pop, given both.
pub(crate) fn scalars<N: Number>(
    data: &GroupedData,
    prior: &HierarchicalPrior,
    centering: Centering,
    at: &[N],
) -> ([N; 3], N) {
    let groups = data.groups();
    let [x, v, u] = [at[groups], at[groups + 1], at[groups + 2]];
    if effective(data, centering) != Centering::Standardised {
        return ([x, v, u], N::constant(0.0));
    }
    let constant = N::constant;
    let all = data.values();
    let (observations, one) = (all.len() as f64, constant(1.0));
    let size = observations / groups as f64;
    let grand = all.iter().sum::<f64>() / observations;
    let (mut within, mut between) = (0.0, 0.0);
    for values in (0..groups).map(|j| data.group(j)) {
        let average = values.iter().sum::<f64>() / values.len() as f64;
        within += values.iter().map(|y| (y - average).powi(2)).sum::<f64>();
        between += values.len() as f64 * (average - grand).powi(2);
    }
    let ratio = v.exp();
    let squares = constant(within) + constant(between) / (one + constant(size) * ratio * ratio);
    let sigma_obs = (squares / constant(observations)).sqrt() * u.exp();
    let sigma_pop = ratio * sigma_obs;
    // What the groups' averages know of mu_pop, and what its prior does.
    let of_average = sigma_pop * sigma_pop + sigma_obs * sigma_obs / constant(size);
    let by_data = constant(groups as f64) / of_average;
    let by_prior = constant(1.0 / (prior.mu_sd * prior.mu_sd));
    let sd = one / (by_data + by_prior).sqrt();
    let mean = constant(prior.mu_mean) + by_data / (by_data + by_prior) * constant(grand - prior.mu_mean);
    ([mean + sd * x, sigma_pop.ln(), sigma_obs.ln()], sd.ln())
}

/// The log joint density, every constant included, at the coordinates `x_0 .. x_{G-1}, mu_pop, log sigma_pop,
/// log sigma_obs`, or those that `centering` has in their place; with the Jacobians of `exp` and of the centering.
pub(crate) fn log_joint<N: Number>(data: &GroupedData, prior: &HierarchicalPrior, centering: Centering, at: &[N]) -> N {
    let groups = data.groups();
    let centering = effective(data, centering);
    let ([mu, log_pop, log_obs], log_sd) = scalars(data, prior, centering, at);
    let (sigma_pop, sigma_obs) = (log_pop.exp(), log_obs.exp());
    let mut total = normal(mu, N::constant(prior.mu_mean), N::constant(prior.mu_sd))
        + half_normal(sigma_pop, prior.sigma_pop_scale)
        + log_pop
        + half_normal(sigma_obs, prior.sigma_obs_scale)
        + log_obs
        + log_sd;
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

/// The log density of the natural scalars alone, the groups' means integrated out; but for a constant.
pub(crate) fn log_marginal(data: &GroupedData, prior: &HierarchicalPrior, [mu, log_pop, log_obs]: [f64; 3]) -> f64 {
    let groups = data.groups();
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
