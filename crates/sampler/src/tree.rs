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
/// Points kept at a time: both ends of the trajectory, the proposal, the candidate of the new half, and the next
/// leaf. They are known by number, so that none is ever copied.
const POINTS: usize = 5;

/// A point of phase space without its momentum.
#[derive(Clone, Debug, Default)]
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
    points: [Point; POINTS],
}

impl Workspace {
    pub(crate) fn new(dim: usize) -> Self {
        let zeros = || Buffer::zeros(dim);
        Self {
            scratch: Scratch { gradient: zeros(), half: zeros(), spare: zeros() },
            momenta: Pool { dim, buffers: Vec::new(), free: Vec::new() },
            stack: Vec::new(),
            points: std::array::from_fn(|_| Point::zeros(dim)),
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
    #[inline]
    fn borrow_out(&mut self, index: usize) -> Buffer {
        std::mem::take(&mut self.buffers[index])
    }

    #[inline]
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

/// One leapfrog step of signed size `step` from (`from`, `r`) to (`to`, `next`); returns `|next|^2`, or
/// `None` where the density has no value.
#[inline]
#[allow(clippy::too_many_arguments, reason = "the parts of phase space are kept apart so that nothing is copied")]
pub(crate) fn leapfrog<D: LogDensity + ?Sized>(
    space: &Space<'_, D>,
    metric: &Metric,
    vectors: &Vectors,
    step: f64,
    from: &Point,
    r: &[f64],
    to: &mut Point,
    next: &mut [f64],
    scratch: &mut Scratch,
) -> Result<Option<f64>, DensityError> {
    let dim = space.density.dim();
    metric.kick_drift(vectors, step, from, r, &mut scratch.half, &mut to.x, &mut scratch.spare);
    match space.logp_grad(&to.x[..dim], &mut scratch.gradient[..dim]) {
        Ok(logp) => to.logp = logp,
        Err(error) if error.is_recoverable() => return Ok(None),
        Err(error) => return Err(error),
    }
    let (gradient, half) = (&scratch.gradient, &scratch.half);
    Ok(Some(metric.kick(vectors, step, gradient, half, &mut to.force, next, &mut scratch.spare)))
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
    let Workspace { scratch, momenta, stack, points } = workspace;
    momenta.reset();

    let start = momenta.take();
    let mut r = momenta.borrow_out(start);
    let kinetic = 0.5 * draw_momentum(vectors, dim, &address.stream(Purpose::Momentum), &mut r);
    momenta.restore(start, r);
    let h0 = kinetic - point.logp;
    let random = address.stream(Purpose::Tree);

    // `point` itself stays as it is until the transition is complete.
    points[0].copy_from(point);
    let (mut left, mut right) = (Edge { point: 0, index: 0 }, Edge { point: 0, index: 0 });
    let mut proposal = Selected { point: 0, energy: h0, index: 0 };
    // The tree seen from left to right; `begin` and `end` are its left and right ends.
    let mut tree = Subtree::leaf(start);
    let mut weights = Weights { reference: 0.0, tree: 1.0, subtree: 0.0 };
    let mut acceptance = 0.0;
    let mut max_energy_error = 0.0f64;
    let (mut n_steps, mut tree_depth) = (0u32, 0u32);
    let (mut diverging, mut turned) = (false, false);
    let mut leaf_uniforms = [0.0; 2];

    while tree_depth < limits.max_depth {
        let [direction, accept] = random.uniform_pair_at(tree_depth);
        let forward = direction < 0.5;
        let (edge, far, step, near, side) = if forward {
            (&mut right, left.point, step_size, tree.end, 1)
        } else {
            (&mut left, right.point, -step_size, tree.begin, -1)
        };
        weights.subtree = 0.0;
        let mut candidate: Option<Selected> = None;
        let mut momentum = near;
        stack.clear();
        let mut straight = true;
        for _ in 0..1u32 << tree_depth {
            let next = momenta.take();
            let mut r = momenta.borrow_out(next);
            let kept = [edge.point, far, proposal.point, candidate.map_or(proposal.point, |chosen| chosen.point)];
            let to = free_point(kept);
            let mut leaf = std::mem::take(&mut points[to]);
            let (from, r_from) = (&points[edge.point], &momenta.buffers[momentum]);
            let square = leapfrog(space, metric, vectors, step, from, r_from, &mut leaf, &mut r, scratch);
            let logp = leaf.logp;
            points[to] = leaf;
            momenta.restore(next, r);
            let square = square?;
            momentum = next;
            *edge = Edge { point: to, index: edge.index + side };
            if n_steps.is_multiple_of(2) {
                leaf_uniforms = random.uniform_pair_at(FIRST_LEAF_BLOCK + n_steps / 2);
            }
            let uniform = leaf_uniforms[(n_steps % 2) as usize];
            n_steps += 1;

            let energy = square.map_or(f64::INFINITY, |square| 0.5 * square - logp);
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
                candidate = Some(Selected { point: to, energy, index: edge.index });
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
        if let Some(candidate) = candidate
            && accept * weights.tree < weights.subtree
        {
            proposal = candidate;
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

    std::mem::swap(point, &mut points[proposal.point]);
    Ok(DrawStats {
        lp: point.logp - space.log_jacobian(&point.x[..dim]),
        acceptance_rate: acceptance / f64::from(n_steps.max(1)),
        step_size,
        energy: proposal.energy,
        energy_error: proposal.energy - h0,
        max_energy_error,
        tree_depth,
        n_steps,
        index_in_trajectory: proposal.index,
        diverging,
        reached_max_treedepth: !diverging && !turned && tree_depth == limits.max_depth,
    })
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
