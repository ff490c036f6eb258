//! Pathfinder.

use super::{check_bits, check_errors, check_evidence, check_mean, exact, expand};
use crate::densities::{Bimodal, Breaking, Funnel, Gaussian};
use crate::hierarchical::{balanced, unbalanced};
use octopus_models::EightSchools;
use octopus_sampler::{PathfinderConfig, SamplerError, pathfinder};
use std::f64::consts::PI;

fn config() -> PathfinderConfig {
    PathfinderConfig { draws_per_path: 4000, ..Default::default() }
}

#[test]
fn posteriors_near_a_normal() {
    let density = Gaussian::correlated(10, 0.5);
    let found = pathfinder(&density, &config(), 1).expect("draws");
    check_evidence("normal", found.evidence, density.log_integral());
    for i in 0..10 {
        check_mean("mean", &found, density.mean[i], |x| x[i]);
    }
    for (what, data) in [("balanced", balanced(10)), ("unbalanced", unbalanced(10))] {
        let (model, posterior, log_integral) = exact::hierarchical(data);
        let found = pathfinder(&model, &config(), 1).expect("draws");
        assert!(found.is_reliable(), "{what}: {:?}", found.pareto_k);
        check_evidence(what, found.evidence, log_integral);
        for (i, moments) in [posterior.mu_pop, posterior.sigma_pop, posterior.sigma_obs].iter().enumerate() {
            check_mean(what, &found, moments.mean, |x| expand(&model, x)[i]);
        }
    }
}

/// Two modes of 1 to 1, also where three of four paths end in one of them.
#[test]
fn a_mode_counts_once() {
    for seed in 1..=20 {
        let found = pathfinder(&Bimodal::default(), &PathfinderConfig::default(), seed).expect("draws");
        let right = exact::weighted_mean(&found, |x| f64::from(u8::from(x[0] > 0.0)))[0];
        let one_mode = !(0.001..0.999).contains(&right);
        let expected = 32.0 + (2.0 * PI).ln() + if one_mode { 0.0 } else { 2f64.ln() };
        assert!(one_mode || (right - 0.5).abs() < 0.03, "{seed}: {right}");
        assert!((found.evidence.log_evidence - expected).abs() < 0.02, "{seed}: {:?} {right}", found.evidence);
    }
}

/// Neal's funnel has no shape that a normal could take on: Pareto k says so, whatever the seed.
#[test]
fn a_funnel_is_not_reliable() {
    for seed in 1..=5 {
        let found = pathfinder(&Funnel::new(10), &PathfinderConfig::default(), seed).expect("draws");
        assert!(found.pareto_k.is_some_and(|k| k > 0.7) && !found.is_reliable(), "{seed}: {:?}", found.pareto_k);
    }
}

#[test]
fn errors_of_the_evidence_are_honest() {
    let (model, _, log_integral) = exact::hierarchical(balanced(10));
    let config = PathfinderConfig { draws_per_path: 300, ..Default::default() };
    check_errors("hierarchical", log_integral, |seed| pathfinder(&model, &config, seed).expect("draws").evidence);
}

#[test]
fn threads_change_no_bit() {
    check_bits(|| pathfinder(&EightSchools::rubin(), &PathfinderConfig::default(), 5).expect("draws"));
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let plain = PathfinderConfig::default;
    for (field, config) in [
        ("paths", PathfinderConfig { paths: 0, ..plain() }),
        ("elbo_draws", PathfinderConfig { elbo_draws: 0, ..plain() }),
        ("draws_per_path", PathfinderConfig { draws_per_path: 0, ..plain() }),
        ("draws_per_path", PathfinderConfig { draws_per_path: usize::MAX, ..plain() }),
    ] {
        let error = pathfinder(&Gaussian::correlated(3, 0.0), &config, 1).expect_err("out of range");
        assert!(matches!(&error, SamplerError::Config(config) if config.field == field), "{error:?}");
    }
    let error = pathfinder(&Breaking::after(30), &plain(), 1).expect_err("it breaks");
    assert!(error.to_string().contains(Breaking::MESSAGE), "{error}");
}
