//! Log densities with their constants are prior times likelihood, term by term.

use octopus_density::{GroupedData, Labels, LogDensity};
use octopus_models::{EightSchools, HierarchicalNormal, HierarchicalPrior, Likelihood};
use std::f64::consts::PI;

fn normal(x: f64, mean: f64, sd: f64) -> f64 {
    -0.5 * ((x - mean) / sd).powi(2) - sd.ln() - 0.5 * (2.0 * PI).ln()
}

/// The log density of all terms at a point, the log likelihoods by the density itself, and Jacobians of logarithms.
fn check(density: &dyn LogDensity, position: &[f64], prior_and_jacobian: f64) {
    let mut likelihood = vec![0.0; density.observations()];
    density.log_likelihood(position, &mut likelihood);
    let expected = prior_and_jacobian + likelihood.iter().sum::<f64>();
    let found = density.logp_grad(position, &mut vec![0.0; position.len()]).unwrap() + density.log_constant().unwrap();
    assert!((found - expected).abs() < 1e-12 * expected.abs(), "{found}, not {expected}");
}

#[test]
fn the_hierarchical_normal_has_all_constants() {
    let data = GroupedData::new(Labels::Range(3), &[0, 0, 1, 2, 2, 2], &[48.0, 51.0, 62.0, 40.0, 41.5, 44.0]).unwrap();
    let prior = HierarchicalPrior { mu_mean: 45.0, mu_sd: 17.0, sigma_pop_scale: 12.0, sigma_obs_scale: 4.0 };
    for likelihood in Likelihood::ALL {
        let density = HierarchicalNormal::new(data.clone(), prior, likelihood).unwrap();
        let [mu, log_pop, log_obs] = [49.0, 2.1, 0.7];
        let half = |log: f64, scale: f64| 2_f64.ln() + normal(f64::exp(log), 0.0, scale) + log;
        let effects = [0.3, -1.2, 0.8];
        let prior = effects.iter().map(|&z| normal(z, 0.0, 1.0)).sum::<f64>()
            + normal(mu, 45.0, 17.0)
            + half(log_pop, 12.0)
            + half(log_obs, 4.0);
        check(&density, &[effects.as_slice(), &[mu, log_pop, log_obs]].concat(), prior);
    }
}

#[test]
fn eight_schools_have_all_constants() {
    let effects = [0.3, -1.2, 0.8, 0.1, -0.4, 1.5, 0.0, -0.9];
    let (mu, log_tau) = (4.4, 1.1);
    let tau = f64::exp(log_tau);
    let cauchy = (2.0 / (PI * 5.0 * (1.0 + (tau / 5.0).powi(2)))).ln() + log_tau;
    let prior = effects.iter().map(|&z| normal(z, 0.0, 1.0)).sum::<f64>() + normal(mu, 0.0, 5.0) + cauchy;
    check(&EightSchools::rubin(), &[effects.as_slice(), &[mu, log_tau]].concat(), prior);
}
