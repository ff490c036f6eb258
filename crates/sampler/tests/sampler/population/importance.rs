//! Importance sampling.

use super::{check_bits, check_errors, check_evidence, check_mean, exact, expand};
use crate::densities::{Breaking, Funnel, Gaussian, Wall};
use crate::hierarchical::{balanced, unbalanced};
use octopus_models::EightSchools;
use octopus_models::exact::SchoolsPosterior;
use octopus_random::{Stream, exact as elementary};
use octopus_sampler::{ImportanceConfig, ImportanceProposal, SamplerError, importance, importance_from_prior};
use std::f64::consts::PI;

fn config(proposal: ImportanceProposal, degrees: f64) -> ImportanceConfig {
    ImportanceConfig { particles: 20_000, proposal, degrees }
}

/// A normal that touches a normal is the normal: all weights are its integral, whatever the random numbers.
#[test]
fn a_normal_touches_itself() {
    let density = Gaussian::correlated(10, 0.5);
    let found = importance(&density, &config(ImportanceProposal::Laplace, f64::INFINITY), 1).expect("draws");
    assert!((found.evidence.log_evidence - density.log_integral()).abs() < 1e-6, "{:?}", found.evidence);
    assert!(found.ess > 0.999 * 20_000.0 && found.is_reliable(), "{} {:?}", found.ess, found.pareto_k);
    let found = importance(&density, &ImportanceConfig::default(), 1).expect("draws");
    check_evidence("normal", found.evidence, density.log_integral());
    for i in 0..10 {
        check_mean("mean", &found, density.mean[i], |x| x[i]);
        check_mean("variance", &found, density.variance(i), |x| (x[i] - density.mean[i]).powi(2));
    }
}

#[test]
fn hierarchical_normals() {
    for (what, data) in [("balanced", balanced(10)), ("unbalanced", unbalanced(10)), ("100 groups", balanced(100))] {
        let (model, posterior, log_integral) = exact::hierarchical(data);
        for proposal in [ImportanceProposal::Laplace, ImportanceProposal::Mixture] {
            let found = importance(&model, &config(proposal, 20.0), 2).expect("draws");
            assert!(found.is_reliable(), "{what}: {:?}", found.pareto_k);
            check_evidence(what, found.evidence, log_integral);
            for (i, moments) in [posterior.mu_pop, posterior.sigma_pop, posterior.sigma_obs].iter().enumerate() {
                check_mean(what, &found, moments.mean, |x| expand(&model, x)[i]);
            }
        }
    }
}

#[test]
fn eight_schools() {
    let model = EightSchools::rubin();
    let found = importance(&model, &config(ImportanceProposal::Mixture, 5.0), 3).expect("draws");
    assert!(found.is_reliable(), "{:?}", found.pareto_k);
    check_evidence("eight schools", found.evidence, exact::eight_schools_log_integral(&model));
    let posterior = SchoolsPosterior::compute(&model);
    check_mean("mu", &found, posterior.mu.mean, |x| expand(&model, x)[0]);
    check_mean("tau", &found, posterior.tau.mean, |x| expand(&model, x)[1]);
    // Draws that weigh the same have the same mean, with a standard error of 0.03.
    let draws = found.resample(20_000, 3).expect("weights");
    let mean = draws.iter().map(|&draw| expand(&model, found.position(draw))[0]).sum::<f64>() / 20_000.0;
    assert!((mean - posterior.mu.mean).abs() < 0.15, "{mean}");
}

/// Draws from the prior of eight schools.
pub(super) fn of_prior(random: &mut Stream) -> Vec<f64> {
    let mut x: Vec<f64> = (0..8).map(|_| random.normal()).collect();
    x.push(5.0 * random.normal());
    x.push(elementary::ln(5.0 * elementary::tan(0.5 * PI * random.uniform())));
    x
}

/// The likelihood alone weights draws of the prior: the evidence has all constants.
#[test]
fn the_prior_as_proposal() {
    let model = EightSchools::rubin();
    let found = importance_from_prior(&model, of_prior, 40_000, 4).expect("draws");
    let normals: f64 = model.sigma().iter().chain(&[5.0]).map(|sd| (sd * (2.0 * PI).sqrt()).ln()).sum();
    let constants = (2.0 / (5.0 * PI)).ln() - normals - 4.0 * (2.0 * PI).ln();
    check_evidence("prior", found.evidence, exact::eight_schools_log_integral(&model) + constants);
    let error =
        importance_from_prior(&Gaussian::correlated(3, 0.0), |_| vec![0.0; 3], 10, 1).expect_err("no likelihood");
    assert!(matches!(&error, SamplerError::NoLikelihood { density } if density == "gaussian"), "{error}");
}

/// Neal's funnel has no shape that a normal could take on: Pareto k says so, whatever the seed.
#[test]
fn a_funnel_is_not_reliable() {
    for seed in 1..=5 {
        for proposal in [ImportanceProposal::Laplace, ImportanceProposal::Mixture] {
            let config = ImportanceConfig { particles: 2000, proposal, ..Default::default() };
            let found = importance(&Funnel::new(10), &config, seed).expect("draws");
            assert!(
                found.pareto_k.is_some_and(|k| k > 0.7) && !found.is_reliable(),
                "{seed} {proposal:?}: {:?}",
                found.pareto_k
            );
        }
    }
}

#[test]
fn errors_of_the_evidence_are_honest() {
    let config = ImportanceConfig { particles: 1000, ..Default::default() };
    let normal = Gaussian::correlated(10, 0.5);
    check_errors("normal", normal.log_integral(), |seed| importance(&normal, &config, seed).expect("draws").evidence);
    let (model, _, log_integral) = exact::hierarchical(balanced(10));
    check_errors("hierarchical", log_integral, |seed| importance(&model, &config, seed).expect("draws").evidence);
}

#[test]
fn threads_change_no_bit() {
    check_bits(|| importance(&EightSchools::rubin(), &config(ImportanceProposal::Mixture, 5.0), 5).expect("draws"));
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let density = Gaussian::correlated(3, 0.0);
    for (field, config) in [
        ("particles", ImportanceConfig { particles: 1, ..Default::default() }),
        ("degrees", ImportanceConfig { degrees: 0.5, ..Default::default() }),
        ("degrees", ImportanceConfig { degrees: f64::NAN, ..Default::default() }),
    ] {
        let error = importance(&density, &config, 1).expect_err("out of range");
        assert!(matches!(&error, SamplerError::Config(config) if config.field == field), "{error:?}");
    }
    let error = importance(&Breaking::after(30), &ImportanceConfig::default(), 1).expect_err("it breaks");
    assert!(error.to_string().contains(Breaking::MESSAGE), "{error}");
    let error = importance(&Gaussian::correlated(3000, 0.0), &ImportanceConfig::default(), 1).expect_err("too many");
    assert!(matches!(error, SamplerError::ManyCoordinates { dim: 3000, .. }), "{error}");
    // Where the density vanishes particles weigh nothing: half of a normal has half of its integral.
    let half = importance(&Wall::new(2, 0.0), &config(ImportanceProposal::Mixture, 5.0), 1).expect("draws");
    check_evidence("half", half.evidence, PI.ln());
}
