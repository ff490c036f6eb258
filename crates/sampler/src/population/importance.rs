//! Importance sampling: particles from a proposal, weighted by the density.

use super::evaluate::{ParticleStreams, SamplerCoordinates, halted};
use super::laplace::ModeFit;
use super::linear::{LowerFactor, axpy};
use super::proposal::{ShapedProposal, WideProposal, bad_degrees};
use super::weights::{WeightMoments, smoothed};
use super::{ParticlePopulation, PopulationEvidence};
use crate::config::ConfigError;
use crate::engine::gpu::GpuParticles;
use crate::error::SamplerError;
use octopus_density::LogDensity;
use octopus_random::{Stream, exact};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The share of particles that the mixture draws from what is wide (Hesterberg 1995 has 0.1 to 0.5).
const DEFENSIVE: f64 = 0.1;
/// Rounds of pilot particles that adapt the mixture, at most; all together are as many as the particles.
const PILOT_ROUNDS: usize = 10;
/// Pilot particles of a round, at the least.
const FEWEST_PILOTS: usize = 200;
/// The share of its particles that a pilot round is worth when the proposal fits.
const FITS: f64 = 0.5;
/// The most particles: they are counted in 32 bits where random numbers are addressed.
const MOST_PARTICLES: usize = (1 << 31) - 1;

/// The distribution that particles are drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportanceProposal {
    /// A Student t that touches the density at its highest mode.
    Laplace,
    /// Nine particles of ten are from a Student t that begins as [`Laplace`](Self::Laplace) and takes mean and covariance
    /// from weighted pilot particles, for a few rounds. The tenth is independent Student t where chains start: what the mode
    /// does not tell of is seen, too.
    #[default]
    Mixture,
    /// The prior, of which a run is given the draws as [points](crate::Starts::Points).
    Prior,
}

/// Settings of importance sampling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImportanceConfig {
    /// The number of particles, each a gradient of the density.
    pub particles: usize,
    /// What they are drawn from.
    pub proposal: ImportanceProposal,
    /// Degrees of freedom of the Student t at the mode: the fewer, the heavier its tails. Infinite for a normal.
    pub degrees: f64,
}

impl Default for ImportanceConfig {
    fn default() -> Self {
        Self { particles: 10_000, proposal: ImportanceProposal::default(), degrees: 5.0 }
    }
}

impl ImportanceConfig {
    /// Checks every setting.
    ///
    /// # Errors
    /// When a setting is out of range; the error is about the first one.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_particles(self.particles)?;
        let in_range = (1.0..=1000.0).contains(&self.degrees) || self.degrees == f64::INFINITY;
        if in_range { Ok(()) } else { Err(bad_degrees(self.degrees)) }
    }
}

/// Checks a number of particles.
pub(super) fn check_particles(particles: usize) -> Result<(), ConfigError> {
    if (2..=MOST_PARTICLES).contains(&particles) {
        return Ok(());
    }
    Err(ConfigError { field: "particles", value: particles.to_string(), expected: "from 2 to 2147483647" })
}

/// A proposal with the share of its wide part.
struct Mixture<'a> {
    coordinates: &'a SamplerCoordinates<'a>,
    shaped: ShapedProposal,
    wide: WideProposal,
    share: f64,
}

/// Weighted particles in the coordinates that they are drawn in.
struct WeightedParticles {
    positions: Vec<f64>,
    logp: Vec<f64>,
    log_weights: Vec<f64>,
    /// The logarithm of the density over the shaped part alone, of the particles that this part drew.
    own: Vec<f64>,
}

impl Mixture<'_> {
    /// Returns how many of some particles are from the wide part: the first ones.
    fn wide_of(&self, particles: usize) -> usize {
        ((self.share * particles as f64).ceil() as usize).min(particles - 1)
    }

    /// Draws particles, each weighted by the density over the whole mixture (Owen and Zhou 2000, JASA 95, 135-143). The
    /// density is evaluated on `gpus` where there are any.
    fn draw(
        &self,
        particles: usize,
        streams: ParticleStreams,
        gpus: Option<&mut GpuParticles>,
    ) -> Result<WeightedParticles, SamplerError> {
        let (dim, wide) = (self.coordinates.dim(), self.wide_of(particles));
        let (of_shaped, of_wide) = (streams.key(0), streams.key(1));
        let share = wide as f64 / particles as f64;
        let mut positions = vec![0.0; particles * dim];
        self.wide.draw(of_wide, &mut positions[..wide * dim]);
        let stretches = self.shaped.stretches(of_shaped, wide..particles);
        let proposed: Vec<(f64, f64)> = positions
            .par_chunks_exact_mut(dim)
            .enumerate()
            .map_init(
                || vec![0.0; dim],
                |spare, (particle, x)| {
                    if particle >= wide {
                        self.shaped.draw(of_shaped, particle, stretches[particle - wide], x, spare);
                    }
                    let log_shaped = self.shaped.log_density(x, spare);
                    let mut log_proposal = log_shaped;
                    if wide > 0 {
                        let log_wide = exact::ln(share) + self.wide.log_density(x);
                        log_proposal = exact::log_sum_exp(log_wide, exact::ln(1.0 - share) + log_shaped);
                    }
                    (log_proposal, log_shaped)
                },
            )
            .collect();
        let logp = match gpus {
            Some(gpus) => gpus.log_densities(self.coordinates, &positions)?,
            None => self.coordinates.log_densities(&positions)?,
        };
        let weighted = logp.iter().zip(&proposed);
        let log_weights = weighted.clone().map(|(logp, (log_proposal, _))| logp - log_proposal).collect();
        let own = weighted.skip(wide).map(|(logp, (_, log_shaped))| logp - log_shaped).collect();
        Ok(WeightedParticles { positions, logp, log_weights, own })
    }
}

/// Draws particles about the density's highest mode and weights them.
///
/// The mode is the highest that L-BFGS finds from 4 starts, the shape there the inverse of minus the Hessian by finite
/// differences. What the proposal misses, the weights cannot tell; what it has too little of,
/// [`pareto_k`](ParticlePopulation::pareto_k) tells: the larger of that of the weights and of those without the wide part.
///
/// # Errors
/// When a setting is out of range, there is no starting point, the density is broken, has more than 2048 coordinates, or
/// vanishes at all particles.
pub fn importance(
    density: &dyn LogDensity,
    config: &ImportanceConfig,
    seed: u64,
) -> Result<ParticlePopulation, SamplerError> {
    importance_in(&SamplerCoordinates::new(density), None, config, seed)
}

/// As [`importance`], in these coordinates of a density, which is evaluated on `gpus` where there are any.
pub(super) fn importance_in(
    coordinates: &SamplerCoordinates<'_>,
    mut gpus: Option<&mut GpuParticles>,
    config: &ImportanceConfig,
    seed: u64,
) -> Result<ParticlePopulation, SamplerError> {
    config.validate()?;
    let ImportanceConfig { particles, proposal, degrees } = *config;
    if proposal == ImportanceProposal::Prior {
        return Err(no_prior().into());
    }
    let dim = coordinates.dim();
    let ModeFit { mode: mut center, mut covariance, mut evaluations } = ModeFit::find(coordinates, seed)?;
    let mut mixture = Mixture {
        coordinates,
        shaped: ShapedProposal::new(center.clone(), factored(&covariance, dim), degrees)?,
        wide: WideProposal::of(coordinates),
        share: if proposal == ImportanceProposal::Mixture { DEFENSIVE } else { 0.0 },
    };
    if proposal == ImportanceProposal::Mixture {
        let pilots = particles.div_ceil(PILOT_ROUNDS).max(FEWEST_PILOTS);
        let mut best = (0.0, mixture.shaped.clone());
        for round in 1..=PILOT_ROUNDS {
            let drawn = mixture.draw(pilots, ParticleStreams::new(seed, round), gpus.as_deref_mut())?;
            evaluations += pilots as u64;
            let share = adapt(&drawn, &mut center, &mut covariance)?;
            let next = ShapedProposal::new(center.clone(), factored(&covariance, dim), degrees)?;
            let last = std::mem::replace(&mut mixture.shaped, next);
            if share > best.0 {
                best = (share, last);
            }
            if share > FITS {
                break;
            }
        }
        mixture.shaped = best.1;
    }
    let WeightedParticles { mut positions, mut logp, log_weights, own } =
        mixture.draw(particles, ParticleStreams::new(seed, 0), gpus)?;
    coordinates.make_natural(&mut positions, &mut logp);
    let wide = mixture.wide_of(particles);
    let parts: &[usize] = if wide == 0 { &[particles] } else { &[wide, particles - wide] };
    of_weighted(dim, positions, logp, log_weights, (parts, evaluations + particles as u64))?.judged_by(&own)
}

/// Returns the factor of a covariance, of its diagonal where rounding leaves it none.
fn factored(covariance: &[f64], dim: usize) -> LowerFactor {
    LowerFactor::of(covariance.to_vec(), dim).unwrap_or_else(|| LowerFactor::diagonal_of(covariance, dim))
}

/// Moves mean and covariance (`dim x dim`) towards those of weighted particles, by as much as the particles are worth;
/// returns which share of their number that is. Weights are Pareto smoothed.
fn adapt(drawn: &WeightedParticles, center: &mut [f64], covariance: &mut [f64]) -> Result<f64, SamplerError> {
    let dim = center.len();
    let log_weights = smoothed(&drawn.log_weights)?.0;
    let ess = WeightMoments::of(log_weights.iter().copied()).map_or(1.0, |moments| moments.ess);
    // As many particles more speak for what was known as a covariance has numbers.
    let trust = ess / (ess + 0.5 * (dim * (dim + 1)) as f64);
    let weights: Vec<f64> = log_weights.into_iter().map(exact::exp).collect();
    let weighted = || drawn.positions.chunks_exact(dim).zip(&weights).filter(|(_, weight)| **weight > 0.0);
    let mut mean = vec![0.0; dim];
    weighted().for_each(|(x, weight)| axpy(*weight, x, &mut mean));
    // The lower triangle, each row by one thread.
    covariance.par_chunks_exact_mut(dim).enumerate().for_each(|(i, row)| {
        let mut found = vec![0.0; i + 1];
        for (x, weight) in weighted() {
            let factor = weight * (x[i] - mean[i]);
            found.iter_mut().zip(x.iter().zip(&mean)).for_each(|(found, (x, mean))| *found += factor * (x - mean));
        }
        row.iter_mut().zip(&found).for_each(|(old, found)| *old += trust * (found - *old));
    });
    center.iter_mut().zip(&mean).for_each(|(center, mean)| *center += trust * (mean - *center));
    Ok(ess / drawn.log_weights.len() as f64)
}

/// The error that no draws of the prior were given.
fn no_prior() -> ConfigError {
    let expected = "a run that is given draws of the prior as starting points; in Rust also importance_from_prior";
    ConfigError { field: "proposal", value: "prior".to_owned(), expected }
}

/// Draws particles from the prior and weights them by their likelihood. `draw_prior` draws a position of the density from
/// the prior; the likelihood is the sum of the density's log likelihoods, constants included, so that the evidence is the
/// whole marginal likelihood of the data.
///
/// # Errors
/// When a setting is out of range, or a draw is no position; [`SamplerError::NoLikelihood`] where the density does not tell
/// its likelihood apart from its prior; when all likelihoods vanish.
pub fn importance_from_prior(
    density: &dyn LogDensity,
    draw_prior: impl Fn(&mut Stream) -> Vec<f64> + Sync,
    particles: usize,
    seed: u64,
) -> Result<ParticlePopulation, SamplerError> {
    check_particles(particles)?;
    let of_each = |randoms: &mut [Stream]| randoms.iter_mut().map(&draw_prior).collect();
    weighted_by_likelihood(&SamplerCoordinates::own(density), &particles_of_prior(of_each, particles, seed))
}

/// Particles that are drawn from the prior together.
const DRAWN_TOGETHER: usize = 256;

/// Draws the particles of [`importance_from_prior`], for a run by [`ImportanceProposal::Prior`]. `draw_prior` draws one with each of
/// the streams that it is given.
pub fn particles_of_prior(
    draw_prior: impl Fn(&mut [Stream]) -> Vec<Vec<f64>> + Sync,
    particles: usize,
    seed: u64,
) -> Vec<Vec<f64>> {
    let streams = ParticleStreams::new(seed, 0);
    let parts = (0..particles.div_ceil(DRAWN_TOGETHER)).into_par_iter().flat_map_iter(|part| {
        let first = part * DRAWN_TOGETHER;
        let numbers = first..particles.min(first + DRAWN_TOGETHER);
        draw_prior(&mut numbers.map(|particle| streams.of(particle, 0)).collect::<Vec<_>>())
    });
    parts.collect()
}

/// Weights draws of the prior, in a density's own coordinates, by their likelihood.
pub(super) fn weighted_by_likelihood(
    own: &SamplerCoordinates<'_>,
    particles: &[Vec<f64>],
) -> Result<ParticlePopulation, SamplerError> {
    let (density, dim) = (own.density(), own.dim());
    if !density.has_log_likelihood() {
        return Err(SamplerError::NoLikelihood { density: density.name().to_owned() });
    }
    if let Some(chain) = particles.iter().position(|x| x.len() != dim) {
        let what = format!("the draw of the prior has {} coordinates, and the density {dim}", particles[chain].len());
        return Err(SamplerError::Start { chain, what });
    }
    let positions = particles.concat();
    let likelihoods: Vec<f64> = particles
        .par_iter()
        .enumerate()
        .map_init(
            || vec![0.0; density.observations()],
            |terms, (particle, x)| {
                own.go_on().map_err(|why| halted(particle, why))?;
                let sum = density.total_log_likelihood(x, terms);
                Ok(if sum.is_nan() { f64::NEG_INFINITY } else { sum })
            },
        )
        .collect::<Result<_, SamplerError>>()?;
    let logp = own.log_densities(&positions)?;
    of_weighted(dim, positions, logp, likelihoods, (&[particles.len()], particles.len() as u64))
}

/// Weights the draws of the prior that a run was given.
pub(super) fn importance_of_given(
    coordinates: &SamplerCoordinates<'_>,
    particles: Option<&[Vec<f64>]>,
) -> Result<ParticlePopulation, SamplerError> {
    weighted_by_likelihood(&coordinates.natural(), particles.ok_or_else(no_prior)?)
}

/// Makes a population of weighted particles that were drawn in parts of fixed sizes.
pub(super) fn of_weighted(
    dim: usize,
    positions: Vec<f64>,
    logp: Vec<f64>,
    log_weights: Vec<f64>,
    (parts, evaluations): (&[usize], u64),
) -> Result<ParticlePopulation, SamplerError> {
    let all = WeightMoments::of(log_weights.iter().copied()).ok_or(SamplerError::NoWeights)?;
    let pareto_k = smoothed(&log_weights)?.1;
    // The parts are strata: only the spread within each adds to the error.
    let (mut variance, mut from) = (0.0, 0);
    for &size in parts {
        let part = &log_weights[from..from + size];
        from += size;
        if let Some(part) = WeightMoments::of(part.iter().copied()) {
            let share = exact::exp(part.log_mean - all.log_mean) * size as f64 / log_weights.len() as f64;
            variance += share * share * part.relative_variance / (size as f64 - 1.0).max(1.0);
        }
    }
    let evidence = PopulationEvidence { log_evidence: all.log_mean, standard_error: variance.sqrt() };
    Ok(ParticlePopulation {
        dim,
        positions,
        logp,
        log_weights,
        evidence,
        ess: all.ess,
        pareto_k: Some(pareto_k),
        evaluations,
    })
}
