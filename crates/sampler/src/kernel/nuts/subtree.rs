//! Subtrees of a trajectory, the momenta at their ends, and the U-turn criterion when two are joined.

use crate::kernel::vector::{Ends, Vectors};
use octopus_density::warp::Buffer;

/// Momentum vectors lent by number.
#[derive(Debug)]
pub(in crate::kernel) struct Momenta {
    dim: usize,
    buffers: Vec<Buffer>,
    free: Vec<usize>,
}

impl Momenta {
    pub(in crate::kernel) fn new(dim: usize) -> Self {
        Self { dim, buffers: Vec::new(), free: Vec::new() }
    }

    /// Takes back all that were lent.
    pub(super) fn reset(&mut self) {
        self.free.clear();
        self.free.extend(0..self.buffers.len());
    }

    pub(super) fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.buffers.push(Buffer::zeros(self.dim));
            self.buffers.len() - 1
        })
    }

    pub(super) fn put(&mut self, index: usize) {
        self.free.push(index);
    }

    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> &Buffer {
        &self.buffers[index]
    }

    /// The buffer `index`, out of the pool while it is written; [`restore`](Self::restore) brings it back.
    #[inline(always)]
    pub(super) fn borrow_out(&mut self, index: usize) -> Buffer {
        std::mem::take(&mut self.buffers[index])
    }

    #[inline(always)]
    pub(super) fn restore(&mut self, index: usize, buffer: Buffer) {
        self.buffers[index] = buffer;
    }
}

/// A finished subtree: the momenta at its ends (in the direction of integration) and their sum, by number.
/// A single leaf has one vector that is all three.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Subtree {
    pub(super) level: u32,
    pub(super) begin: usize,
    pub(super) end: usize,
    rho: usize,
}

impl Subtree {
    pub(super) fn leaf(momentum: usize) -> Self {
        Self { level: 0, begin: momentum, end: momentum, rho: momentum }
    }

    /// The same seen from its other end.
    pub(super) fn reversed(self) -> Self {
        Self { begin: self.end, end: self.begin, ..self }
    }

    fn is_leaf(&self) -> bool {
        self.rho == self.begin
    }
}

/// Joins `a` and the `b` that follows it; `None` when the whole makes a U-turn.
pub(super) fn join(vectors: &Vectors, momenta: &mut Momenta, a: Subtree, b: Subtree) -> Option<Subtree> {
    debug_assert_eq!(a.level, b.level);
    let (rho, straight) = if a.is_leaf() {
        // The sums over the whole and across the seam are one and the same: a single check.
        let index = momenta.take();
        let mut rho = momenta.borrow_out(index);
        let straight = vectors.join_leaves(&momenta.buffers[a.begin], &momenta.buffers[b.end], &mut rho);
        momenta.restore(index, rho);
        (index, straight)
    } else {
        let mut rho = momenta.borrow_out(a.rho);
        let ends = |tree: Subtree| Ends { begin: &momenta.buffers[tree.begin], end: &momenta.buffers[tree.end] };
        let straight = vectors.join(&mut rho, ends(a), ends(b), &momenta.buffers[b.rho]);
        momenta.restore(a.rho, rho);
        momenta.put(a.end);
        momenta.put(b.begin);
        momenta.put(b.rho);
        (a.rho, straight)
    };
    straight.then_some(Subtree { level: a.level + 1, begin: a.begin, end: b.end, rho })
}
