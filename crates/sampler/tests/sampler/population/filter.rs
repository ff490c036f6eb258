//! The particle filter against Kalman's and the forward algorithm.

use super::check_bits;
use octopus_density::{StateNoise, StateSpaceModel};
use octopus_models::state_space::{ExactFilter, HiddenMarkov, LinearGaussian};
use octopus_sampler::{FilterSize, SamplerError, particle_filter};

/// The models that ship, with their exact filters.
fn models() -> [(&'static str, Box<dyn StateSpaceModel>, ExactFilter); 2] {
    let (level, states) = (LinearGaussian::shipped(), HiddenMarkov::shipped());
    let (kalman, forward) = (level.kalman(), states.forward());
    [("state-space", Box::new(level), kalman), ("hmm", Box::new(states), forward)]
}

/// The mean of the likelihood itself, not of its logarithm, is the exact one; so are filtered means, but for a bias of the
/// order of 1 over the number of particles.
#[test]
fn likelihoods_have_no_bias_and_means_are_right() {
    for (name, model, exact) in models() {
        for (particles, repetitions) in [(100, 2000), (1000, 200), (10_000, 30)] {
            let found = particle_filter(&*model, FilterSize { particles, repetitions }, 7).expect("possible");
            let likelihoods: Vec<f64> =
                found.log_likelihoods.iter().map(|log| (log - exact.log_likelihood).exp()).collect();
            let count = repetitions as f64;
            let mean = likelihoods.iter().sum::<f64>() / count;
            let variance = likelihoods.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0);
            let error = (variance / count).sqrt();
            println!(
                "{name}, {particles} particles: {mean:.4} +- {error:.4} of the likelihood, sd {:.3}",
                variance.sqrt()
            );
            assert!((mean - 1.0).abs() < 4.0 * error && error < 0.04, "{name} {particles}: {mean} +- {error}");
            // The same as the filter tells of itself.
            let told = found.evidence;
            assert!((told.log_evidence - exact.log_likelihood - mean.ln()).abs() < 1e-9, "{told:?}");
            assert!((told.standard_error / (error / mean) - 1.0).abs() < 1e-9, "{told:?} {error}");
            let bias = 4.0 / particles as f64;
            for (step, expected) in exact.means.iter().enumerate() {
                let (mean, error) = (found.means[step], found.errors[step]);
                assert!(
                    (mean - expected).abs() < 4.5 * error + bias,
                    "{name} {particles} {step}: {mean} +- {error}, {expected}"
                );
                assert!(
                    error < 0.02 && found.ess[step] > 0.05 * particles as f64,
                    "{name} {particles} {step}: {error}"
                );
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let model = LinearGaussian::shipped();
    check_bits(|| particle_filter(&model, FilterSize { particles: 1500, repetitions: 7 }, 5).expect("possible"));
}

/// A part of the particles at the end, and one repetition, of which no error is known.
#[test]
fn any_number_of_particles_will_do() {
    let (model, exact) = (LinearGaussian::shipped(), LinearGaussian::shipped().kalman());
    for particles in [2, 7, 1023, 1025, 2051] {
        let found = particle_filter(&model, FilterSize { particles, repetitions: 1 }, 3).expect("possible");
        let off = found.log_likelihoods[0] - exact.log_likelihood;
        let count = particles as f64;
        assert!(off.abs() < 30.0 / count.sqrt() + 200.0 / count, "{particles}: {off}");
        assert_eq!(
            (found.evidence.log_evidence, found.evidence.standard_error),
            (found.log_likelihoods[0], f64::INFINITY)
        );
        assert!(found.ess.iter().all(|ess| (1.0..=count * 1.000_001).contains(ess)), "{:?}", found.ess);
    }
}

/// A model by which nothing can be observed.
struct Impossible;

impl StateSpaceModel for Impossible {
    fn steps(&self) -> usize {
        3
    }

    fn noise(&self) -> StateNoise {
        StateNoise::Uniform
    }

    fn advance(&self, _: usize, _: &[f64], _: &mut [f64]) {}

    fn log_likelihood(&self, step: usize, _: &[f64], out: &mut [f64]) {
        out.fill(if step == 1 { f64::NEG_INFINITY } else { 0.0 });
    }
}

#[test]
fn what_cannot_be_filtered_is_an_error() {
    let of = |particles, repetitions| particle_filter(&Impossible, FilterSize { particles, repetitions }, 1);
    assert!(matches!(of(10, 2), Err(SamplerError::NoWeights)));
    for (size, field) in [((1, 1), "particles"), ((10, 0), "repetitions")] {
        let error = of(size.0, size.1).expect_err("out of range");
        assert!(matches!(&error, SamplerError::Config(config) if config.field == field), "{error:?}");
    }
}
