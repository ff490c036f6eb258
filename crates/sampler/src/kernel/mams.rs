//! MAMS, the Metropolis-adjusted microcanonical sampler: trajectories of unit speed, whose direction the force turns.
//!
//! Robnik, Cohn-Gordon and Seljak (2025), "Metropolis adjusted microcanonical Hamiltonian Monte Carlo", arXiv 2503.01707:
//! section 3 for the dynamics, section 4 for acceptance. The integrator is the leapfrog of the isokinetic equations (Steeg
//! and Galstyan 2021).
//!
//! The length of trajectories (section 5 there) is learned in another way, draw by draw: it is where the covariance of both
//! ends of a trajectory has fallen to the square of a third of the length. ChEES-HMC's criterion does not suit these
//! trajectories: the distance from the middle changes more slowly than the direction (decision 43).

use super::address::Address;
use super::hmc::{self, Ending, LengthSlope, length_pair, share, steps_at};
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
        Self { jitter: 0.5 }
    }
}

/// Trajectories grow as long as the covariance of their ends is above the square of the length by this number: on a normal
/// distribution to 1.35 standard deviations, and where they go on and on without forgetting to this many.
const REACH: f64 = 3.0;

/// The largest angle of a turn. Farther turned, rounding leaves nothing of where a direction came from: there is no way
/// back, and the kinetic energy means nothing.
const LARGEST_ANGLE: f64 = 12.0;

/// Returns the length that warm-up begins with: a trajectory of unit speed goes as far as one of a normal distribution's
/// momentum goes in one unit of time.
fn first_length(dim: usize) -> f64 {
    (dim as f64).sqrt()
}

/// Returns where an iteration's length lies within its range, and what to round by. Places follow each other by the golden
/// ratio (Weyl's sequence), from a random one on: any few iterations cover the range evenly, so that they tell more of the
/// mean length, and short trajectories do not follow each other.
fn spread(address: Address) -> [f64; 2] {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let [first, _] = length_pair(Address { iteration: 0, ..address });
    let [_, rounding] = length_pair(address);
    [(first + f64::from(address.iteration) * GOLDEN).fract(), rounding]
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
        let steps = steps_at(length / tuned.step_size, self.jitter, spread(address), tuned);
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
        // Dual averaging ends at 0.89 then, where the paper's long warm-up ends with a target of 0.9.
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
    let Path { points: [near, far], momenta: [direction, spare] } = path;
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
    let slope = tuned.center.zip(tuned.length).map(|(center, length)| {
        let slope =
            covariance(phase_space, center, [point, near], &mut scratch.spare, spare) - (length / REACH).powi(2);
        LengthSlope { weight: 1.0, slope: if slope.is_finite() { slope } else { 0.0 } }
    });
    Ok(end.conclude(phase_space, tuned, slope, address, point, workspace))
}

/// Returns the product of both ends' whitened positions about `center`, whose mean is the sum of their covariances. `z` and
/// `other` are overwritten.
fn covariance(
    phase_space: PhaseSpace<'_, '_>,
    center: &[f64],
    ends: [&Point; 2],
    z: &mut [f64],
    other: &mut [f64],
) -> f64 {
    let PhaseSpace { metric, vectors, .. } = phase_space;
    metric.whiten_position(vectors, &ends[0].x, center, z);
    metric.whiten_position(vectors, &ends[1].x, center, other);
    vectors.dot(z, other)
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
/// the paper, written with a decaying exponential so that nothing overflows), infinite beyond the largest angle.
fn turn(vectors: &Vectors, dim: usize, time: f64, force: &Buffer, direction: &mut Buffer) -> f64 {
    let strength = vectors.dot(force, force).sqrt();
    if strength == 0.0 {
        return 0.0;
    }
    let rest = (dim - 1) as f64;
    let along = vectors.dot(force, direction) / strength;
    let angle = time * strength / rest;
    if angle > LARGEST_ANGLE {
        return f64::INFINITY;
    }
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

    /// A turn at the limit can be undone. A turn beyond it is a divergence, however strong the force.
    #[test]
    fn turns_have_a_way_back_or_none() {
        let vectors = Vectors::new(2);
        let start = [0.6, 0.8];
        for force in [0.0, 1e-300, 1.0, LARGEST_ANGLE] {
            let w = Buffer::from_slice(&[force, 0.0]);
            let mut u = Buffer::from_slice(&start);
            let kinetic = turn(&vectors, 2, 1.0, &w, &mut u);
            assert!((vectors.dot(&u, &u) - 1.0).abs() < 1e-12, "{force}");
            u.iter_mut().for_each(|u| *u = -*u);
            let back = turn(&vectors, 2, 1.0, &w, &mut u);
            assert!((kinetic + back).abs() < 1e-4, "{force}: {kinetic} and {back}");
            assert!((u[0] + start[0]).abs() < 1e-4 && (u[1] + start[1]).abs() < 1e-4, "{force}: {}, {}", u[0], u[1]);
        }
        for force in [LARGEST_ANGLE + 0.1, 1e150] {
            let mut u = Buffer::from_slice(&start);
            assert_eq!(turn(&vectors, 2, 1.0, &Buffer::from_slice(&[force, 0.0]), &mut u), f64::INFINITY);
        }
    }

    /// Around the range, the places of any eight iterations in a row are at most 0.146 apart (the three-distance theorem).
    #[test]
    fn lengths_of_iterations_in_a_row_are_spread() {
        for iteration in 1..1000 {
            let place = |i: u32| spread(Address { seed: 3, chain: i % 4, iteration: iteration + i })[0];
            let mut places: Vec<f64> = (0..8).map(place).collect();
            places.sort_by(f64::total_cmp);
            places.push(1.0 + places[0]);
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] < 0.1460), "{iteration}: {places:?}");
        }
    }
}
