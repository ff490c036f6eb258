//! Points and momenta, and what a leapfrog step writes on its way.

use octopus_density::warp::Buffer;

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

    pub(crate) fn copy_from(&mut self, other: &Point) {
        self.x.copy_from_slice(&other.x);
        self.force.copy_from_slice(&other.force);
        self.logp = other.logp;
    }
}

/// A point with its whitened momentum.
#[derive(Clone, Copy)]
pub(crate) struct State<'a> {
    pub(crate) point: &'a Point,
    pub(crate) momentum: &'a [f64],
}

/// Where a leapfrog step writes the state that it arrives at.
pub(crate) struct StateMut<'a> {
    pub(crate) point: &'a mut Point,
    pub(crate) momentum: &'a mut [f64],
}

/// Vectors that a leapfrog step needs besides both states.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) gradient: Buffer,
    /// The momentum in the middle of the step.
    pub(crate) half: Buffer,
    pub(crate) spare: Buffer,
}

impl Scratch {
    pub(crate) fn new(dim: usize) -> Self {
        Self { gradient: Buffer::zeros(dim), half: Buffer::zeros(dim), spare: Buffer::zeros(dim) }
    }
}
