//! Sequential Monte Carlo: particles go from a reference to the posterior, temperature after temperature.
//!
//! Del Moral, P., Doucet, A., Jasra, A. (2006). Sequential Monte Carlo samplers. Journal of the Royal Statistical Society B 68,
//! 411-436. Moves and their tuning: Buchholz, A., Chopin, N., Jacob, P. E. (2021). Adaptive tuning of Hamiltonian Monte Carlo
//! within sequential Monte Carlo. Bayesian Analysis 16, 745-771.

mod moves;

use super::evaluate::{ParticleStreams, SamplerCoordinates, halted};
use super::importance::check_particles;
use super::pathfinder::best_normals;
use super::proposal::HeavyMixture;
use super::weights::{WeightMoments, multinomial};
use super::{ParticlePopulation, PathfinderConfig, PopulationEvidence};
use crate::config::ConfigError;
use crate::error::SamplerError;
use moves::{Particle, ParticleCovariance, ParticleMover, TrajectorySpace};
use octopus_density::LogDensity;
use octopus_random::exact;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The acceptance that the step size is adapted to. Buchholz et al. take 0.9, and 0.65 would be best for one long chain.
const TARGET: f64 = 0.8;
/// Trajectories of each particle at a temperature, at most.
const MOST_MOVES: usize = 100;
/// Particles are moved until no coordinate is correlated with itself by more than this and what chance makes, and as often
/// again.
const CORRELATION: f64 = 0.1;
/// Temperatures, at most: a density that needs more has no bounds.
const MOST_TEMPERATURES: usize = 2000;
/// The smallest step from one temperature to the next that is looked for.
const LEAST_STEP: f64 = 1e-100;

/// Settings of sequential Monte Carlo.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SmcConfig {
    /// The share of the particles that their effective sample size may fall to from one temperature to the next: the
    /// higher, the more temperatures.
    pub ess_share: f64,
}

impl Default for SmcConfig {
    fn default() -> Self {
        Self { ess_share: 0.5 }
    }
}

impl SmcConfig {
    /// Checks every setting.
    ///
    /// # Errors
    /// When a setting is out of range; the error is about the first one.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.ess_share >= 0.1 && self.ess_share <= 0.99 {
            return Ok(());
        }
        Err(ConfigError { field: "ess_share", value: self.ess_share.to_string(), expected: "from 0.1 to 0.99" })
    }
}

/// The particles that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmcSize {
    /// Independent repetitions, whose evidences are averaged.
    pub repetitions: usize,
    /// The number of particles of each repetition.
    pub particles: usize,
}

impl SmcSize {
    /// # Errors
    /// When there are too few or too many.
    fn check(self) -> Result<(), ConfigError> {
        let fail = |field, value: usize, expected| Err(ConfigError { field, value: value.to_string(), expected });
        if self.repetitions == 0 {
            return fail("repetitions", self.repetitions, "at least 1 is needed");
        }
        if self.particles < 10 {
            return fail("particles", self.particles, "their covariance and weights need at least 10");
        }
        check_particles(self.particles.saturating_mul(self.repetitions))
    }
}

/// What happened at one temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmcStage {
    /// The share of the density in the distribution, in (0, 1]; the rest is the reference's.
    pub temperature: f64,
    /// Effective sample size of the weights with which the particles came here.
    pub ess: f64,
    /// Trajectories that each particle was moved by.
    pub moves: usize,
    /// Mean acceptance of the last trajectory of each particle.
    pub acceptance_rate: f64,
    /// The particles have forgotten where they were: otherwise draws are correlated, and the error of the evidence is
    /// larger than it says.
    pub mixed: bool,
}

/// The particles of all repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct SmcPopulation {
    /// The particles, repetition after repetition; those of one weigh the same, the more the larger its evidence.
    pub population: ParticlePopulation,
    /// The evidence that each repetition found by itself.
    pub of_repetitions: Vec<PopulationEvidence>,
    /// What happened in each repetition.
    pub stages: Vec<Vec<SmcStage>>,
}

impl SmcPopulation {
    /// Returns whether the particles of all repetitions moved freely at all temperatures.
    pub fn mixed(&self) -> bool {
        self.stages.iter().flatten().all(|stage| stage.mixed)
    }
}

/// Draws particles from the density by way of tempered distributions `reference^(1 - t) density^t`, t from 0 to 1.
///
/// The reference is a mixture of Student t of 5 degrees of freedom with the means of [`pathfinder`](fn@crate::pathfinder)'s normals, and half as
/// wide again: near the posterior, so that the path is short and meets no phase transition, and with heavier tails, so that weights have
/// a variance. (A wide reference about the center has such transitions: the evidence of ten groups of a hierarchical normal
/// was 0.35 too low, with an error of 0.05. Surjanovic et al. 2022, NeurIPS 35, fit the reference for the same reason.) A
/// mode that no path of Pathfinder has found is missed.
///
/// Each next temperature is the one at which the weights' effective sample size falls to `ess_share`. Particles are resampled
/// and moved by HMC with their own covariance and a step size adapted to their acceptance, until they have forgotten where
/// they were.
///
/// The evidence of a repetition is without bias; the mean of all is taken. Its standard error is that of the particles'
/// genealogy (Lee and Whiteley 2018, Biometrika 105, 609-625), for which resampling is multinomial: it sees, too, what
/// moves between modes do not forget. Where the repetitions differ by more than chance makes in one run of a thousand, the
/// error is that of their spread.
///
/// # Errors
/// When a setting is out of range, the density is broken, or vanishes at all particles of the reference.
pub fn smc(
    density: &dyn LogDensity,
    config: &SmcConfig,
    size: SmcSize,
    seed: u64,
) -> Result<SmcPopulation, SamplerError> {
    smc_in(&SamplerCoordinates::new(density), config, size, seed)
}

/// As [`smc`], in these coordinates of a density.
pub(super) fn smc_in(
    coordinates: &SamplerCoordinates<'_>,
    config: &SmcConfig,
    size: SmcSize,
    seed: u64,
) -> Result<SmcPopulation, SamplerError> {
    config.validate()?;
    size.check()?;
    let (normals, evaluations) = best_normals(coordinates, &PathfinderConfig::default(), seed)?;
    let reference = HeavyMixture::new(normals);
    let repetitions: Vec<SmcRepetition<'_>> = (0..size.repetitions)
        .into_par_iter()
        .map(|number| {
            // The groups before are Pathfinder's paths.
            let streams = ParticleStreams::new(seed, PathfinderConfig::default().paths + number);
            let mut repetition = SmcRepetition::new(coordinates, &reference, (*config, size.particles), streams)?;
            while repetition.advance()? {}
            Ok(repetition)
        })
        .collect::<Result<_, SamplerError>>()?;
    Ok(joined(coordinates, repetitions, evaluations))
}

/// One repetition under way.
struct SmcRepetition<'a> {
    coordinates: &'a SamplerCoordinates<'a>,
    config: SmcConfig,
    streams: ParticleStreams,
    reference: &'a HeavyMixture,
    particles: Vec<Particle>,
    temperature: f64,
    step_size: f64,
    evidence: f64,
    variance: f64,
    stages: Vec<SmcStage>,
    /// Rounds of random numbers that are spent.
    round: usize,
    evaluations: u64,
}

impl<'a> SmcRepetition<'a> {
    /// Draws the particles from the reference.
    fn new(
        coordinates: &'a SamplerCoordinates<'a>,
        reference: &'a HeavyMixture,
        (config, particles): (SmcConfig, usize),
        streams: ParticleStreams,
    ) -> Result<Self, SamplerError> {
        let dim = coordinates.dim();
        let particles = (0..particles)
            .into_par_iter()
            .map(|particle| {
                let (mut x, mut gradient) = (vec![0.0; dim], vec![0.0; dim]);
                reference.draw(streams.key(0), particle, &mut x);
                let log_reference = reference.log_density(&x, 0.0, &mut gradient);
                let logp = coordinates.value_at(&x, &mut gradient).map_err(|why| halted(particle, why))?;
                Ok(Particle { x, logp, gradient, log_reference, ancestor: particle })
            })
            .collect::<Result<Vec<_>, SamplerError>>()?;
        // The stable step size of a normal falls as the fourth root of its coordinates.
        let step_size = (1.0 / dim as f64).sqrt().sqrt();
        let evaluations = particles.len() as u64;
        Ok(Self {
            coordinates,
            config,
            streams,
            reference,
            particles,
            temperature: 0.0,
            step_size,
            evidence: 0.0,
            variance: 0.0,
            stages: vec![],
            round: 0,
            evaluations,
        })
    }

    /// Goes on to the next temperature, and returns whether there is another one.
    fn advance(&mut self) -> Result<bool, SamplerError> {
        let step = self.next_step()?;
        let last = step >= 1.0 - self.temperature || self.stages.len() + 1 == MOST_TEMPERATURES;
        let step = if last { 1.0 - self.temperature } else { step };
        self.temperature = if last { 1.0 } else { self.temperature + step };
        let log_weights: Vec<f64> = self.particles.iter().map(|particle| step * particle.log_ratio()).collect();
        let moments = WeightMoments::of(log_weights.iter().copied()).ok_or(SamplerError::NoWeights)?;
        self.evidence += moments.log_mean;
        self.variance += moments.relative_variance / self.particles.len() as f64;
        self.resample(&log_weights, moments);
        let (moves, acceptance_rate, mixed) = self.stir()?;
        let temperature = self.temperature;
        self.stages.push(SmcStage { temperature, ess: moments.ess, moves, acceptance_rate, mixed });
        Ok(!last)
    }

    /// Returns the variance of the evidence over its square: that of the weights, if all particles had been independent at
    /// each temperature, and at the least what their genealogy tells.
    fn variance(&self) -> f64 {
        let ancestors = self.particles.iter().map(|particle| particle.ancestor);
        self.variance.max(genealogical_variance(ancestors, self.stages.len()))
    }

    /// Returns how far the temperature can rise until the effective sample size falls to its share.
    fn next_step(&self) -> Result<f64, SamplerError> {
        let ratios: Vec<f64> =
            self.particles.iter().map(Particle::log_ratio).filter(|ratio| ratio.is_finite()).collect();
        let least = self.config.ess_share * ratios.len() as f64;
        let suffices = |step: f64| {
            WeightMoments::of(ratios.iter().map(|ratio| step * ratio)).is_some_and(|moments| moments.ess >= least)
        };
        if ratios.is_empty() {
            return Err(SamplerError::NoWeights);
        }
        let whole = 1.0 - self.temperature;
        if suffices(whole) {
            return Ok(whole);
        }
        // By the logarithm: a first step may be 1e-58.
        let (mut low, mut high) = (exact::ln(LEAST_STEP), exact::ln(whole));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if suffices(exact::exp(middle)) { low = middle } else { high = middle }
        }
        Ok(exact::exp(low))
    }

    fn resample(&mut self, log_weights: &[f64], moments: WeightMoments) {
        let log_sum = moments.log_mean + exact::ln(log_weights.len() as f64);
        let weights = log_weights.iter().map(|log_weight| exact::exp(log_weight - log_sum));
        let chosen = multinomial(weights, self.particles.len(), &mut self.streams.shared(self.round));
        self.particles = chosen.into_iter().map(|particle| self.particles[particle].clone()).collect();
    }

    /// Moves the particles until they have forgotten where they are. Returns the trajectories that each has made, the
    /// acceptance of the last ones, and whether all is forgotten.
    fn stir(&mut self) -> Result<(usize, f64, bool), SamplerError> {
        let dim = self.coordinates.dim();
        // Each half is moved by the covariance of the other: a particle that chose its own would favour some places.
        let middle = self.particles.len() / 2;
        let covariances = [
            ParticleCovariance::of(&self.particles[middle..], dim),
            ParticleCovariance::of(&self.particles[..middle], dim),
        ];
        let before = Correlations::of(&self.particles);
        // As many moves again square what is left of the correlations.
        let (mut mean, mut until, count) = (0.0, None, self.particles.len() as f64);
        for moves in 1..=MOST_MOVES {
            self.round += 1;
            let (streams, round) = (self.streams, self.round);
            let movers = covariances.each_ref().map(|covariance| ParticleMover {
                coordinates: self.coordinates,
                reference: self.reference,
                temperature: self.temperature,
                covariance,
                step_size: self.step_size,
            });
            let moved = self
                .particles
                .par_iter_mut()
                .enumerate()
                .map_init(
                    || TrajectorySpace::new(dim),
                    |space, (number, particle)| {
                        let mut random = streams.of(number, round);
                        movers[usize::from(number >= middle)]
                            .step(particle, &mut random, space)
                            .map_err(|why| halted(number, why))
                    },
                )
                .collect::<Result<Vec<_>, SamplerError>>()?;
            mean = moved.iter().map(|info| info.acceptance).sum::<f64>() / count;
            self.evaluations += moved.iter().map(|info| info.steps).sum::<u64>();
            self.step_size *= exact::exp(mean - TARGET);
            if until.is_none() && before.are_forgotten(&self.particles) {
                until = Some(2 * moves);
            }
            if until.is_some_and(|until| moves >= until) {
                return Ok((moves, mean, true));
            }
        }
        Ok((MOST_MOVES, mean, until.is_some()))
    }
}

/// The relative variance of an evidence as the genealogy of its particles tells it: the more particles descend from one,
/// the fewer were independent (Lee and Whiteley 2018, formula 8). `ancestors` are those of the particles after so many
/// resamplings.
fn genealogical_variance(ancestors: impl ExactSizeIterator<Item = usize>, resamplings: usize) -> f64 {
    let count = ancestors.len() as f64;
    let mut families = vec![0.0; ancestors.len()];
    ancestors.for_each(|ancestor| families[ancestor] += 1.0);
    let same: f64 = families.iter().map(|size| (size / count) * (size / count)).sum();
    1.0 - (count / (count - 1.0)).powi(resamplings as i32 + 1) * (1.0 - same)
}

/// Where particles were: each coordinate about its mean, its square, and last the logarithm of the density over the
/// reference. Squares tell of arms that particles reach late, though they cross the middle at each move.
struct Correlations {
    columns: Vec<Vec<f64>>,
}

impl Correlations {
    fn of(particles: &[Particle]) -> Self {
        let dim = particles.first().map_or(0, |particle| particle.x.len());
        let about_mean = |mut column: Vec<f64>| {
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            column.iter_mut().for_each(|value| *value -= mean);
            column
        };
        let coordinate = |i: usize| {
            let plain = about_mean(particles.iter().map(|particle| particle.x[i]).collect());
            let square = about_mean(plain.iter().map(|x| x * x).collect());
            [plain, square]
        };
        let mut columns: Vec<Vec<f64>> = (0..dim).into_par_iter().flat_map_iter(coordinate).collect();
        columns.push(about_mean(particles.iter().map(Particle::log_ratio).collect()));
        Self { columns }
    }

    /// Returns whether each column is correlated with the same one now by no more than is allowed.
    fn are_forgotten(&self, now: &[Particle]) -> bool {
        let limit = CORRELATION + 3.0 / (now.len() as f64).sqrt();
        let dot = super::linear::dot;
        let now = Self::of(now);
        self.columns.iter().zip(&now.columns).all(|(before, now)| {
            let (squares, product) = (dot(before, before) * dot(now, now), dot(before, now));
            product <= limit * squares.sqrt()
        })
    }
}

/// Returns the chi-squared number of `degrees` of freedom, over them, that chance exceeds once in a thousand times (Wilson
/// and Hilferty 1931).
fn scaled_chi_squared_limit(degrees: f64) -> f64 {
    const NORMAL_LIMIT: f64 = 3.090_232_306_167_813;
    let spread = 2.0 / (9.0 * degrees);
    let root = 1.0 - spread + NORMAL_LIMIT * spread.sqrt();
    root * root * root
}

/// Joins repetitions: the mean of their evidences, and all particles.
fn joined(coordinates: &SamplerCoordinates<'_>, repetitions: Vec<SmcRepetition<'_>>, spent: u64) -> SmcPopulation {
    let (dim, count) = (coordinates.dim(), repetitions.len() as f64);
    let variances: Vec<f64> = repetitions.iter().map(SmcRepetition::variance).collect();
    let of_repetitions: Vec<PopulationEvidence> = repetitions
        .iter()
        .zip(&variances)
        .map(|(one, variance)| PopulationEvidence { log_evidence: one.evidence, standard_error: variance.sqrt() })
        .collect();
    let highest = of_repetitions.iter().map(|one| one.log_evidence).fold(f64::NEG_INFINITY, f64::max);
    let sizes: Vec<f64> = of_repetitions.iter().map(|one| exact::exp(one.log_evidence - highest)).collect();
    let sum: f64 = sizes.iter().sum();
    let told: f64 = sizes.iter().zip(&variances).map(|(size, variance)| (size / sum) * (size / sum) * variance).sum();
    let mut variance = told;
    if repetitions.len() > 1 {
        let mean = sum / count;
        let spread = sizes.iter().map(|size| (size / mean - 1.0) * (size / mean - 1.0)).sum::<f64>() / (count - 1.0);
        if spread / count > told * scaled_chi_squared_limit(count - 1.0) {
            variance = spread / count;
        }
    }
    let evidence =
        PopulationEvidence { log_evidence: highest + exact::ln(sum / count), standard_error: variance.sqrt() };
    let stages: Vec<Vec<SmcStage>> = repetitions.iter().map(|one| one.stages.clone()).collect();
    let ess = stages.iter().filter_map(|stages| stages.last()).map(|last| last.ess).sum();
    let evaluations = spent + repetitions.iter().map(|one| one.evaluations).sum::<u64>();
    let (mut positions, mut logp, mut log_weights) = (vec![], vec![], vec![]);
    for repetition in repetitions {
        for particle in repetition.particles {
            positions.extend(particle.x);
            logp.push(particle.logp);
            log_weights.push(repetition.evidence);
        }
    }
    coordinates.make_natural(&mut positions, &mut logp);
    let population =
        ParticlePopulation { dim, positions, logp, log_weights, evidence, ess, pareto_k: None, evaluations };
    SmcPopulation { population, of_repetitions, stages }
}
