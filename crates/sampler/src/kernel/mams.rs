//! MAMS, the Metropolis-adjusted microcanonical sampler: trajectories of unit speed, whose direction the force turns.
//!
//! Robnik, Cohn-Gordon and Seljak (2025), "Metropolis adjusted microcanonical Hamiltonian Monte Carlo", arXiv 2503.01707:
//! section 3 for the dynamics, section 4 for acceptance, section 5 for the length of trajectories, which is learned here as
//! ChEES-HMC learns it (`chees.rs`). The integrator is the leapfrog of the isokinetic equations (Steeg and Galstyan 2021).

use super::address::Address;
use super::hmc::{self, Ending, share, steps_of};
use super::phase_space::PhaseSpace;
use super::state::{Point, Scratch};
use super::vector::Vectors;
use super::workspace::{Path, Workspace};
use super::{Kernel, Tuned};
use crate::config::ConfigError;
use crate::draw::DrawStats;
use octopus_density::DensityError;
use octopus_density::warp::Buffer;
use octopus_random::{Purpose, exact};
use serde::{Deserialize, Serialize};

/// Settings of MAMS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mams {
    /// Lengths are uniform within this share of their mean, from 0 (all are the same) to 1.
    pub jitter: f64,
}

impl Default for Mams {
    fn default() -> Self {
        Self { jitter: 1.0 }
    }
}

/// Returns the length that warm-up begins with: a trajectory of unit speed goes as far as one of a normal distribution's
/// momentum goes in one unit of time.
fn first_length(dim: usize) -> f64 {
    (dim as f64).sqrt()
}

impl Kernel for Mams {
    fn step(
        &self,
        phase_space: PhaseSpace<'_, '_>,
        tuned: Tuned<'_>,
        address: Address,
        point: &mut Point,
        workspace: &mut Workspace,
    ) -> Result<DrawStats, DensityError> {
        let length = tuned.length.unwrap_or_else(|| first_length(phase_space.dim()));
        let steps = steps_of(length / tuned.step_size, self.jitter, tuned, address);
        transition(phase_space, tuned, steps, address, point, workspace)
    }

    /// Its energies are no sums with momenta that are drawn anew, so E-BFMI says nothing of them.
    fn statistics(&self) -> &'static [&'static str] {
        &["lp", "acceptance_rate", "step_size", "energy_error", "max_energy_error", "n_steps", "diverging"]
    }

    fn leapfrogs(&self, dim: usize) -> f64 {
        hmc::leapfrogs(1.0, dim)
    }

    fn target_accept(&self) -> f64 {
        // The paper has 0.9; on our hierarchies 0.8 has a tenth more effective draws for each gradient.
        0.8
    }

    fn steps_of_leapfrog(&self, dim: usize) -> f64 {
        first_length(dim)
    }

    fn least_dim(&self) -> usize {
        2
    }

    fn first_length(&self, dim: usize) -> Option<f64> {
        Some(first_length(dim))
    }

    fn validate(&self) -> Result<(), ConfigError> {
        share("jitter", self.jitter)
    }
}

/// Moves `point` by one trajectory of so many steps; where it diverges, or is not accepted, the point stays.
///
/// Energies are `-logp` plus the kinetic energy that turns have added since the start.
fn transition(
    phase_space: PhaseSpace<'_, '_>,
    tuned: Tuned<'_>,
    steps: u32,
    address: Address,
    point: &mut Point,
    workspace: &mut Workspace,
) -> Result<DrawStats, DensityError> {
    let Tuned { step_size, config, .. } = tuned;
    let Workspace { scratch, path, .. } = &mut *workspace;
    let Path { points: [near, far], momenta: [direction, _] } = path;
    let norm = phase_space.draw_momentum(&address.stream(Purpose::Momentum), direction).sqrt();
    direction.iter_mut().for_each(|u| *u /= norm);
    near.copy_from(point);
    let start = -point.logp;
    let mut end = Ending { energy: start, start, largest: 0.0, n_steps: 0, diverging: false };
    let mut kinetic = 0.0;
    for _ in 0..steps {
        let added = step(phase_space, step_size, near, far, direction, scratch)?;
        std::mem::swap(near, far);
        kinetic += added.unwrap_or(f64::INFINITY);
        if !end.takes(kinetic - near.logp, config.max_energy_error) {
            break;
        }
    }
    let traveled = f64::from(steps) * step_size;
    Ok(end.conclude(phase_space, tuned, traveled, address, point, workspace))
}

/// Makes one step: half a turn, a drift, the other half. Returns the kinetic energy that the turns have added; `None` where
/// the density has no value.
fn step(
    phase_space: PhaseSpace<'_, '_>,
    step: f64,
    from: &Point,
    to: &mut Point,
    direction: &mut Buffer,
    scratch: &mut Scratch,
) -> Result<Option<f64>, DensityError> {
    let PhaseSpace { metric, vectors, space } = phase_space;
    let dim = space.dim;
    let first = turn(vectors, dim, 0.5 * step, &from.force, direction);
    metric.drift(vectors, step, direction, &from.x, &mut scratch.spare, &mut to.x);
    match phase_space.evaluate(to, scratch) {
        Ok(()) => Ok(Some(first + turn(vectors, dim, 0.5 * step, &to.force, direction))),
        Err(error) if error.is_recoverable() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Turns the unit vector `direction` towards the force for this long; returns the kinetic energy that it adds (equation 7 of
/// the paper, written with a decaying exponential so that nothing overflows).
fn turn(vectors: &Vectors, dim: usize, time: f64, force: &Buffer, direction: &mut Buffer) -> f64 {
    let strength = vectors.dot(force, force).sqrt();
    if strength == 0.0 {
        return 0.0;
    }
    let rest = (dim - 1) as f64;
    let along = vectors.dot(force, direction) / strength;
    let angle = time * strength / rest;
    let decay = exact::exp(-angle);
    let towards = (1.0 - decay) * (1.0 + decay + along * (1.0 - decay)) / strength;
    for (u, w) in direction.iter_mut().zip(force.iter()) {
        *u = towards * w + 2.0 * decay * *u;
    }
    let norm = vectors.dot(direction, direction).sqrt();
    direction.iter_mut().for_each(|u| *u /= norm);
    rest * (angle - std::f64::consts::LN_2 + exact::ln(1.0 + along + (1.0 - along) * decay * decay))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Under a constant force the direction follows du/dt = (1 - u u^T) w / (d - 1), and the kinetic energy grows by
    /// u . w: the closed form of a turn against many steps of Euler's method.
    #[test]
    fn a_turn_solves_the_isokinetic_equations() {
        const DIM: usize = 3;
        const STEPS: usize = 200_000;
        let (force, start, time) = ([0.4, -1.5, 0.9], [0.6, 0.0, -0.8], 1.7);
        let vectors = Vectors::new(DIM);
        let (w, mut u) = (Buffer::from_slice(&force), Buffer::from_slice(&start));
        let kinetic = turn(&vectors, DIM, time, &w, &mut u);
        let (mut v, mut energy, h) = (start, 0.0, time / STEPS as f64);
        for _ in 0..STEPS {
            let along: f64 = v.iter().zip(&force).map(|(v, w)| v * w).sum();
            energy += h * along;
            for (v, w) in v.iter_mut().zip(&force) {
                *v += h * (w - along * *v) / (DIM - 1) as f64;
            }
        }
        assert!((kinetic - energy).abs() < 1e-4, "{kinetic}, not {energy}");
        for (u, v) in u.iter().zip(&v) {
            assert!((u - v).abs() < 1e-4, "{u}, not {v}");
        }
        let back = {
            u.iter_mut().for_each(|u| *u = -*u);
            turn(&vectors, DIM, time, &w, &mut u)
        };
        assert!((back + kinetic).abs() < 1e-12 && (u[0] + start[0]).abs() < 1e-12);
    }

    /// No force turns nothing, and the strongest one overflows nowhere.
    #[test]
    fn turns_have_no_limits() {
        let vectors = Vectors::new(2);
        for force in [0.0, 1e-300, 1e150] {
            let mut u = Buffer::from_slice(&[0.6, 0.8]);
            let kinetic = turn(&vectors, 2, 1.0, &Buffer::from_slice(&[force, 0.0]), &mut u);
            assert!(kinetic.is_finite() && (vectors.dot(&u, &u) - 1.0).abs() < 1e-12, "{force}: {kinetic}");
        }
    }
}
