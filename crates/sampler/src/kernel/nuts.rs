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
use super::workspace::{POINTS, Path, Workspace};
use super::{Kernel, Tuned};
use crate::config::SamplerConfig;
use crate::draw::DrawStats;
use octopus_density::DensityError;
use octopus_random::{Purpose, Stream, exact};
use subtree::join;
pub(super) use subtree::{Momenta, Subtree};
use weights::Weights;

mod subtree;
mod weights;

/// Leaves use the blocks of random numbers from here on, doublings those before.
const FIRST_LEAF_BLOCK: u32 = 64;
/// The settings of a transition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NutsSettings {
    pub(crate) step_size: f64,
    pub(crate) max_depth: u32,
    pub(crate) max_energy_error: f64,
}

impl NutsSettings {
    pub(super) fn of(tuned: Tuned<'_>) -> Self {
        let &SamplerConfig { max_depth, max_energy_error, .. } = tuned.config;
        Self { step_size: tuned.step_size, max_depth, max_energy_error }
    }
}

/// How a leaf is made of the one before it.
pub(super) trait Integrator: Copy {
    /// Makes a step of signed size `step`.
    fn step(
        self,
        phase_space: PhaseSpace<'_, '_>,
        step: f64,
        from: State<'_>,
        to: StateMut<'_>,
        scratch: &mut Scratch,
        path: &mut Path,
    ) -> Result<Arrival, DensityError>;
}

/// Where a step of a tree has led.
pub(super) struct Arrival {
    /// The square of the momentum; `None` where the density has no value.
    pub(super) square: Option<f64>,
    /// Gradients that the step took.
    pub(super) gradients: u32,
    /// Whether the same step leads back: a tree ends before a leaf from which none does.
    pub(super) leads_back: bool,
    /// Whether the step counts for the rate of acceptance, by which the step size is adapted.
    pub(super) is_whole: bool,
}

/// One leapfrog step.
#[derive(Clone, Copy)]
struct Leapfrog;

impl Integrator for Leapfrog {
    #[inline(always)]
    fn step(
        self,
        phase_space: PhaseSpace<'_, '_>,
        step: f64,
        from: State<'_>,
        to: StateMut<'_>,
        scratch: &mut Scratch,
        _: &mut Path,
    ) -> Result<Arrival, DensityError> {
        let square = phase_space.leapfrog(step, from, to, scratch)?;
        Ok(Arrival { square, gradients: 1, leads_back: true, is_whole: true })
    }
}

/// The No-U-Turn Sampler, as the list of samplers knows it.
pub(crate) struct Nuts;

impl Kernel for Nuts {
    fn step(
        &self,
        phase_space: PhaseSpace<'_, '_>,
        tuned: Tuned<'_>,
        address: Address,
        point: &mut Point,
        workspace: &mut Workspace,
    ) -> Result<DrawStats, DensityError> {
        transition(phase_space, NutsSettings::of(tuned), address, point, workspace)
    }

    fn statistics(&self) -> &'static [&'static str] {
        STATISTICS
    }

    fn leapfrogs(&self, dim: usize) -> f64 {
        leapfrogs(dim)
    }

    fn target_accept(&self) -> f64 {
        0.8
    }

    fn warms_up_across_chains(&self) -> bool {
        true
    }

    fn is_on_gpu(&self) -> bool {
        true
    }
}

/// The statistics of trees.
pub(super) const STATISTICS: &[&str] = &[
    "lp",
    "acceptance_rate",
    "step_size",
    "energy",
    "energy_error",
    "max_energy_error",
    "tree_depth",
    "n_steps",
    "index_in_trajectory",
    "diverging",
    "reached_max_treedepth",
];

/// Returns about how many leapfrog steps a tree has: trajectories grow with the fourth root of the dimension, in powers of
/// two.
pub(super) fn leapfrogs(dim: usize) -> f64 {
    const FEW_COORDINATES: usize = 256;
    if dim > FEW_COORDINATES { 31.0 } else { 15.0 }
}

/// Moves `point` by one transition of NUTS; where the density is broken, the point stays.
pub(crate) fn transition(
    phase_space: PhaseSpace<'_, '_>,
    settings: NutsSettings,
    address: Address,
    point: &mut Point,
    workspace: &mut Workspace,
) -> Result<DrawStats, DensityError> {
    transition_by(Leapfrog, phase_space, settings, address, point, workspace)
}

/// Moves `point` by one transition whose leaves are made by `integrator`.
#[inline(always)]
pub(super) fn transition_by(
    integrator: impl Integrator,
    phase_space: PhaseSpace<'_, '_>,
    settings: NutsSettings,
    address: Address,
    point: &mut Point,
    workspace: &mut Workspace,
) -> Result<DrawStats, DensityError> {
    let mut trajectory = Trajectory::begin(integrator, phase_space, settings, address, point, workspace);
    while trajectory.depth < settings.max_depth && trajectory.double()? {}
    Ok(trajectory.choose(point))
}

/// A trajectory, how far it has grown, and the point chosen of it so far.
struct Trajectory<'t, 'a, 'd, I> {
    integrator: I,
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
    /// Leaves.
    n_steps: u32,
    gradients: u32,
    depth: u32,
    diverging: bool,
    turned: bool,
}

impl<'t, 'a, 'd, I: Integrator> Trajectory<'t, 'a, 'd, I> {
    /// Draws a momentum at `point`, which stays as it is.
    #[inline(always)]
    fn begin(
        integrator: I,
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
            integrator,
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
            gradients: 0,
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
            let (next, energy, arrival) = self.step(step, (edge.point, momentum), to)?;
            momentum = next;
            edge = Edge { point: to, index: edge.index + side };
            let uniform = self.next_uniform();
            if !arrival.leads_back {
                self.turned = true;
                return Ok(None);
            }
            let Some(weight) = self.weigh(energy, arrival.is_whole) else { return Ok(None) };
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

    /// Makes a step from a point and a momentum to the point `to`, all known by number; returns the number of the new
    /// momentum, the energy, and how the step went.
    #[inline(always)]
    fn step(&mut self, step: f64, from: (usize, usize), to: usize) -> Result<(usize, f64, Arrival), DensityError> {
        let Workspace { scratch, momenta, points, path, .. } = &mut *self.workspace;
        let next = momenta.take();
        let mut momentum = momenta.borrow_out(next);
        let mut leaf = std::mem::take(&mut points[to]);
        let from = State { point: &points[from.0], momentum: momenta.get(from.1) };
        let to_state = StateMut { point: &mut leaf, momentum: &mut momentum };
        let arrival = self.integrator.step(self.phase_space, step, from, to_state, scratch, path);
        let logp = leaf.logp;
        points[to] = leaf;
        momenta.restore(next, momentum);
        let arrival = arrival?;
        self.gradients += arrival.gradients;
        let energy = arrival.square.map_or(f64::INFINITY, |square| 0.5 * square - logp);
        Ok((next, energy, arrival))
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
    fn weigh(&mut self, energy: f64, is_whole: bool) -> Option<f64> {
        let error = if energy.is_nan() { f64::INFINITY } else { energy - self.start_energy };
        if error.abs() > self.max_energy_error.abs() {
            self.max_energy_error = error;
        }
        if error > self.settings.max_energy_error {
            self.diverging = true;
            return None;
        }
        let weight = self.weights.add(-error);
        self.acceptance += if !is_whole {
            0.0
        } else if error <= 0.0 {
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
        let Self { phase_space, settings, proposal, n_steps, gradients, depth, diverging, turned, .. } = self;
        std::mem::swap(point, &mut self.workspace.points[proposal.point]);
        DrawStats {
            lp: point.logp - phase_space.space.log_jacobian(&point.x[..phase_space.dim()]),
            acceptance_rate: self.acceptance / f64::from(n_steps.max(1)),
            step_size: settings.step_size,
            energy: proposal.energy,
            energy_error: proposal.energy - self.start_energy,
            max_energy_error: self.max_energy_error,
            tree_depth: depth,
            n_steps: gradients,
            index_in_trajectory: proposal.index,
            diverging,
            reached_max_treedepth: !diverging && !turned && depth == settings.max_depth,
            ..DrawStats::default()
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
