//! The interface between models and samplers.

use crate::gpu::GpuDensity;
use crate::{Centering, DensityError, Hierarchy, Layout, centering};
use octopus_random::Stream;

/// A differentiable log density over unconstrained coordinates.
///
/// Implementations must be deterministic: the same position gives the same bits.
pub trait LogDensity: Send + Sync {
    /// The number of unconstrained coordinates.
    fn dim(&self) -> usize;

    /// The variables that [`expand`](Self::expand) writes.
    fn layout(&self) -> &Layout;

    /// The log density at `position` (log-Jacobians of the transforms included, constants optional);
    /// its gradient goes to `gradient`. Both slices have length [`dim`](Self::dim).
    ///
    /// # Errors
    /// [`DensityError::NotFinite`] where the density vanishes or overflows (a divergence, not a crash);
    /// [`DensityError::Broken`] stops the run.
    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError>;

    /// All variables of the layout at `position`; `out` has the layout's width.
    fn expand(&self, position: &[f64], out: &mut [f64]);

    /// A short name that stands in traces and reports.
    fn name(&self) -> &str;

    /// The number of observations; 0 when the density is not a likelihood.
    fn observations(&self) -> usize {
        0
    }

    /// The log likelihood of each observation at `position`, constants included.
    fn log_likelihood(&self, _position: &[f64], _out: &mut [f64]) {}

    /// One posterior predictive draw of all observations at `position`.
    fn predict(&self, _position: &[f64], _random: &mut Stream, _out: &mut [f64]) {}

    /// The point around which chains start; the origin when `None`.
    fn center(&self) -> Option<Vec<f64>> {
        None
    }

    /// The unit of each coordinate in which chains start around [`center`](Self::center); 1 for all when `None`. A
    /// sampler starts within its `init_radius` of these. A coordinate that has the data's units should say so: chains then
    /// start equally well whatever the data are measured in.
    fn init_scale(&self) -> Option<Vec<f64>> {
        None
    }

    /// The hierarchical blocks whose coordinates the sampler may choose.
    fn hierarchies(&self) -> &[Hierarchy] {
        &[]
    }

    /// The compiled kernels that compute this density, if there are any: only with them it is sampled on a GPU.
    fn kernels(&self) -> Option<&dyn GpuDensity> {
        None
    }

    /// The log density and gradient in the coordinates of `centerings` (one for each of
    /// [`hierarchies`](Self::hierarchies)), the Jacobian included. The default applies the chain rule to
    /// [`logp_grad`](Self::logp_grad); a density may do both in one pass.
    ///
    /// # Errors
    /// As [`logp_grad`](Self::logp_grad).
    fn logp_grad_centered(
        &self,
        centerings: &[Centering],
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, DensityError> {
        centering::logp_grad_by_chain_rule(self, centerings, position, gradient)
    }
}
