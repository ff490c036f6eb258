//! The twin's transition of NUTS, as its definition says it: by recursion, each join with all six U-turn checks.

use super::lanes::{dot, plus};
use super::numbers::Numbers;
use super::real::TwinReal;
use super::space::{Space, TwinPoint};
use crate::draw::DrawStats;
use octopus_random::Purpose;

/// Leaves have the blocks of random numbers from here on, doublings those before.
const FIRST_LEAF_BLOCK: u32 = 64;

/// What limits a transition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits<T> {
    pub(super) max_depth: u32,
    pub(super) max_energy_error: T,
}

/// Why a trajectory is not doubled again.
enum Stop {
    Diverged,
    Turned,
}

/// An end of the trajectory.
#[derive(Clone)]
struct End<R, T> {
    point: TwinPoint<R, T>,
    r: Vec<R>,
    /// Steps from the start, negative to the left.
    index: i32,
}

/// A point that may become the draw.
#[derive(Clone)]
struct Candidate<R, T> {
    point: TwinPoint<R, T>,
    energy: T,
    index: i32,
}

/// The first and the last momentum of a part of the trajectory, and the sum of all of its momenta.
struct Branch<R> {
    begin: Vec<R>,
    end: Vec<R>,
    rho: Vec<R>,
}

impl<R: TwinReal> Branch<R> {
    fn leaf(r: &[R]) -> Self {
        Self { begin: r.to_vec(), end: r.to_vec(), rho: r.to_vec() }
    }

    /// Returns the same part, gone through the other way.
    fn reversed(self) -> Self {
        Self { begin: self.end, end: self.begin, rho: self.rho }
    }

    /// Joins this part and the `next`, unless they make a U-turn: on the whole, or on either part with the nearest
    /// momentum of the other (Stan's two extra checks).
    fn join<T: TwinReal>(self, next: Self) -> Result<Self, Stop> {
        let rho = plus(&self.rho, &next.rho);
        let straight = |begin: &[R], end: &[R], rho: &[R]| {
            let (at_begin, at_end): (T, T) = (dot(begin, rho), dot(end, rho));
            at_begin > T::ZERO && at_end > T::ZERO
        };
        let goes_on = straight(&self.begin, &next.end, &rho)
            && straight(&self.begin, &next.begin, &plus(&self.rho, &next.begin))
            && straight(&self.end, &next.end, &plus(&next.rho, &self.end));
        if goes_on { Ok(Self { begin: self.begin, end: next.end, rho }) } else { Err(Stop::Turned) }
    }
}

/// Sums of exp(H0 - H), less a reference that moves only when they would overflow.
struct Weights<T> {
    reference: T,
    /// The sum over all doublings that are complete.
    tree: T,
    /// The sum over the doubling that is not complete.
    doubling: T,
}

/// A trajectory as it grows.
struct Trajectory<'s, 'm, R, T> {
    space: &'s Space<'m, R, T>,
    limits: Limits<T>,
    numbers: Numbers,
    step_size: T,
    /// The energy at the start.
    start: T,
    /// The left and the right end.
    ends: [End<R, T>; 2],
    weights: Weights<T>,
    /// The candidate of the doubling that is not complete.
    candidate: Option<Candidate<R, T>>,
    acceptance: T,
    max_energy_error: T,
    n_steps: u32,
}

impl<R: TwinReal, T: TwinReal> Trajectory<'_, '_, R, T> {
    /// Makes 2^depth more steps.
    fn grow(&mut self, depth: u32, forward: bool) -> Result<Branch<R>, Stop> {
        if depth == 0 {
            return self.step(forward);
        }
        let first = self.grow(depth - 1, forward)?;
        let second = self.grow(depth - 1, forward)?;
        first.join::<T>(second)
    }

    fn step(&mut self, forward: bool) -> Result<Branch<R>, Stop> {
        let end = &mut self.ends[usize::from(forward)];
        let step = if forward { self.step_size } else { -self.step_size };
        let next = self.space.leapfrog(step, &end.point, &end.r);
        let [even, odd] = self.numbers.pair::<T>(Purpose::Tree, FIRST_LEAF_BLOCK + self.n_steps / 2);
        let uniform = if self.n_steps.is_multiple_of(2) { even } else { odd };
        self.n_steps += 1;
        let energy = next.as_ref().map_or(T::INFINITY, |(point, _, square)| T::of(0.5) * *square - point.logp);
        let error = if energy.wide().is_nan() { T::INFINITY } else { energy - self.start };
        if error.wide().abs() > self.max_energy_error.wide().abs() {
            self.max_energy_error = error;
        }
        let diverged = error > self.limits.max_energy_error;
        let Some((point, r, _)) = next.filter(|_| !diverged) else { return Err(Stop::Diverged) };
        let index = end.index + if forward { 1 } else { -1 };
        *end = End { point, r, index };
        let weight = self.weights.add(-error);
        let probability = if error <= T::ZERO {
            T::ONE
        } else if self.weights.reference == T::ZERO {
            weight
        } else {
            (-error).exp()
        };
        self.acceptance = self.acceptance + probability;
        let end = &self.ends[usize::from(forward)];
        if uniform * self.weights.doubling < weight {
            self.candidate = Some(Candidate { point: end.point.clone(), energy, index });
        }
        Ok(Branch::leaf(&end.r))
    }
}

impl<T: TwinReal> Weights<T> {
    /// Adds a leaf with H0 - H = `gain`; returns its weight.
    fn add(&mut self, gain: T) -> T {
        if gain > self.reference + T::RESCALE {
            let factor = (self.reference - gain).exp();
            self.tree = self.tree * factor;
            self.doubling = self.doubling * factor;
            self.reference = gain;
        }
        let weight = (gain - self.reference).exp();
        self.doubling = self.doubling + weight;
        weight
    }
}

/// Moves `point` by one transition.
pub(super) fn transition<R: TwinReal, T: TwinReal>(
    space: &Space<'_, R, T>,
    limits: Limits<T>,
    numbers: Numbers,
    step_size: T,
    point: &mut TwinPoint<R, T>,
) -> DrawStats {
    let r: Vec<R> = numbers.normals(Purpose::Momentum, point.x.len());
    let start = T::of(0.5) * dot::<R, T>(&r, &r) - point.logp;
    let mut whole = Branch::leaf(&r);
    let mut chosen = Candidate { point: point.clone(), energy: start, index: 0 };
    let end = End { point: point.clone(), r, index: 0 };
    let mut trajectory = Trajectory {
        space,
        limits,
        numbers,
        step_size,
        start,
        ends: [end.clone(), end],
        weights: Weights { reference: T::ZERO, tree: T::ONE, doubling: T::ZERO },
        candidate: None,
        acceptance: T::ZERO,
        max_energy_error: T::ZERO,
        n_steps: 0,
    };
    let (mut tree_depth, mut stop) = (0, None);
    while tree_depth < limits.max_depth && stop.is_none() {
        let [direction, accept] = numbers.pair::<T>(Purpose::Tree, tree_depth);
        let forward = direction < T::of(0.5);
        (trajectory.weights.doubling, trajectory.candidate) = (T::ZERO, None);
        let grown = match trajectory.grow(tree_depth, forward) {
            Ok(grown) => grown,
            Err(reason) => {
                stop = Some(reason);
                break;
            }
        };
        tree_depth += 1;
        // Biased progressive sampling: the new half is favoured by its share of the old.
        let Weights { tree, doubling, .. } = trajectory.weights;
        let favoured = trajectory.candidate.take().filter(|_| accept * tree < doubling);
        chosen = favoured.unwrap_or(chosen);
        trajectory.weights.tree = tree + doubling;
        // In the order of time.
        let old = whole;
        let joined = if forward { old.join::<T>(grown) } else { grown.reversed().join::<T>(old) };
        match joined {
            Ok(joined) => whole = joined,
            Err(reason) => {
                stop = Some(reason);
                break;
            }
        }
    }
    *point = chosen.point;
    let Trajectory { acceptance, max_energy_error, n_steps, .. } = trajectory;
    DrawStats {
        lp: (point.logp - space.coordinates.log_jacobian(&point.x)).wide(),
        acceptance_rate: (acceptance / T::of(f64::from(n_steps.max(1)))).wide(),
        step_size: step_size.wide(),
        energy: chosen.energy.wide(),
        energy_error: (chosen.energy - start).wide(),
        max_energy_error: max_energy_error.wide(),
        tree_depth,
        n_steps,
        index_in_trajectory: chosen.index,
        diverging: matches!(stop, Some(Stop::Diverged)),
        reached_max_treedepth: stop.is_none() && tree_depth == limits.max_depth,
        ..DrawStats::default()
    }
}
