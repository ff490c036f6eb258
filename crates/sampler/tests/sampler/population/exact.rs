//! Logarithms of integrals of densities as they are given, constants left out as there, and moments of weighted particles.

use octopus_density::{GroupedData, LogDensity};
use octopus_models::exact::ExactPosterior;
use octopus_models::{EightSchools, HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_sampler::ParticlePopulation;
use std::f64::consts::PI;

/// Rubin's eight schools: all but tau by the conjugate normal, tau by the trapezoidal rule over its logarithm.
pub(crate) fn eight_schools_log_integral(model: &EightSchools) -> f64 {
    const STEP: f64 = 0.02;
    let at = |log_tau: f64| {
        let (mut precision, mut weighted, mut log) = (1.0 / 25.0, 0.0, log_tau - (log_tau.exp() / 5.0).powi(2).ln_1p());
        for (y, sigma) in model.y().iter().zip(model.sigma()) {
            let variance = log_tau.exp().powi(2) + sigma * sigma;
            // The integral over theta_trans, of two normals' kernels.
            log += 0.5 * (2.0 * PI * sigma * sigma / variance).ln() - 0.5 * y * y / variance;
            precision += 1.0 / variance;
            weighted += y / variance;
        }
        (log + 0.5 * weighted * weighted / precision + 0.5 * (2.0 * PI / precision).ln()).exp()
    };
    ((-3000..1000).map(|k| at(f64::from(k) * STEP)).sum::<f64>() * STEP).ln()
}

/// A hierarchical normal model with the logarithm of its integral.
pub(crate) fn hierarchical(data: GroupedData) -> (HierarchicalNormal, ExactPosterior, f64) {
    let prior = HierarchicalPrior::default();
    let exact = ExactPosterior::compute(&data, &prior).expect("converges");
    let model = HierarchicalNormal::new(data, prior, Likelihood::Collapsed).expect("valid");
    // What the density leaves out, at any point.
    let x: Vec<f64> = (0..model.dim()).map(|i| 0.3 * f64::from(i as u32 % 7) - 0.5).collect();
    let [mu, log_between, log_within] = x[x.len() - 3..] else { panic!("three scalars") };
    let mut terms = vec![0.0; model.observations()];
    model.log_likelihood(&x, &mut terms);
    let normal = |z: f64, sd: f64| -0.5 * z * z - (sd * (2.0 * PI).sqrt()).ln();
    let half = |log: f64, scale: f64| normal(log.exp() / scale, scale) + 2f64.ln() + log;
    let whole = terms.iter().sum::<f64>()
        + x[..x.len() - 3].iter().map(|z| normal(*z, 1.0)).sum::<f64>()
        + normal((mu - prior.mu_mean) / prior.mu_sd, prior.mu_sd)
        + half(log_between, prior.sigma_pop_scale)
        + half(log_within, prior.sigma_obs_scale);
    let logp = model.logp_grad(&x, &mut vec![0.0; x.len()]).expect("finite");
    let log_integral = exact.log_marginal_likelihood - (whole - logp);
    (model, exact, log_integral)
}

/// The mean of `f` by the particles' weights, with its standard error.
pub(crate) fn weighted_mean(population: &ParticlePopulation, f: impl Fn(&[f64]) -> f64) -> [f64; 2] {
    let highest = population.log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = population.log_weights.iter().map(|w| (w - highest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let values: Vec<f64> = (0..population.particles()).map(|i| f(population.position(i))).collect();
    let mean = weights.iter().zip(&values).map(|(w, f)| w * f).sum::<f64>() / sum;
    let square = weights.iter().zip(&values).map(|(w, f)| (w * (f - mean)).powi(2)).sum::<f64>();
    [mean, square.sqrt() / sum]
}
