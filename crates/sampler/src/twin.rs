//! An engine in every precision, for this crate's tests only: a twin of the GPU engine that shares no line with the
//! kernels.
//!
//! In f64 the CPU engine tells which bits are right. In f32 and mixed precision the twin does: NUTS by recursion,
//! densities from their data, sums as the virtual warp is defined. The twin is scalar and plain, and generic over the
//! two types of a run: vectors are made of `R`, and numbers that a chain has only one of are `T`
//! (`kernels/nuts/README.md`).
//!
//! The twin shares with the CPU engine what the host does in f64 (starting points, what warm-up learns, checkpoints)
//! and the elementary functions and random words of `octopus-random`, which have tests of their own against the
//! kernels.

mod coordinates;
mod engine;
mod hierarchical;
mod lanes;
mod numbers;
mod population;
mod real;
mod schools;
mod space;
mod standardised;
mod step_size;
mod tests;
mod trajectory;

use crate::error::SamplerError;
use crate::run::Sampler;
use crate::run::{Begin, BegunRun};
use coordinates::Coordinates;
use engine::TwinEngine;
use octopus_density::LogDensity;
use octopus_density::gpu::Precision;
use real::TwinReal;

/// A density in numbers of two types.
trait Model<R, T>: Send + Sync {
    /// The log density at `x`, the Jacobian of the coordinates included, and its gradient. Where the value is not
    /// finite the gradient means nothing.
    fn evaluate(&self, at: &Coordinates<R, T>, x: &[R]) -> (T, Vec<R>);
}

/// A density that can be evaluated in every precision. It has one hierarchical block.
trait Modelled: LogDensity {
    /// Returns the numbers of the density, each rounded once from f64.
    fn model<R: TwinReal, T: TwinReal>(&self) -> Box<dyn Model<R, T>>;
}

/// Places chains where `begin` says, on the twin, in the precision of the settings.
///
/// # Errors
/// When a setting is out of range, a checkpoint is damaged, or no starting point has a finite density: see
/// [`Sampler::begin`].
fn begin<D: Modelled>(density: &D, begin: Begin) -> Result<Sampler<'_>, SamplerError> {
    Sampler::on(BegunRun::new(density, &begin)?, |shared, states, goes_on| {
        Ok(match (shared.config.precision, goes_on) {
            (Precision::F64, false) => Box::new(TwinEngine::<f64, f64>::new(density, states)),
            (Precision::F32, false) => Box::new(TwinEngine::<f32, f32>::new(density, states)),
            (Precision::Mixed, false) => Box::new(TwinEngine::<f32, f64>::new(density, states)),
            (Precision::F64, true) => Box::new(TwinEngine::<f64, f64>::resume(density, shared, states)?),
            (Precision::F32, true) => Box::new(TwinEngine::<f32, f32>::resume(density, shared, states)?),
            (Precision::Mixed, true) => Box::new(TwinEngine::<f32, f64>::resume(density, shared, states)?),
        })
    })
}
