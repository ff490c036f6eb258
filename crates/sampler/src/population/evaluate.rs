//! The coordinates that populations are drawn in, evaluations of a density at many points, and the random numbers of
//! particles.

use crate::SamplerConfig;
use crate::adapt::centerings;
use crate::config::Parameterization;
use crate::engine::{NEVER, StopAsked};
use crate::error::SamplerError;
use crate::kernel::Space;
use crate::run::starting_point;
use octopus_density::{DensityError, LogDensity};
use octopus_random::{Key, Purpose, Stream};
use rayon::prelude::*;

/// The random numbers of a group of particles: a repetition, or a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParticleStreams {
    key: Key,
}

impl ParticleStreams {
    pub(super) fn new(seed: u64, group: usize) -> Self {
        Self { key: Key::new(seed).fold_in(group as u64) }
    }

    /// Returns the key of draws by the number of the particle; each use has a `number` of its own.
    pub(super) fn key(self, number: u64) -> Key {
        self.key.fold_in(number)
    }

    /// Returns the numbers of one particle in one round.
    pub(super) fn of(self, particle: usize, round: usize) -> Stream {
        Stream::new(self.key.bits(), particle as u32, round as u32, Purpose::Particle)
    }

    /// Returns the numbers that a round has for all particles together.
    pub(super) fn shared(self, round: usize) -> Stream {
        Stream::new(self.key.bits(), u32::MAX, round as u32, Purpose::Particle)
    }
}

/// The coordinates that chains walk in, too: hierarchies of which the density tells enough are standardised, which makes
/// their posteriors near normal. The integral of the density is the same in all coordinates.
pub(crate) struct SamplerCoordinates<'d> {
    space: Space<'d>,
    stop: StopAsked<'d>,
    /// Where chains start.
    pub(super) center: Vec<f64>,
    /// The units in which they start about it.
    pub(super) units: Vec<f64>,
}

impl<'d> SamplerCoordinates<'d> {
    /// Returns those of the sampler.
    pub(crate) fn new(density: &'d dyn LogDensity) -> Self {
        Self::of(density, Parameterization::Adaptive)
    }

    /// Returns the density's own.
    pub(super) fn own(density: &'d dyn LogDensity) -> Self {
        Self::of(density, Parameterization::NonCentered)
    }

    /// Returns the coordinates of a sampler with these settings.
    pub(crate) fn of(density: &'d dyn LogDensity, parameterization: Parameterization) -> Self {
        let space = Space::new(density, centerings(density, parameterization));
        let dim = density.dim();
        let own = density.init_scale().unwrap_or_else(|| vec![1.0; dim]);
        let mut center = density.center().unwrap_or_else(|| vec![0.0; dim]);
        let mut beside: Vec<f64> = center.iter().zip(&own).map(|(center, unit)| center + unit).collect();
        space.make_start(&mut center, &vec![0.0; dim]);
        space.make_start(&mut beside, &vec![1.0; dim]);
        let unit = |((center, beside), own): ((&f64, &f64), &f64)| {
            let unit = (beside - center).abs();
            // Where two coordinates that move together are subtracted, only rounding is left.
            if unit > 1e-6 * own { unit } else { *own }
        };
        let units = center.iter().zip(&beside).zip(&own).map(unit).collect();
        Self { space, stop: NEVER, center, units }
    }

    /// Lets evaluations be stopped.
    pub(super) fn stopped_by(self, stop: StopAsked<'d>) -> Self {
        Self { stop, ..self }
    }

    /// Returns the density's own coordinates, where evaluations stop with these.
    pub(super) fn natural(&self) -> Self {
        Self::own(self.space.density).stopped_by(self.stop)
    }

    pub(crate) fn space(&self) -> &Space<'d> {
        &self.space
    }

    pub(super) fn density(&self) -> &'d dyn LogDensity {
        self.space.density
    }

    pub(super) fn dim(&self) -> usize {
        self.space.dim
    }

    /// Returns how long a step is: the most units by which it moves a coordinate.
    pub(super) fn length(&self, step: &[f64]) -> f64 {
        step.iter().zip(&self.units).map(|(step, unit)| (step / unit).abs()).fold(0.0, f64::max)
    }

    /// Refuses to evaluate anything more once that is to stop.
    pub(crate) fn go_on(&self) -> Result<(), Halted> {
        if (self.stop)() { Err(Halted::Stopped) } else { Ok(()) }
    }

    /// Returns the point where a chain of this number starts.
    pub(super) fn start(&self, seed: u64, path: usize) -> Result<Vec<f64>, SamplerError> {
        let config = SamplerConfig { seed, ..SamplerConfig::default() };
        Ok(starting_point(&self.space, &config, path)?.0)
    }

    /// Returns the log density at `x`, minus infinity where there is none; writes the gradient, 0 there.
    pub(super) fn value_at(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Halted> {
        let logp = self.log_density_at(x, gradient)?;
        if logp.is_finite() && gradient.iter().all(|slope| slope.is_finite()) {
            return Ok(logp);
        }
        gradient.fill(0.0);
        Ok(f64::NEG_INFINITY)
    }

    /// Returns the log density at `x`, minus infinity where there is none; overwrites `spare`, which is as long.
    fn log_density_at(&self, x: &[f64], spare: &mut [f64]) -> Result<f64, Halted> {
        self.go_on()?;
        match self.space.logp_grad(x, spare) {
            Err(error) if !error.is_recoverable() => Err(Halted::Broken(error)),
            value => Ok(or_nothing(value.unwrap_or(f64::NAN))),
        }
    }

    /// Returns the log density at each of these points (`n x dim`), minus infinity where there is none.
    pub(super) fn log_densities(&self, points: &[f64]) -> Result<Vec<f64>, SamplerError> {
        let dim = self.dim();
        let each = points.par_chunks_exact(dim).enumerate().map_init(
            || vec![0.0; dim],
            |spare, (particle, x)| self.log_density_at(x, spare).map_err(|why| halted(particle, why)),
        );
        each.collect()
    }

    /// Converts positions (`n x dim`) to the density's own coordinates, and their log densities with them.
    pub(super) fn make_natural(&self, positions: &mut [f64], logp: &mut [f64]) {
        let each = positions.par_chunks_exact_mut(self.dim()).zip(logp);
        each.for_each(|(x, logp)| {
            *logp -= self.space.log_jacobian(x);
            self.space.make_natural(x);
        });
    }
}

/// Returns a log density, or minus infinity where it is no number.
pub(crate) fn or_nothing(logp: f64) -> f64 {
    if logp.is_finite() { logp } else { f64::NEG_INFINITY }
}

/// Why nothing more is evaluated.
#[derive(Debug)]
pub(crate) enum Halted {
    /// It is to stop.
    Stopped,
    /// The density is broken.
    Broken(DensityError),
}

/// Returns the error of what was halted at a particle.
pub(crate) fn halted(particle: usize, why: Halted) -> SamplerError {
    match why {
        Halted::Stopped => SamplerError::Stopped,
        Halted::Broken(source) => SamplerError::Particle { particle, source },
    }
}
