//! Distributions with moments and quantiles in closed form. Chains are fixed by their seed; a limit of 4.5 standard
//! errors has a false alarm rate of 2e-5 for each comparison when a seed or the code changes.

use crate::densities::{Banana, Gaussian, Wall};
use crate::monte_carlo::{Draws, run};
use octopus_random::exact::normal_quantile;
use octopus_sampler::{MetricKind, SamplerConfig};

const LIMIT: f64 = 4.5;

fn config(metric: MetricKind, draws: usize) -> SamplerConfig {
    SamplerConfig { draws, tune: 600, chains: 4, target_accept: 0.85, seed: 7, metric, ..Default::default() }
}

/// The fractions of draws of a standard normal quantity below its quantiles.
fn check_normal(draws: &Draws, what: &str, standard: impl Fn(&[f64]) -> f64) {
    draws.mean(&standard).check(&format!("{what}: mean"), 0.0, LIMIT);
    draws.mean(|x| standard(x).powi(2)).check(&format!("{what}: variance"), 1.0, LIMIT);
    for p in [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99] {
        let quantile = normal_quantile(p);
        draws.mean(|x| f64::from(u8::from(standard(x) < quantile))).check(&format!("{what}: P({p})"), p, LIMIT);
    }
}

fn check_gaussian(density: &Gaussian, dim: usize, metric: MetricKind, draws: usize) {
    let draws = run(density, config(metric, draws));
    assert_eq!(draws.divergences(), 0);
    for i in 0..dim {
        let sd = density.variance(i).sqrt();
        check_normal(&draws, &format!("{metric:?} x[{i}] of {dim}"), |x| (x[i] - density.mean[i]) / sd);
        if i > 0 {
            let product = |x: &[f64]| (x[i] - density.mean[i]) * (x[i - 1] - density.mean[i - 1]);
            draws.mean(product).check("covariance", density.covariance(i), LIMIT);
        }
    }
}

#[test]
fn a_correlated_gaussian_in_5_dimensions() {
    let density = Gaussian::correlated(5, 0.8);
    for metric in [MetricKind::Diag, MetricKind::DiagDraws, MetricKind::LowRank, MetricKind::Auto] {
        check_gaussian(&density, 5, metric, 5000);
    }
}

#[test]
fn a_correlated_gaussian_in_40_dimensions() {
    let density = Gaussian::correlated(40, 0.6);
    for metric in [MetricKind::Diag, MetricKind::Auto] {
        check_gaussian(&density, 40, metric, 3000);
    }
}

/// Dual averaging brings the mean acceptance near its target; that it lands somewhat above is known, the
/// acceptance being a concave function of the step.
#[test]
fn acceptance_reaches_its_target() {
    let mut steps = Vec::new();
    for target_accept in [0.6, 0.8, 0.9, 0.98] {
        let draws =
            run(&Gaussian::correlated(20, 0.5), SamplerConfig { target_accept, ..config(MetricKind::Auto, 1000) });
        let mean = draws.stats.iter().map(|s| s.acceptance_rate).sum::<f64>() / draws.stats.len() as f64;
        println!("target {target_accept}: {mean}, step {}", draws.stats[0].step_size);
        assert!(mean > target_accept - 0.04, "{mean}, not {target_accept}");
        assert!(mean - target_accept < 0.5 * (1.0 - target_accept), "{mean}, not {target_accept}");
        steps.push(draws.stats[0].step_size);
    }
    assert!(steps.windows(2).all(|pair| pair[0] > pair[1]), "{steps:?}");
}

#[test]
fn a_banana() {
    let density = Banana::new(0.5);
    for metric in [MetricKind::Diag, MetricKind::Auto] {
        let draws = run(&density, SamplerConfig { target_accept: 0.95, ..config(metric, 20_000) });
        check_normal(&draws, "along", |x| x[0]);
        check_normal(&draws, "across", |x| density.across(x));
        check_normal(&draws, "beside", |x| x[2]);
        draws.mean(|x| x[1]).check("mean", 0.0, LIMIT);
        let variance = 2.0 * density.bend * density.bend + Banana::WIDTH * Banana::WIDTH;
        draws.mean(|x| x[1] * x[1]).check("variance", variance, LIMIT);
        draws.mean(|x| x[0] * x[1]).check("covariance", 0.0, LIMIT);
    }
}

/// Behind a wall the density is not finite: many divergences, and still the truncated normal.
#[test]
fn a_truncated_normal() {
    let density = Wall::new(2, 0.7);
    let draws = run(&density, config(MetricKind::DiagDraws, 10_000));
    assert!(draws.divergences() > 100, "{}", draws.divergences());
    // Phi(0.7) and the standard normal density at 0.7.
    let below = 0.758_036_347_776_926_9;
    let ratio = (-0.5f64 * 0.49).exp() / (2.0 * std::f64::consts::PI).sqrt() / below;
    draws.mean(|x| x[0]).check("mean", -ratio, LIMIT);
    draws.mean(|x| x[0] * x[0]).check("second moment", 1.0 - 0.7 * ratio, LIMIT);
    for p in [0.1, 0.5, 0.9] {
        let quantile = normal_quantile(p * below);
        draws.mean(|x| f64::from(u8::from(x[0] < quantile))).check("quantile", p, LIMIT);
    }
    check_normal(&draws, "free coordinate", |x| x[1]);
}
