//! The bootstrap particle filter: hidden states of a state-space model by particles, observation by observation.

use super::PopulationEvidence;
use super::evaluate::ParticleStreams;
use super::importance::check_particles;
use super::weights::{WeightMoments, systematic};
use crate::config::ConfigError;
use crate::error::SamplerError;
use octopus_density::{StateNoise, StateSpaceModel};
use octopus_random::{Draw, Key, Normal, Uniform, exact, warp};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Particles that are moved at a time: their random numbers stay in the nearest cache.
const AT_ONCE: usize = 1024;
/// Lanes of each sum over particles.
const LANES: usize = 8;

/// The size of a particle filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterSize {
    /// The number of particles.
    pub particles: usize,
    /// How often the filter is repeated with other random numbers, at least once: from their differences comes the error.
    pub repetitions: usize,
}

/// What a particle filter has found.
#[derive(Clone, Debug, PartialEq)]
pub struct FilteredStates {
    /// The logarithm of the mean likelihood over all repetitions, and its standard error: infinite for one repetition. The
    /// likelihood itself is estimated without bias.
    pub evidence: PopulationEvidence,
    /// The logarithm of the likelihood by each repetition.
    pub log_likelihoods: Vec<f64>,
    /// The mean of each state given the observations up to its own: that of all repetitions.
    pub means: Vec<f64>,
    /// The standard errors of the means, infinite for one repetition.
    pub errors: Vec<f64>,
    /// At each step, how many draws the particles are worth by their weights (Kish): the mean over the repetitions.
    pub ess: Vec<f64>,
}

/// Filters the states of a model by particles that move as the states do and are weighted by the observations (Gordon,
/// Salmond and Smith 1993). Where the weights are worth less than half of the particles, these are drawn anew by systematic
/// resampling.
///
/// Particle `i` of a repetition takes random number `i` of each step: threads change no bit.
///
/// # Errors
/// When there are fewer than two particles or no repetition; [`SamplerError::NoWeights`] when an observation is impossible
/// by all particles.
pub fn particle_filter(
    model: &dyn StateSpaceModel,
    size: FilterSize,
    seed: u64,
) -> Result<FilteredStates, SamplerError> {
    check_particles(size.particles)?;
    if size.repetitions == 0 {
        return Err(ConfigError { field: "repetitions", value: "0".to_owned(), expected: "at least 1" }.into());
    }
    let filter = |repetition| Filter::new(size.particles).run(model, ParticleStreams::new(seed, repetition));
    let all: Vec<Filtered> = (0..size.repetitions).into_par_iter().map(filter).collect::<Result<_, _>>()?;
    let log_likelihoods: Vec<f64> = all.iter().map(|one| one.log_likelihood).collect();
    let moments = WeightMoments::of(log_likelihoods.iter().copied()).ok_or(SamplerError::NoWeights)?;
    let count = size.repetitions as f64;
    // The variance of a mean of independent numbers, given their variance over `count`.
    let error = |variance: f64| if count > 1.0 { (variance / (count - 1.0)).sqrt() } else { f64::INFINITY };
    let mean = |of: &dyn Fn(&Filtered) -> f64| all.iter().map(of).sum::<f64>() / count;
    let steps = 0..model.steps();
    let means: Vec<f64> = steps.clone().map(|step| mean(&|one| one.steps[step].mean)).collect();
    let errors = means.iter().enumerate();
    let errors = errors.map(|(step, center)| error(mean(&|one| (one.steps[step].mean - center).powi(2)))).collect();
    Ok(FilteredStates {
        evidence: PopulationEvidence {
            log_evidence: moments.log_mean,
            standard_error: error(moments.relative_variance),
        },
        log_likelihoods,
        means,
        errors,
        ess: steps.map(|step| mean(&|one| one.steps[step].ess)).collect(),
    })
}

/// What one repetition has found.
struct Filtered {
    log_likelihood: f64,
    steps: Vec<FilteredStep>,
}

/// What it has found at a step.
struct FilteredStep {
    mean: f64,
    ess: f64,
}

/// The particles of one repetition.
struct Filter {
    particles: Vec<f64>,
    /// Where resampled particles go, which then change places with the others.
    next: Vec<f64>,
    /// Their weights; the logarithms of the observation's density before they are taken into the weights.
    weights: Vec<f64>,
    log_likelihood: Vec<f64>,
    /// Random numbers of the particles that are moved at a time.
    noise: Vec<f64>,
}

impl Filter {
    fn new(particles: usize) -> Self {
        let zeros = || vec![0.0; particles];
        let (weights, noise) = (vec![1.0; particles], vec![0.0; particles.min(AT_ONCE)]);
        Self { particles: zeros(), next: zeros(), weights, log_likelihood: zeros(), noise }
    }

    fn run(mut self, model: &dyn StateSpaceModel, streams: ParticleStreams) -> Result<Filtered, SamplerError> {
        let count = self.particles.len() as f64;
        let mut found = Filtered { log_likelihood: 0.0, steps: Vec::with_capacity(model.steps()) };
        // The sum of the weights.
        let mut sum = count;
        for step in 0..model.steps() {
            if found.steps.last().is_some_and(|last| last.ess < 0.5 * count) {
                self.resample(sum, streams.shared(step).uniform());
                sum = count;
            }
            let highest = self.advance(model, step, streams.key(step as u64));
            let Self { particles, weights, log_likelihood, .. } = &mut self;
            let reweight = Reweight { scale: count / sum, highest, particles, weights, log_likelihood };
            let [weight, square, state] = Arch::new().dispatch(reweight);
            // NaN where no particle can have seen the observation.
            if !(weight > 0.0 && weight.is_finite()) {
                return Err(SamplerError::NoWeights);
            }
            found.log_likelihood += highest + exact::ln(weight / count);
            found.steps.push(FilteredStep { mean: state / weight, ess: weight * weight / square });
            sum = weight;
        }
        Ok(found)
    }

    /// Draws the particles anew by their weights, which become equal.
    fn resample(&mut self, sum: f64, uniform: f64) {
        let scale = 1.0 / sum;
        let chosen = systematic(self.weights.iter().map(|weight| weight * scale), self.particles.len(), uniform);
        for (next, chosen) in self.next.iter_mut().zip(chosen) {
            *next = self.particles[chosen];
        }
        std::mem::swap(&mut self.particles, &mut self.next);
        self.weights.fill(1.0);
    }

    /// Moves the particles to a step, and returns the highest log density of its observation.
    fn advance(&mut self, model: &dyn StateSpaceModel, step: usize, key: Key) -> f64 {
        let parts = self.particles.chunks_mut(AT_ONCE).zip(self.log_likelihood.chunks_mut(AT_ONCE));
        parts.enumerate().fold(f64::NEG_INFINITY, |highest, (part, (particles, log_likelihood))| {
            let noise = &mut self.noise[..particles.len()];
            fill(model.noise(), key, (part * AT_ONCE) as u64, noise);
            model.advance(step, noise, particles);
            model.log_likelihood(step, particles, log_likelihood);
            highest.max(Arch::new().dispatch(Highest(log_likelihood)))
        })
    }
}

/// Fills `out` with random numbers `first`, `first + 1`, ...; no draw of these distributions is ever refused.
fn fill(noise: StateNoise, key: Key, first: u64, out: &mut [f64]) {
    let filled = match noise {
        StateNoise::Normal => Normal::new(0.0, 1.0).map(|normal| normal.fill(key, first, out)),
        StateNoise::Uniform => Uniform::new(0.0, 1.0).map(|uniform| uniform.fill(key, first, out)),
    };
    if !matches!(filled, Ok(Ok(()))) {
        out.fill(f64::NAN);
    }
}

/// The highest of some numbers.
struct Highest<'a>(&'a [f64]);

impl WithSimd for Highest<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut lanes = [f64::NEG_INFINITY; LANES];
        let (whole, rest) = self.0.as_chunks::<LANES>();
        for values in whole {
            for (lane, value) in lanes.iter_mut().zip(values) {
                *lane = if *value > *lane { *value } else { *lane };
            }
        }
        rest.iter().fold(warp::halve(lanes, f64::max), |highest, value| highest.max(*value))
    }
}

/// Takes an observation into the weights; the sums of the weights, of their squares and of the states by their weights.
struct Reweight<'a> {
    /// By what the weights are multiplied, so that their mean is 1.
    scale: f64,
    highest: f64,
    particles: &'a [f64],
    weights: &'a mut [f64],
    log_likelihood: &'a [f64],
}

impl WithSimd for Reweight<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; 3] {
        let mut lanes = [[0.0; LANES]; 3];
        let (scale, highest) = (self.scale, self.highest);
        let parts = self.weights.chunks_mut(LANES).zip(self.particles.chunks(LANES));
        for ((weights, particles), log_likelihood) in parts.zip(self.log_likelihood.chunks(LANES)) {
            for (lane, ((weight, particle), log)) in weights.iter_mut().zip(particles).zip(log_likelihood).enumerate() {
                *weight = *weight * scale * exact::exp(log - highest);
                lanes[0][lane] += *weight;
                lanes[1][lane] += *weight * *weight;
                lanes[2][lane] += *weight * *particle;
            }
        }
        lanes.map(|lanes| warp::halve(lanes, |a, b| a + b))
    }
}
