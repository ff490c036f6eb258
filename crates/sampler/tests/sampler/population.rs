//! Importance sampling, sequential Monte Carlo and Pathfinder against exact posteriors and their evidences.

mod exact;
mod filter;
mod importance;
mod pathfinder;
mod runs;
mod smc;

use octopus_density::LogDensity;
use octopus_sampler::{ParticlePopulation, PopulationEvidence};
use std::fmt::Debug;

/// # Panics
/// When the evidence is farther than 0.02 or 4 standard errors from `expected`.
fn check_evidence(what: &str, evidence: PopulationEvidence, expected: f64) {
    let PopulationEvidence { log_evidence, standard_error } = evidence;
    let error = log_evidence - expected;
    println!("{what}: {log_evidence} +- {standard_error}, {error} from {expected}");
    assert!(error.abs() < 0.02 && error.abs() < 4.0 * standard_error, "{what}: {evidence:?}, not {expected}");
}

/// # Panics
/// When a mean by the particles' weights is more than 4 standard errors from `expected`.
fn check_mean(what: &str, population: &ParticlePopulation, expected: f64, f: impl Fn(&[f64]) -> f64) {
    let [mean, error] = exact::weighted_mean(population, f);
    assert!((mean - expected).abs() < 4.0 * error, "{what}: {mean} +- {error}, not {expected}");
}

/// # Panics
/// When the standardised errors of the evidence over 200 seeds have not about the mean 0 and the standard deviation 1.
fn check_errors(what: &str, expected: f64, draw: impl Fn(u64) -> PopulationEvidence) {
    const SEEDS: u64 = 200;
    let z: Vec<f64> =
        (1..=SEEDS).map(draw).map(|found| (found.log_evidence - expected) / found.standard_error).collect();
    let mean = z.iter().sum::<f64>() / SEEDS as f64;
    let sd = (z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64).sqrt();
    println!("{what}: standardised errors have mean {mean:.3} and sd {sd:.3}");
    // The mean has a standard error of 0.07, the sd of 0.05; the logarithm of an estimate without bias has a small one.
    assert!(mean.abs() < 0.35 && (0.8..1.2).contains(&sd), "{what}: mean {mean}, sd {sd}");
}

/// # Panics
/// When pools of one thread and of three do not give the same.
fn check_bits<T: PartialEq + Debug + Send>(draw: impl Fn() -> T + Sync) {
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(&draw);
    assert_eq!(on(1), on(3));
}

/// Returns the variables of a position.
fn expand(density: &dyn LogDensity, x: &[f64]) -> Vec<f64> {
    let mut variables = vec![0.0; density.layout().width()];
    density.expand(x, &mut variables);
    variables
}
