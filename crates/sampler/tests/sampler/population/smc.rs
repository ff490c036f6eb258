//! Sequential Monte Carlo.

use super::{check_bits, check_errors, check_evidence, check_mean, exact, expand};
use crate::densities::{Banana, Bimodal, Breaking, Gaussian};
use crate::hierarchical::{balanced, unbalanced};
use octopus_models::EightSchools;
use octopus_models::exact::SchoolsPosterior;
use octopus_sampler::{SamplerError, SmcConfig, SmcSize, smc};
use std::f64::consts::PI;

/// Four repetitions.
fn of(particles: usize) -> SmcSize {
    SmcSize { repetitions: 4, particles }
}

#[test]
fn a_normal() {
    let density = Gaussian::correlated(10, 0.5);
    let found = smc(&density, &SmcConfig::default(), of(1000), 1).expect("draws");
    assert!(found.mixed());
    check_evidence("normal", found.population.evidence, density.log_integral());
    for i in 0..10 {
        check_mean("mean", &found.population, density.mean[i], |x| x[i]);
        check_mean("variance", &found.population, density.variance(i), |x| (x[i] - density.mean[i]).powi(2));
    }
}

#[test]
fn hierarchical_normals() {
    for (what, data) in [("balanced", balanced(10)), ("unbalanced", unbalanced(10))] {
        let (model, posterior, log_integral) = exact::hierarchical(data);
        let found = smc(&model, &SmcConfig::default(), of(2000), 2).expect("draws");
        assert!(found.mixed());
        check_evidence(what, found.population.evidence, log_integral);
        for (i, moments) in [posterior.mu_pop, posterior.sigma_pop, posterior.sigma_obs].iter().enumerate() {
            check_mean(what, &found.population, moments.mean, |x| expand(&model, x)[i]);
        }
    }
}

#[test]
fn eight_schools() {
    let model = EightSchools::rubin();
    let found = smc(&model, &SmcConfig::default(), of(2000), 5).expect("draws");
    check_evidence("eight schools", found.population.evidence, exact::eight_schools_log_integral(&model));
    let posterior = SchoolsPosterior::compute(&model);
    check_mean("mu", &found.population, posterior.mu.mean, |x| expand(&model, x)[0]);
    check_mean("tau", &found.population, posterior.tau.mean, |x| expand(&model, x)[1]);
}

/// What no normal is near to: a bent density.
#[test]
fn a_banana() {
    let density = Banana::new(0.5);
    let found = smc(&density, &SmcConfig::default(), of(1000), 4).expect("draws");
    assert!(found.mixed());
    let evidence = found.population.evidence;
    let error = evidence.log_evidence - (Banana::WIDTH.ln() + 1.5 * (2.0 * PI).ln());
    assert!(error.abs() < 4.0 * evidence.standard_error && error.abs() < 0.08, "{evidence:?}: {error}");
    check_mean("along", &found.population, 1.0, |x| x[0] * x[0]);
    check_mean("across", &found.population, 1.0, |x| density.across(x).powi(2));
}

/// Between two modes no particle moves: that is said, and each has its share.
#[test]
fn two_modes() {
    let found = smc(&Bimodal::default(), &SmcConfig::default(), of(200), 1).expect("draws");
    assert!(!found.mixed());
    let right = exact::weighted_mean(&found.population, |x| f64::from(u8::from(x[0] > 0.0)))[0];
    assert!((right - 0.5).abs() < 0.1, "{right}");
    let error = found.population.evidence.log_evidence - (32.0 + (2.0 * PI).ln() + 2f64.ln());
    assert!(error.abs() < 4.0 * found.population.evidence.standard_error, "{error}");
}

#[test]
fn errors_of_the_evidence_are_honest() {
    let size = SmcSize { repetitions: 1, particles: 200 };
    let (model, _, log_integral) = exact::hierarchical(balanced(10));
    check_errors("hierarchical", log_integral, |seed| {
        smc(&model, &SmcConfig::default(), size, seed).expect("draws").population.evidence
    });
}

#[test]
fn threads_change_no_bit() {
    let size = SmcSize { repetitions: 2, particles: 300 };
    check_bits(|| smc(&EightSchools::rubin(), &SmcConfig::default(), size, 5).expect("draws"));
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    for (field, ess_share, repetitions, particles) in [
        ("particles", 0.5, 4, 9),
        ("particles", 0.5, 4, usize::MAX),
        ("repetitions", 0.5, 0, 100),
        ("ess_share", 1.0, 4, 100),
        ("ess_share", f64::NAN, 4, 100),
    ] {
        let (config, size) = (SmcConfig { ess_share }, SmcSize { repetitions, particles });
        let error = smc(&Gaussian::correlated(3, 0.0), &config, size, 1).expect_err("out of range");
        assert!(matches!(&error, SamplerError::Config(config) if config.field == field), "{error:?}");
    }
    let error = smc(&Breaking::after(2000), &SmcConfig::default(), of(1000), 1).expect_err("it breaks");
    assert!(error.to_string().contains(Breaking::MESSAGE), "{error}");
}
