//! One transition of NUTS: it doubles a trajectory until a U-turn, a divergence or the depth limit.
//!
//! Multinomial sampling within the trajectory (Betancourt 2017), biased progressive doubling, the generalised U-turn
//! criterion with Stan's two extra checks across every seam.
//!
//! The tree is built without recursion: finished subtrees wait on a stack, and two of the same level are
//! joined as soon as both are there, which checks exactly the pairs that the recursion checks, in the same
//! order. A point is drawn from a subtree as its leaves appear, each replacing the last choice with the
//! probability of its share of the weight so far: the same distribution as drawing at every join, with one
//! position kept instead of one for each level.

use super::address::Address;
use super::phase_space::PhaseSpace;
use super::state::{Point, Scratch, State, StateMut};
use crate::draw::DrawStats;
use octopus_density::DensityError;
use octopus_random::{Purpose, Stream, exact};
use subtree::{Momenta, Subtree, join};
use weights::Weights;

mod subtree;
mod weights;

/// Leaves use the blocks of random numbers from here on, doublings those before.
const FIRST_LEAF_BLOCK: u32 = 64;
/// Points kept at a time: both ends of the trajectory, the proposal, the candidate of the new half, and the next
/// leaf. They are known by number, so that none is ever copied.
const POINTS: usize = 5;

/// The settings of a transition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NutsSettings {
    pub(crate) step_size: f64,
    pub(crate) max_depth: u32,
    pub(crate) max_energy_error: f64,
}

/// Everything that a transition overwrites and nobody reads after it.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) scratch: Scratch,
    momenta: Momenta,
    stack: Vec<Subtree>,
    points: [Point; POINTS],
}

impl Workspace {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            scratch: Scratch::new(dim),
            momenta: Momenta::new(dim),
            stack: Vec::new(),
            points: std::array::from_fn(|_| Point::zeros(dim)),
        }
    }
}

/// Moves `point` by one transition of NUTS; where the density is broken, the point stays.
pub(crate) fn transition(
    phase_space: PhaseSpace<'_, '_>,
    settings: NutsSettings,
    address: Address,
    point: &mut Point,
    workspace: &mut Workspace,
) -> Result<DrawStats, DensityError> {
    let mut trajectory = Trajectory::begin(phase_space, settings, address, point, workspace);
    while trajectory.depth < settings.max_depth && trajectory.double()? {}
    Ok(trajectory.choose(point))
}

/// A trajectory, how far it has grown, and the point chosen of it so far.
struct Trajectory<'t, 'a, 'd> {
    phase_space: PhaseSpace<'a, 'd>,
    settings: NutsSettings,
    random: Stream,
    workspace: &'t mut Workspace,
    /// The Hamiltonian where the trajectory starts.
    start_energy: f64,
    left: Edge,
    right: Edge,
    proposal: Selected,
    /// The tree seen from left to right; `begin` and `end` are its left and right ends.
    tree: Subtree,
    weights: Weights,
    acceptance: f64,
    max_energy_error: f64,
    /// The random numbers of two leaves: they come in pairs.
    leaf_uniforms: [f64; 2],
    n_steps: u32,
    depth: u32,
    diverging: bool,
    turned: bool,
}

impl<'t, 'a, 'd> Trajectory<'t, 'a, 'd> {
    /// Draws a momentum at `point`, which stays as it is.
    #[inline(always)]
    fn begin(
        phase_space: PhaseSpace<'a, 'd>,
        settings: NutsSettings,
        address: Address,
        point: &Point,
        workspace: &'t mut Workspace,
    ) -> Self {
        let Workspace { momenta, points, .. } = workspace;
        momenta.reset();
        let start = momenta.take();
        let mut momentum = momenta.borrow_out(start);
        let kinetic = 0.5 * phase_space.draw_momentum(&address.stream(Purpose::Momentum), &mut momentum);
        momenta.restore(start, momentum);
        points[0].copy_from(point);
        let start_energy = kinetic - point.logp;
        Self {
            phase_space,
            settings,
            random: address.stream(Purpose::Tree),
            workspace,
            start_energy,
            left: Edge { point: 0, index: 0 },
            right: Edge { point: 0, index: 0 },
            proposal: Selected { point: 0, energy: start_energy, index: 0 },
            tree: Subtree::leaf(start),
            weights: Weights::of_the_start(),
            acceptance: 0.0,
            max_energy_error: 0.0,
            leaf_uniforms: [0.0; 2],
            n_steps: 0,
            depth: 0,
            diverging: false,
            turned: false,
        }
    }

    /// Makes the trajectory twice as long, to the left or to the right; returns whether it may grow on.
    #[inline(always)]
    fn double(&mut self) -> Result<bool, DensityError> {
        let [direction, accept] = self.random.uniform_pair_at(self.depth);
        let forward = direction < 0.5;
        let Some((half, candidate)) = self.grow(forward)? else { return Ok(false) };
        self.depth += 1;
        // Biased progressive sampling: the new half is favoured by its share of the old.
        if let Some(candidate) = candidate
            && accept * self.weights.tree < self.weights.subtree
        {
            self.proposal = candidate;
        }
        self.weights.tree += self.weights.subtree;
        // Seen in the direction of this doubling the old tree comes first.
        let old = if forward { self.tree } else { self.tree.reversed() };
        match join(self.phase_space.vectors, &mut self.workspace.momenta, old, half) {
            Some(whole) => self.tree = if forward { whole } else { whole.reversed() },
            None => self.turned = true,
        }
        Ok(!self.turned)
    }

    /// Adds as many leaves as there are at one end; returns them joined, with the point chosen of them, or `None` when
    /// they diverge or turn.
    #[inline(always)]
    fn grow(&mut self, forward: bool) -> Result<Option<(Subtree, Option<Selected>)>, DensityError> {
        let step_size = self.settings.step_size;
        let (mut edge, far, step, mut momentum, side) = if forward {
            (self.right, self.left.point, step_size, self.tree.end, 1)
        } else {
            (self.left, self.right.point, -step_size, self.tree.begin, -1)
        };
        self.weights.subtree = 0.0;
        self.workspace.stack.clear();
        let mut candidate: Option<Selected> = None;
        for _ in 0..1u32 << self.depth {
            let chosen = candidate.map_or(self.proposal.point, |chosen| chosen.point);
            let to = free_point([edge.point, far, self.proposal.point, chosen]);
            let energy;
            (momentum, energy) = self.step(step, (edge.point, momentum), to)?;
            edge = Edge { point: to, index: edge.index + side };
            let uniform = self.next_uniform();
            let Some(weight) = self.weigh(energy) else { return Ok(None) };
            if uniform * self.weights.subtree < weight {
                candidate = Some(Selected { point: to, energy, index: edge.index });
            }
            if !self.join_leaf(momentum) {
                self.turned = true;
                return Ok(None);
            }
        }
        if forward {
            self.right = edge;
        } else {
            self.left = edge;
        }
        Ok(self.workspace.stack.pop().map(|half| (half, candidate)))
    }

    /// Makes a leapfrog step from a point and a momentum to the point `to`, all known by number; returns the number of
    /// the new momentum and the energy.
    #[inline(always)]
    fn step(&mut self, step: f64, from: (usize, usize), to: usize) -> Result<(usize, f64), DensityError> {
        let Workspace { scratch, momenta, points, .. } = &mut *self.workspace;
        let next = momenta.take();
        let mut momentum = momenta.borrow_out(next);
        let mut leaf = std::mem::take(&mut points[to]);
        let from = State { point: &points[from.0], momentum: momenta.get(from.1) };
        let to_state = StateMut { point: &mut leaf, momentum: &mut momentum };
        let square = self.phase_space.leapfrog(step, from, to_state, scratch);
        let logp = leaf.logp;
        points[to] = leaf;
        momenta.restore(next, momentum);
        let energy = square?.map_or(f64::INFINITY, |square| 0.5 * square - logp);
        Ok((next, energy))
    }

    /// Returns the random number of the next leaf, and counts it.
    #[inline(always)]
    fn next_uniform(&mut self) -> f64 {
        if self.n_steps.is_multiple_of(2) {
            self.leaf_uniforms = self.random.uniform_pair_at(FIRST_LEAF_BLOCK + self.n_steps / 2);
        }
        let uniform = self.leaf_uniforms[(self.n_steps % 2) as usize];
        self.n_steps += 1;
        uniform
    }

    /// Takes a leaf's energy into account; returns its weight, or `None` where it diverges.
    #[inline(always)]
    fn weigh(&mut self, energy: f64) -> Option<f64> {
        let error = if energy.is_nan() { f64::INFINITY } else { energy - self.start_energy };
        if error.abs() > self.max_energy_error.abs() {
            self.max_energy_error = error;
        }
        if error > self.settings.max_energy_error {
            self.diverging = true;
            return None;
        }
        let weight = self.weights.add(-error);
        self.acceptance += if error <= 0.0 {
            1.0
        } else if self.weights.are_of_the_start() {
            weight
        } else {
            exact::exp(-error)
        };
        Some(weight)
    }

    /// Joins a leaf with the subtrees before it, as far as they are complete; returns whether none of them turns.
    #[inline(always)]
    fn join_leaf(&mut self, momentum: usize) -> bool {
        let Workspace { momenta, stack, .. } = &mut *self.workspace;
        let mut finished = Subtree::leaf(momentum);
        while let Some(before) = stack.pop_if(|top| top.level == finished.level) {
            match join(self.phase_space.vectors, momenta, before, finished) {
                Some(joined) => finished = joined,
                None => return false,
            }
        }
        stack.push(finished);
        true
    }

    /// Puts the chosen point in the place of `point`.
    fn choose(self, point: &mut Point) -> DrawStats {
        let Self { phase_space, settings, proposal, n_steps, depth, diverging, turned, .. } = self;
        std::mem::swap(point, &mut self.workspace.points[proposal.point]);
        DrawStats {
            lp: point.logp - phase_space.space.log_jacobian(&point.x[..phase_space.dim()]),
            acceptance_rate: self.acceptance / f64::from(n_steps.max(1)),
            step_size: settings.step_size,
            energy: proposal.energy,
            energy_error: proposal.energy - self.start_energy,
            max_energy_error: self.max_energy_error,
            tree_depth: depth,
            n_steps,
            index_in_trajectory: proposal.index,
            diverging,
            reached_max_treedepth: !diverging && !turned && depth == settings.max_depth,
        }
    }
}

/// An end of the trajectory.
#[derive(Clone, Copy)]
struct Edge {
    point: usize,
    /// Steps from the start, negative to the left.
    index: i32,
}

/// The point chosen so far.
#[derive(Clone, Copy)]
struct Selected {
    point: usize,
    energy: f64,
    index: i32,
}

/// Returns a point that is none of the four in use.
#[inline]
fn free_point(kept: [usize; POINTS - 1]) -> usize {
    let used = kept.into_iter().fold(0u32, |used, point| used | 1 << point);
    used.trailing_ones() as usize
}

#[cfg(test)]
mod tests;
