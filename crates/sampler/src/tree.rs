//! One transition of NUTS: multinomial sampling within the trajectory (Betancourt 2017), biased progressive
//! doubling, the generalised U-turn criterion with Stan's two extra checks across every seam.
//!
//! The tree is built without recursion: finished subtrees wait on a stack, and two of the same level are
//! joined as soon as both are there, which checks exactly the pairs that the recursion checks, in the same
//! order. A point is drawn from a subtree as its leaves appear, each replacing the last choice with the
//! probability of its share of the weight so far: the same distribution as drawing at every join, with one
//! position kept instead of one for each level.

use crate::DrawStats;
use crate::metric::Metric;
use crate::space::Space;
use crate::vector::{Ends, Vectors};
use octopus_density::warp::Buffer;
use octopus_density::{DensityError, LogDensity};
use octopus_random::{Purpose, Stream, exact};

/// Leaves use the blocks of random numbers from here on, doublings those before.
const FIRST_LEAF_BLOCK: u32 = 64;
/// When a weight exceeds the reference by this many units of log density, the reference moves.
const RESCALE: f64 = 300.0;

/// A point of phase space without its momentum.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Position in the sampler's coordinates.
    pub(crate) x: Buffer,
    /// Whitened force: the gradient of the log density through the metric.
    pub(crate) force: Buffer,
    /// Log density there.
    pub(crate) logp: f64,
}

impl Point {
    pub(crate) fn zeros(dim: usize) -> Self {
        Self { x: Buffer::zeros(dim), force: Buffer::zeros(dim), logp: 0.0 }
    }

    fn copy_from(&mut self, other: &Point) {
        self.x.copy_from_slice(&other.x);
        self.force.copy_from_slice(&other.force);
        self.logp = other.logp;
    }

    /// Computes log density and force at `x`.
    pub(crate) fn evaluate<D: LogDensity + ?Sized>(
        &mut self,
        space: &Space<'_, D>,
        metric: &Metric,
        vectors: &Vectors,
        scratch: &mut Scratch,
    ) -> Result<(), DensityError> {
        let dim = space.density.dim();
        self.logp = space.logp_grad(&self.x[..dim], &mut scratch.gradient[..dim])?;
        metric.whiten(vectors, &scratch.gradient, &mut scratch.spare, &mut self.force);
        Ok(())
    }
}

/// Vectors that an integration step needs besides the point.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) gradient: Buffer,
    half: Buffer,
    pub(crate) spare: Buffer,
}

/// What limits a transition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_depth: u32,
    pub(crate) max_energy_error: f64,
}

/// Everything that a transition overwrites; made once for each chain.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) scratch: Scratch,
    momenta: Pool,
    stack: Vec<Subtree>,
    left: Point,
    right: Point,
    proposal: Point,
    candidate: Point,
}

impl Workspace {
    pub(crate) fn new(dim: usize) -> Self {
        let zeros = || Buffer::zeros(dim);
        Self {
            scratch: Scratch { gradient: zeros(), half: zeros(), spare: zeros() },
            momenta: Pool { dim, buffers: Vec::new(), free: Vec::new() },
            stack: Vec::new(),
            left: Point::zeros(dim),
            right: Point::zeros(dim),
            proposal: Point::zeros(dim),
            candidate: Point::zeros(dim),
        }
    }
}

/// Momentum vectors lent by number.
#[derive(Debug)]
struct Pool {
    dim: usize,
    buffers: Vec<Buffer>,
    free: Vec<usize>,
}

impl Pool {
    fn reset(&mut self) {
        self.free.clear();
        self.free.extend(0..self.buffers.len());
    }

    fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.buffers.push(Buffer::zeros(self.dim));
            self.buffers.len() - 1
        })
    }

    fn put(&mut self, index: usize) {
        self.free.push(index);
    }

    /// The buffer `index`, out of the pool while it is written; [`restore`](Self::restore) brings it back.
    fn borrow_out(&mut self, index: usize) -> Buffer {
        std::mem::replace(&mut self.buffers[index], Buffer::zeros(0))
    }

    fn restore(&mut self, index: usize, buffer: Buffer) {
        self.buffers[index] = buffer;
    }
}

/// A finished subtree: the momenta at its ends (in the direction of integration) and their sum, by number.
/// A single leaf has one vector that is all three.
#[derive(Clone, Copy, Debug)]
struct Subtree {
    level: u32,
    begin: usize,
    end: usize,
    rho: usize,
}

impl Subtree {
    fn leaf(momentum: usize) -> Self {
        Self { level: 0, begin: momentum, end: momentum, rho: momentum }
    }

    fn is_leaf(&self) -> bool {
        self.rho == self.begin
    }
}

/// Joins `a` and the `b` that follows it; `None` when the whole makes a U-turn.
fn join(vectors: &Vectors, pool: &mut Pool, a: Subtree, b: Subtree) -> Option<Subtree> {
    debug_assert_eq!(a.level, b.level);
    let (rho, straight) = if a.is_leaf() {
        // The sums over the whole and across the seam are one and the same: a single check.
        let index = pool.take();
        let mut rho = pool.borrow_out(index);
        let straight = vectors.join_leaves(&pool.buffers[a.begin], &pool.buffers[b.end], &mut rho);
        pool.restore(index, rho);
        (index, straight)
    } else {
        let mut rho = pool.borrow_out(a.rho);
        let ends = |tree: Subtree| Ends { begin: &pool.buffers[tree.begin], end: &pool.buffers[tree.end] };
        let straight = vectors.join(&mut rho, ends(a), ends(b), &pool.buffers[b.rho]);
        pool.restore(a.rho, rho);
        pool.put(a.end);
        pool.put(b.begin);
        pool.put(b.rho);
        (a.rho, straight)
    };
    straight.then_some(Subtree { level: a.level + 1, begin: a.begin, end: b.end, rho })
}

/// Sums of exp(H0 - H) relative to a reference that moves only when they would overflow.
struct Weights {
    reference: f64,
    tree: f64,
    subtree: f64,
}

impl Weights {
    /// Adds a leaf with H0 - H = `gain`; returns its weight.
    #[inline]
    fn add(&mut self, gain: f64) -> f64 {
        if gain > self.reference + RESCALE {
            let factor = exact::exp(self.reference - gain);
            self.tree *= factor;
            self.subtree *= factor;
            self.reference = gain;
        }
        let weight = exact::exp(gain - self.reference);
        self.subtree += weight;
        weight
    }
}

/// The address of a transition's random numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) seed: u64,
    pub(crate) chain: u32,
    pub(crate) iteration: u32,
}

impl Address {
    pub(crate) fn stream(&self, purpose: Purpose) -> Stream {
        Stream::new(self.seed, self.chain, self.iteration, purpose)
    }
}

/// Draws a whitened momentum; returns its square.
pub(crate) fn draw_momentum(vectors: &Vectors, dim: usize, stream: &Stream, r: &mut [f64]) -> f64 {
    stream.fill_normal(vectors.lanes(), r);
    r[dim..].fill(0.0);
    vectors.dot(r, r)
}

/// One leapfrog step of signed size `step` from (`point`, `r`) to (`point`, `next`); returns `|next|^2`, or
/// `None` where the density has no value.
#[inline]
#[allow(clippy::too_many_arguments, reason = "the parts of phase space are kept apart so that nothing is copied")]
pub(crate) fn leapfrog<D: LogDensity + ?Sized>(
    space: &Space<'_, D>,
    metric: &Metric,
    vectors: &Vectors,
    step: f64,
    point: &mut Point,
    r: &[f64],
    next: &mut [f64],
    scratch: &mut Scratch,
) -> Result<Option<f64>, DensityError> {
    let dim = space.density.dim();
    metric.kick_drift(vectors, step, &point.force, r, &mut scratch.half, &mut point.x, &mut scratch.spare);
    match space.logp_grad(&point.x[..dim], &mut scratch.gradient[..dim]) {
        Ok(logp) => point.logp = logp,
        Err(error) if error.is_recoverable() => return Ok(None),
        Err(error) => return Err(error),
    }
    let (gradient, half) = (&scratch.gradient, &scratch.half);
    Ok(Some(metric.kick(vectors, step, gradient, half, &mut point.force, next, &mut scratch.spare)))
}

/// Moves `point` by one transition of NUTS.
#[allow(clippy::too_many_arguments, reason = "what chains share and what each owns")]
pub(crate) fn transition<D: LogDensity + ?Sized>(
    space: &Space<'_, D>,
    metric: &Metric,
    vectors: &Vectors,
    step_size: f64,
    limits: Limits,
    address: Address,
    point: &mut Point,
    workspace: &mut Workspace,
) -> Result<DrawStats, DensityError> {
    let dim = space.density.dim();
    let Workspace { scratch, momenta, stack, left, right, proposal, candidate } = workspace;
    momenta.reset();

    let start = momenta.take();
    let mut r = momenta.borrow_out(start);
    let kinetic = 0.5 * draw_momentum(vectors, dim, &address.stream(Purpose::Momentum), &mut r);
    momenta.restore(start, r);
    let h0 = kinetic - point.logp;
    let random = address.stream(Purpose::Tree);

    left.copy_from(point);
    right.copy_from(point);
    proposal.copy_from(point);
    let mut selected = Selected { energy: h0, index: 0 };
    // The tree seen from left to right; `begin` and `end` are its left and right ends.
    let mut tree = Subtree::leaf(start);
    let mut weights = Weights { reference: 0.0, tree: 1.0, subtree: 0.0 };
    let (mut left_index, mut right_index) = (0i32, 0i32);
    let mut acceptance = 0.0;
    let mut max_energy_error = 0.0f64;
    let (mut n_steps, mut tree_depth) = (0u32, 0u32);
    let (mut diverging, mut turned) = (false, false);
    let mut leaf_uniforms = [0.0; 2];

    while tree_depth < limits.max_depth {
        let [direction, accept] = random.uniform_pair_at(tree_depth);
        let forward = direction < 0.5;
        let (edge, edge_index, step, near, side) = if forward {
            (&mut *right, &mut right_index, step_size, tree.end, 1)
        } else {
            (&mut *left, &mut left_index, -step_size, tree.begin, -1)
        };
        weights.subtree = 0.0;
        let mut choice = None;
        let mut momentum = near;
        stack.clear();
        let mut straight = true;
        for _ in 0..1u32 << tree_depth {
            let next = momenta.take();
            let mut r = momenta.borrow_out(next);
            let square = leapfrog(space, metric, vectors, step, edge, &momenta.buffers[momentum], &mut r, scratch)?;
            momenta.restore(next, r);
            momentum = next;
            *edge_index += side;
            if n_steps.is_multiple_of(2) {
                leaf_uniforms = random.uniform_pair_at(FIRST_LEAF_BLOCK + n_steps / 2);
            }
            let uniform = leaf_uniforms[(n_steps % 2) as usize];
            n_steps += 1;

            let energy = square.map_or(f64::INFINITY, |square| 0.5 * square - edge.logp);
            let error = if energy.is_nan() { f64::INFINITY } else { energy - h0 };
            if error.abs() > max_energy_error.abs() {
                max_energy_error = error;
            }
            if error > limits.max_energy_error {
                diverging = true;
                straight = false;
                break;
            }
            let weight = weights.add(-error);
            acceptance += if error <= 0.0 {
                1.0
            } else if weights.reference == 0.0 {
                weight
            } else {
                exact::exp(-error)
            };
            if uniform * weights.subtree < weight {
                candidate.copy_from(edge);
                choice = Some(Selected { energy, index: *edge_index });
            }

            let mut finished = Subtree::leaf(next);
            while straight && stack.last().is_some_and(|top: &Subtree| top.level == finished.level) {
                let Some(before) = stack.pop() else { break };
                match join(vectors, momenta, before, finished) {
                    Some(joined) => finished = joined,
                    None => straight = false,
                }
            }
            if !straight {
                break;
            }
            stack.push(finished);
        }
        if !straight {
            turned = !diverging;
            break;
        }
        let Some(subtree) = stack.pop() else { break };
        tree_depth += 1;
        // Biased progressive sampling: the new half is favoured by its share of the old.
        if let Some(choice) = choice
            && accept * weights.tree < weights.subtree
        {
            std::mem::swap(proposal, candidate);
            selected = choice;
        }
        weights.tree += weights.subtree;
        // Seen in the direction of this doubling the old tree comes first.
        let old = if forward { tree } else { Subtree { begin: tree.end, end: tree.begin, ..tree } };
        match join(vectors, momenta, old, subtree) {
            Some(whole) if forward => tree = whole,
            Some(whole) => tree = Subtree { begin: whole.end, end: whole.begin, ..whole },
            None => {
                turned = true;
                break;
            }
        }
    }

    point.copy_from(proposal);
    Ok(DrawStats {
        lp: point.logp - space.log_jacobian(&point.x[..dim]),
        acceptance_rate: acceptance / f64::from(n_steps.max(1)),
        step_size,
        energy: selected.energy,
        energy_error: selected.energy - h0,
        max_energy_error,
        tree_depth,
        n_steps,
        index_in_trajectory: selected.index,
        diverging,
        reached_max_treedepth: !diverging && !turned && tree_depth == limits.max_depth,
    })
}

/// The point chosen so far.
#[derive(Clone, Copy)]
struct Selected {
    energy: f64,
    index: i32,
}

#[cfg(test)]
mod tests;
