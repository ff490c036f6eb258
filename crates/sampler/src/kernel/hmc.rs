//! Hamiltonian Monte Carlo: trajectories of a given length, at whose end a point is accepted or not.
//!
//! Duane, Kennedy, Pendleton and Roweth (1987); Neal (2011), section 3.2. Lengths are in standard deviations, because
//! momenta are whitened. A length is drawn anew for each iteration (Neal 2011, section 3.2: a fixed length may be a period
//! of some coordinate), the same one for all chains, so that chains in lock step take as many steps.

use super::address::Address;
use super::phase_space::PhaseSpace;
use super::state::{Point, State, StateMut};
use super::workspace::{Path, Workspace};
use super::{Kernel, Tuned};
use crate::config::ConfigError;
use crate::draw::DrawStats;
use octopus_density::DensityError;
use octopus_density::warp::Buffer;
use octopus_random::{Purpose, exact};
use serde::{Deserialize, Serialize};

/// A quarter of a period of a normal distribution: where a trajectory has forgotten its start.
const QUARTER: f64 = std::f64::consts::FRAC_PI_2;

/// Settings of Hamiltonian Monte Carlo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hmc {
    /// The number of leapfrog steps of each trajectory; `None` takes as many as make `length`.
    pub leapfrogs: Option<u32>,
    /// The step size; `None` adapts it in warm-up to the target of acceptance.
    pub step_size: Option<f64>,
    /// The mean length of trajectories, in standard deviations of the posterior as far as the metric knows them.
    pub length: f64,
    /// Lengths, or numbers of steps, are uniform within this share of their mean, from 0 (all are the same) to 1.
    pub jitter: f64,
}

impl Default for Hmc {
    fn default() -> Self {
        Self { leapfrogs: None, step_size: None, length: QUARTER, jitter: 0.5 }
    }
}

impl Kernel for Hmc {
    fn step(
        &self,
        phase_space: PhaseSpace<'_, '_>,
        tuned: Tuned<'_>,
        address: Address,
        point: &mut Point,
        workspace: &mut Workspace,
    ) -> Result<DrawStats, DensityError> {
        transition(phase_space, tuned, self.all().steps(tuned, address), address, point, workspace)
    }

    fn statistics(&self) -> &'static [&'static str] {
        STATISTICS
    }

    fn leapfrogs(&self, dim: usize) -> f64 {
        self.leapfrogs.map_or_else(|| leapfrogs(self.length, dim), f64::from)
    }

    fn target_accept(&self) -> f64 {
        // The optimum of normals is 0.651 (Beskos et al. 2013), but of 1000 seeds of eight schools, non-centered, one was lost
        // there and 987 diverged; at 0.8 none is lost.
        0.8
    }

    fn fixed_step(&self) -> Option<f64> {
        self.step_size
    }

    fn trajectories(&self, _length: Option<f64>) -> Option<Trajectories> {
        Some(self.all())
    }

    fn validate(&self) -> Result<(), ConfigError> {
        if let Some(0) = self.leapfrogs {
            return Err(ConfigError {
                field: "leapfrogs",
                value: "0".into(),
                expected: "at least 1 leapfrog step is needed",
            });
        }
        if let Some(step) = self.step_size {
            positive("step_size", step)?;
        }
        positive("length", self.length)?;
        share("jitter", self.jitter)
    }
}

impl Hmc {
    fn all(&self) -> Trajectories {
        Trajectories { leapfrogs: self.leapfrogs, length: self.length, jitter: self.jitter }
    }
}

/// How far trajectories go: so many steps in the mean, or as many as make a length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trajectories {
    pub(crate) leapfrogs: Option<u32>,
    pub(crate) length: f64,
    pub(crate) jitter: f64,
}

impl Trajectories {
    /// Returns the number of steps of the iteration's trajectory.
    pub(super) fn steps(&self, tuned: Tuned<'_>, address: Address) -> u32 {
        let mean = self.leapfrogs.map_or(self.length / tuned.step_size, f64::from);
        steps_of(mean, self.jitter, tuned, address)
    }
}

/// The statistics of trajectories without a tree.
pub(super) const STATISTICS: &[&str] =
    &["lp", "acceptance_rate", "step_size", "energy", "energy_error", "max_energy_error", "n_steps", "diverging"];

/// Checks that a setting is a positive number.
pub(super) fn positive(field: &'static str, value: f64) -> Result<(), ConfigError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(ConfigError { field, value: value.to_string(), expected: "must be finite and positive" })
}

/// Checks that a setting is a share.
pub(super) fn share(field: &'static str, value: f64) -> Result<(), ConfigError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(ConfigError { field, value: value.to_string(), expected: "must lie between 0 and 1" })
}

/// Returns about how many leapfrog steps a trajectory of this length takes: step sizes shrink with the fourth root of the
/// dimension (Beskos et al. 2013).
pub(super) fn leapfrogs(length: f64, dim: usize) -> f64 {
    (length * (dim as f64).powf(0.25)).max(1.0)
}

/// Returns the number of steps of the iteration's trajectory: its mean is `mean`, and it lies within the share `jitter` of
/// that. It is at least 1, and at most what a tree of the greatest depth would have.
pub(super) fn steps_of(mean: f64, jitter: f64, tuned: Tuned<'_>, address: Address) -> u32 {
    steps_at(mean, jitter, length_pair(address), tuned)
}

/// Returns the two uniform numbers of an iteration's length, the same ones for all chains.
pub(super) fn length_pair(address: Address) -> [f64; 2] {
    Address { chain: 0, ..address }.stream(Purpose::Length).uniform_pair_at(0)
}

/// Returns the number of steps at a place, from 0 to 1, within the share `jitter` of `mean`, with a uniform number to round by.
pub(super) fn steps_at(mean: f64, jitter: f64, [place, rounding]: [f64; 2], tuned: Tuned<'_>) -> u32 {
    let wanted = mean * (1.0 + jitter * (2.0 * place - 1.0));
    let most = f64::from((1_u32 << tuned.config.max_depth) - 1);
    // Rounding at random keeps the mean where steps are few.
    (wanted + rounding).floor().clamp(1.0, most) as u32
}

/// Moves `point` by one trajectory of so many steps; where it diverges, or is not accepted, the point stays.
pub(super) fn transition(
    phase_space: PhaseSpace<'_, '_>,
    tuned: Tuned<'_>,
    steps: u32,
    address: Address,
    point: &mut Point,
    workspace: &mut Workspace,
) -> Result<DrawStats, DensityError> {
    let Tuned { step_size, config, .. } = tuned;
    let Workspace { scratch, path, .. } = &mut *workspace;
    let Path { points: [near, far], momenta: [momentum, next] } = path;
    let start = 0.5 * phase_space.draw_momentum(&address.stream(Purpose::Momentum), momentum) - point.logp;
    near.copy_from(point);
    let mut end = Ending { energy: start, start, largest: 0.0, n_steps: 0, diverging: false };
    for _ in 0..steps {
        let from = State { point: near, momentum };
        let square = phase_space.leapfrog(step_size, from, StateMut { point: far, momentum: next }, scratch)?;
        std::mem::swap(near, far);
        std::mem::swap(momentum, next);
        let energy = square.map_or(f64::INFINITY, |square| 0.5 * square - near.logp);
        if !end.takes(energy, config.max_energy_error) {
            break;
        }
    }
    let slope = tuned.center.map(|center| {
        let growth = growth(phase_space, center, point, near, momentum, &mut scratch.spare);
        LengthSlope { weight: f64::from(steps) * step_size, slope: growth }
    });
    Ok(end.conclude(phase_space, tuned, slope, address, point, workspace))
}

/// How much longer, or shorter if negative, a trajectory says that others had better be: the product of both.
pub(super) struct LengthSlope {
    pub(super) weight: f64,
    pub(super) slope: f64,
}

/// The end of a trajectory so far.
pub(super) struct Ending {
    pub(super) energy: f64,
    pub(super) start: f64,
    /// The largest energy error.
    pub(super) largest: f64,
    pub(super) n_steps: u32,
    pub(super) diverging: bool,
}

impl Ending {
    /// Takes a step's energy into account; returns whether the trajectory goes on.
    pub(super) fn takes(&mut self, energy: f64, most: f64) -> bool {
        self.n_steps += 1;
        self.energy = energy;
        let error = if energy.is_nan() { f64::INFINITY } else { energy - self.start };
        if error.abs() > self.largest.abs() {
            self.largest = error;
        }
        self.diverging = error > most;
        !self.diverging
    }

    /// Accepts the end of a trajectory, or not (Metropolis et al. 1953); it is the first point of the workspace's path.
    /// `slope` is what the trajectory says of lengths, while they are learned: the more, the likelier the end is accepted.
    pub(super) fn conclude(
        self,
        phase_space: PhaseSpace<'_, '_>,
        tuned: Tuned<'_>,
        slope: Option<LengthSlope>,
        address: Address,
        point: &mut Point,
        workspace: &mut Workspace,
    ) -> DrawStats {
        let Self { energy, start, largest, n_steps, diverging } = self;
        let error = energy - start;
        let acceptance_rate = match (diverging, error <= 0.0) {
            (true, _) => 0.0,
            (false, true) => 1.0,
            (false, false) => exact::exp(-error),
        };
        let Path { points: [end, _], .. } = &mut workspace.path;
        let length_slope = match slope {
            Some(LengthSlope { weight, slope }) if acceptance_rate > 0.0 => acceptance_rate * weight * slope,
            _ => 0.0,
        };
        let [uniform, _] = address.stream(Purpose::Tree).uniform_pair_at(0);
        let accepted = uniform < acceptance_rate;
        if accepted {
            std::mem::swap(point, end);
        }
        DrawStats {
            lp: point.logp - phase_space.space.log_jacobian(&point.x[..phase_space.dim()]),
            acceptance_rate,
            step_size: tuned.step_size,
            energy: if accepted { energy } else { start },
            energy_error: if accepted { error } else { 0.0 },
            max_energy_error: largest,
            n_steps,
            diverging,
            length_slope,
            ..DrawStats::default()
        }
    }
}

/// Returns how fast, at the end of a trajectory, the square of the change of the square of the distance from `center` grows
/// with the length (Hoffman, Radul and Sountsov 2021, equation 6, in whitened coordinates). `spare` is overwritten.
fn growth(
    phase_space: PhaseSpace<'_, '_>,
    center: &[f64],
    from: &Point,
    to: &Point,
    momentum: &Buffer,
    spare: &mut [f64],
) -> f64 {
    let PhaseSpace { metric, vectors, .. } = phase_space;
    let whitened = |point: &Point, spare: &mut [f64]| {
        metric.whiten_position(vectors, &point.x, center, spare);
        vectors.dot(spare, spare)
    };
    let before = whitened(from, spare);
    let after = whitened(to, spare);
    let slope = (after - before) * vectors.dot(spare, momentum);
    if slope.is_finite() { slope } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SamplerConfig;

    fn steps(mean: f64, jitter: f64, max_depth: u32) -> Vec<u32> {
        let config = SamplerConfig { max_depth, ..SamplerConfig::default() };
        let tuned = Tuned { config: &config, step_size: 0.1, length: None, center: None };
        let address = |iteration: u32| Address { seed: 7, chain: iteration % 5, iteration };
        (0..4000).map(|iteration| steps_of(mean, jitter, tuned, address(iteration))).collect()
    }

    /// Means of 4000 draws, whose standard errors are below 0.04.
    #[test]
    fn trajectories_have_the_mean_and_the_range_of_their_settings() {
        let mean = |steps: &[u32]| steps.iter().sum::<u32>() as f64 / steps.len() as f64;
        assert!(steps(20.0, 0.0, 10).iter().all(|&n| n == 20));
        let fractional = steps(2.3, 0.0, 10);
        assert!(fractional.iter().all(|&n| n == 2 || n == 3) && (mean(&fractional) - 2.3).abs() < 0.04);
        let jittered = steps(8.0, 0.5, 10);
        assert_eq!((jittered.iter().min(), jittered.iter().max()), (Some(&4), Some(&12)));
        assert!((mean(&jittered) - 8.0).abs() < 0.15);
        assert!(steps(1e9, 0.0, 3).iter().all(|&n| n == 7) && steps(1e-9, 0.0, 3).iter().all(|&n| n == 1));
    }

    /// Chains in lock step take as many steps, and iterations take different numbers.
    #[test]
    fn all_chains_of_an_iteration_go_as_far() {
        let config = SamplerConfig::default();
        let tuned = Tuned { config: &config, step_size: 0.1, length: None, center: None };
        let of = |chain, iteration| steps_of(30.0, 1.0, tuned, Address { seed: 7, chain, iteration });
        assert!((0..50).all(|iteration| (1..9).all(|chain| of(chain, iteration) == of(0, iteration))));
        assert!((0..50).any(|iteration| of(0, iteration) != of(0, iteration + 1)));
    }
}
