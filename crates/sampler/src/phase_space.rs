//! The phase space that chains move in between two adaptations, and the leapfrog integrator in it.

use crate::metric::Metric;
use crate::space::Space;
use crate::vector::Vectors;
use octopus_density::warp::Buffer;
use octopus_density::{DensityError, LogDensity};
use octopus_random::Stream;

/// A density in chosen coordinates, a metric, and the processor's vectors: what all chains of a run share.
pub(crate) struct PhaseSpace<'a, 'd, D: ?Sized> {
    pub(crate) space: &'a Space<'d, D>,
    pub(crate) metric: &'a Metric,
    pub(crate) vectors: &'a Vectors,
}

impl<D: ?Sized> Clone for PhaseSpace<'_, '_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: ?Sized> Copy for PhaseSpace<'_, '_, D> {}

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

impl<D: LogDensity + ?Sized> PhaseSpace<'_, '_, D> {
    pub(crate) fn dim(&self) -> usize {
        self.space.density.dim()
    }

    /// Computes log density and force at the point's position.
    pub(crate) fn evaluate(&self, point: &mut Point, scratch: &mut Scratch) -> Result<(), DensityError> {
        let dim = self.dim();
        point.logp = self.space.logp_grad(&point.x[..dim], &mut scratch.gradient[..dim])?;
        self.metric.whiten(self.vectors, &scratch.gradient, &mut scratch.spare, &mut point.force);
        Ok(())
    }

    /// Draws a whitened momentum; returns its square.
    pub(crate) fn draw_momentum(&self, stream: &Stream, momentum: &mut [f64]) -> f64 {
        stream.fill_normal(self.vectors.lanes(), momentum);
        momentum[self.dim()..].fill(0.0);
        self.vectors.dot(momentum, momentum)
    }

    /// Makes one leapfrog step of signed size `step`; returns the square of the momentum after it, or `None` where the
    /// density has no value.
    #[inline(always)]
    pub(crate) fn leapfrog(
        &self,
        step: f64,
        from: State<'_>,
        to: StateMut<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<f64>, DensityError> {
        let (dim, StateMut { point, momentum }) = (self.dim(), to);
        self.metric.kick_drift(self.vectors, step, from, &mut point.x, scratch);
        match self.space.logp_grad(&point.x[..dim], &mut scratch.gradient[..dim]) {
            Ok(logp) => point.logp = logp,
            Err(error) if error.is_recoverable() => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Some(self.metric.kick(self.vectors, step, scratch, &mut point.force, momentum)))
    }
}
