//! Moves of particles at one temperature: Hamiltonian Monte Carlo with the particles' own covariance as inverse mass matrix.

use super::super::evaluate::{Halted, SamplerCoordinates};
use super::super::linear::{LowerFactor, dot};
use super::super::proposal::HeavyMixture;
use octopus_random::{Stream, exact};
use rayon::prelude::*;

/// The most coordinates with a dense covariance; of more only the variances are used.
const MOST_DENSE: usize = 512;
/// How long a trajectory is in whitened coordinates, at the common step size: a normal has forgotten its start after a
/// quarter of a turn, pi / 2, and steps are shorter than the common one on average.
const LENGTH: f64 = 2.0;
/// The most leapfrog steps of a trajectory.
const MOST_STEPS: f64 = 256.0;
/// The step sizes of particles, in units of the common one: uniform from the first for so far. Short ones free particles
/// from narrow places (Buchholz et al. 2021 draw them from 0 on).
const STEPS: [f64; 2] = [0.2, 1.0];
/// The energy error with which a trajectory is given up.
const DIVERGING: f64 = 1000.0;

/// A particle.
#[derive(Clone, Debug)]
pub(super) struct Particle {
    pub(super) x: Vec<f64>,
    pub(super) logp: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) log_reference: f64,
    /// The number of the particle, of those drawn from the reference, that it descends from.
    pub(super) ancestor: usize,
}

impl Particle {
    /// Returns the logarithm of the density over the reference; minus infinity where the density vanishes.
    pub(super) fn log_ratio(&self) -> f64 {
        self.logp - self.log_reference
    }
}

/// The covariance of particles, as a factor.
#[derive(Debug)]
pub(super) enum ParticleCovariance {
    Dense(LowerFactor),
    Diagonal(Vec<f64>),
}

impl ParticleCovariance {
    /// Estimates it. The correlations are shrunk as if there were `dim` particles more without any, so that few particles
    /// in many coordinates have a covariance, too.
    pub(super) fn of(particles: &[Particle], dim: usize) -> Self {
        let count = particles.len() as f64;
        // SamplerCoordinates one after the other, about their means.
        let columns: Vec<Vec<f64>> = (0..dim)
            .into_par_iter()
            .map(|i| {
                let mean = particles.iter().map(|particle| particle.x[i]).sum::<f64>() / count;
                particles.iter().map(|particle| particle.x[i] - mean).collect()
            })
            .collect();
        let variance = |column: &Vec<f64>| (dot(column, column) / count).clamp(f64::MIN_POSITIVE, f64::MAX);
        if dim <= MOST_DENSE {
            let shrunk = 1.0 / (count + dim as f64);
            let mut matrix = vec![0.0; dim * dim];
            matrix.par_chunks_exact_mut(dim).enumerate().for_each(|(i, row)| {
                for j in 0..i {
                    row[j] = dot(&columns[i], &columns[j]) * shrunk;
                }
                row[i] = variance(&columns[i]);
            });
            if let Some(factor) = LowerFactor::of(matrix, dim) {
                return Self::Dense(factor);
            }
        }
        Self::Diagonal(columns.iter().map(|column| variance(column).sqrt()).collect())
    }

    /// `out = L v`
    fn times(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Dense(factor) => factor.times(v, out),
            Self::Diagonal(sds) => out.iter_mut().zip(v.iter().zip(sds)).for_each(|(out, (v, sd))| *out = sd * v),
        }
    }

    /// `out = L^T v`
    fn transposed_times(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Dense(factor) => factor.transposed_times(v, out),
            Self::Diagonal(_) => self.times(v, out),
        }
    }
}

/// What moves particles: the density at a temperature, their covariance and a step size.
#[derive(Clone, Copy)]
pub(super) struct ParticleMover<'a> {
    pub(super) coordinates: &'a SamplerCoordinates<'a>,
    pub(super) reference: &'a HeavyMixture,
    /// The share of the density in the tempered one, `reference^(1 - temperature) density^temperature`.
    pub(super) temperature: f64,
    pub(super) covariance: &'a ParticleCovariance,
    pub(super) step_size: f64,
}

/// Vectors that a trajectory overwrites.
pub(super) struct TrajectorySpace {
    moved: Particle,
    momentum: Vec<f64>,
    force: Vec<f64>,
    drift: Vec<f64>,
}

impl TrajectorySpace {
    pub(super) fn new(dim: usize) -> Self {
        let zeros = || vec![0.0; dim];
        let moved = Particle { x: zeros(), logp: 0.0, gradient: zeros(), log_reference: 0.0, ancestor: 0 };
        Self { moved, momentum: zeros(), force: zeros(), drift: zeros() }
    }
}

/// What a trajectory reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoveInfo {
    pub(super) acceptance: f64,
    pub(super) steps: u64,
}

impl ParticleMover<'_> {
    /// Moves a particle by one trajectory.
    pub(super) fn step(
        &self,
        particle: &mut Particle,
        random: &mut Stream,
        space: &mut TrajectorySpace,
    ) -> Result<MoveInfo, Halted> {
        let TrajectorySpace { moved, momentum, force, drift } = space;
        moved.clone_from(particle);
        momentum.iter_mut().for_each(|momentum| *momentum = random.normal());
        let step = self.step_size * (STEPS[0] + STEPS[1] * random.uniform());
        let count = (LENGTH / self.step_size).ceil().clamp(1.0, MOST_STEPS) as u64;
        let start = self.log_tempered(particle) - 0.5 * dot(momentum, momentum);
        let mut change = f64::NEG_INFINITY;
        self.kick(0.5 * step, moved, momentum, (force, drift));
        let mut steps = 0;
        for left in (0..count).rev() {
            self.covariance.times(momentum, drift);
            moved.x.iter_mut().zip(&*drift).for_each(|(x, drift)| *x += step * drift);
            steps += 1;
            moved.logp = self.coordinates.value_at(&moved.x, &mut moved.gradient)?;
            if moved.logp == f64::NEG_INFINITY {
                change = f64::NEG_INFINITY;
                break;
            }
            let last = left == 0;
            self.kick(if last { 0.5 * step } else { step }, moved, momentum, (force, drift));
            change = self.log_tempered(moved) - 0.5 * dot(momentum, momentum) - start;
            if change.is_nan() || change < -DIVERGING {
                change = f64::NEG_INFINITY;
                break;
            }
        }
        let acceptance = exact::exp(change.min(0.0));
        if random.uniform() < acceptance {
            std::mem::swap(particle, moved);
        }
        Ok(MoveInfo { acceptance, steps })
    }

    fn log_tempered(&self, particle: &Particle) -> f64 {
        self.temperature * particle.logp + (1.0 - self.temperature) * particle.log_reference
    }

    /// Adds `step` times the whitened slope of the tempered density to the momentum, and evaluates the reference.
    fn kick(
        &self,
        step: f64,
        particle: &mut Particle,
        momentum: &mut [f64],
        (force, whitened): (&mut Vec<f64>, &mut Vec<f64>),
    ) {
        for (force, slope) in force.iter_mut().zip(&particle.gradient) {
            *force = self.temperature * slope;
        }
        particle.log_reference = self.reference.log_density(&particle.x, 1.0 - self.temperature, force);
        self.covariance.transposed_times(force, whitened);
        momentum.iter_mut().zip(&*whitened).for_each(|(momentum, force)| *momentum += step * force);
    }
}
