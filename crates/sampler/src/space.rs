//! The coordinates that the sampler walks in: the density's own, or partially centered ones.

use octopus_density::{Centering, DensityError, LogDensity, log_jacobian, to_centered, to_non_centered};

/// A density in chosen coordinates.
pub(crate) struct Space<'d, D: ?Sized> {
    pub(crate) density: &'d D,
    centerings: Vec<Centering>,
    natural: bool,
}

impl<'d, D: LogDensity + ?Sized> Space<'d, D> {
    pub(crate) fn new(density: &'d D, centerings: Vec<Centering>) -> Self {
        let natural = centerings.iter().all(|c| c.lambda().iter().all(|&lambda| lambda == 0.0));
        Self { density, centerings, natural }
    }

    pub(crate) fn centerings(&self) -> &[Centering] {
        &self.centerings
    }

    /// Log density and gradient at `x`, the Jacobian of the centering included.
    #[inline]
    pub(crate) fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        if self.natural {
            self.density.logp_grad(x, gradient)
        } else {
            self.density.logp_grad_centered(&self.centerings, x, gradient)
        }
    }

    /// From `x` to the density's own coordinates, in place.
    pub(crate) fn make_natural(&self, x: &mut [f64]) {
        if !self.natural {
            to_non_centered(self.density.hierarchies(), &self.centerings, x);
        }
    }

    /// From the density's own coordinates to `x`, in place.
    pub(crate) fn make_centered(&self, position: &mut [f64]) {
        if !self.natural {
            to_centered(self.density.hierarchies(), &self.centerings, position);
        }
    }

    /// What is to be subtracted from the log density at `x` to have that in the density's own coordinates.
    pub(crate) fn log_jacobian(&self, x: &[f64]) -> f64 {
        if self.natural { 0.0 } else { log_jacobian(self.density.hierarchies(), &self.centerings, x) }
    }
}
