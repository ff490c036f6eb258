//! The phase space that chains move in between two adaptations, and the leapfrog integrator in it.

use super::metric::Metric;
use super::space::Space;
use super::state::{Point, Scratch, State, StateMut};
use super::vector::Vectors;
use octopus_density::DensityError;
use octopus_random::Stream;

/// A density in chosen coordinates, a metric, and the processor's vectors: what all chains of a run share.
#[derive(Clone, Copy)]
pub(crate) struct PhaseSpace<'a, 'd> {
    pub(crate) space: &'a Space<'d>,
    pub(crate) metric: &'a Metric,
    pub(crate) vectors: &'a Vectors,
}

impl PhaseSpace<'_, '_> {
    pub(crate) fn dim(&self) -> usize {
        self.space.dim
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
