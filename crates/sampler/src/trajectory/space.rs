//! The coordinates that the sampler walks in: the density's own, or others of its hierarchical blocks.
//!
//! Log density, gradient and Jacobian in them are computed here.

use octopus_density::{
    Centering, DensityError, Hierarchy, LogDensity, gradient_to_centered, log_jacobian, logp_grad_by_chain_rule,
    to_centered, to_non_centered,
};
use std::borrow::Cow;

/// A density in chosen coordinates.
pub(crate) struct Space<'d> {
    pub(crate) density: &'d dyn LogDensity,
    /// The number of coordinates, which every leapfrog step asks for.
    pub(crate) dim: usize,
    centerings: Vec<Centering>,
    /// The density's blocks, with what warm-up has learned of them.
    blocks: Cow<'d, [Hierarchy]>,
    natural: bool,
}

impl<'d> Space<'d> {
    pub(crate) fn new(density: &'d dyn LogDensity, centerings: Vec<Centering>) -> Self {
        Self::of_blocks(density, Cow::Borrowed(density.hierarchies()), centerings)
    }

    /// Returns the density in the coordinates that `centerings` have in `blocks`, which may know more than the density's.
    pub(crate) fn of_blocks(
        density: &'d dyn LogDensity,
        blocks: Cow<'d, [Hierarchy]>,
        centerings: Vec<Centering>,
    ) -> Self {
        let natural = centerings.iter().all(|&centering| centering == Centering::NonCentered);
        Self { density, dim: density.dim(), centerings, blocks, natural }
    }

    pub(crate) fn centerings(&self) -> &[Centering] {
        &self.centerings
    }

    /// Computes the log density and its gradient at `x`, the Jacobian of the coordinates included.
    #[inline]
    pub(crate) fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        if self.natural {
            return self.density.logp_grad(x, gradient);
        }
        match &self.blocks {
            Cow::Borrowed(_) => self.density.logp_grad_centered(&self.centerings, x, gradient),
            Cow::Owned(blocks) => logp_grad_by_chain_rule(self.density, blocks, &self.centerings, x, gradient),
        }
    }

    /// Converts `x` to the density's own coordinates, in place.
    pub(crate) fn make_natural(&self, x: &mut [f64]) {
        if !self.natural {
            to_non_centered(&self.blocks, &self.centerings, x);
        }
    }

    /// Converts a starting point from the density's own coordinates to these, in place. The point lies `jitter` away
    /// from the density's center, in the density's units. Standardised coordinates take the jitter itself: they start
    /// as far from where the data put them. Non-centered effects near 0 may contradict the data; standardised effects
    /// near 0 cannot. The ratio of the scales, of which the data may say little, starts where the density says.
    pub(crate) fn make_start(&self, position: &mut [f64], jitter: &[f64]) {
        for (block, centering) in self.density.hierarchies().iter().zip(&self.centerings) {
            match (centering, &block.information) {
                (Centering::Standardised, Some(information)) => {
                    position[block.location] = jitter[block.location];
                    if let Some(noise) = information.log_noise() {
                        position[block.log_scale] -= position[noise];
                        position[noise] = jitter[noise];
                    }
                }
                _ => to_centered(std::slice::from_ref(block), std::slice::from_ref(centering), position),
            }
        }
    }

    /// Converts `x` from the density's own coordinates to these, in place, and the gradient there.
    pub(crate) fn take_natural(&self, x: &mut [f64], gradient: &mut [f64]) {
        if !self.natural {
            gradient_to_centered(&self.blocks, &self.centerings, x, gradient);
            to_centered(&self.blocks, &self.centerings, x);
        }
    }

    /// Returns the log-Jacobian: the log density at `x` less this is the log density in the density's own coordinates.
    pub(crate) fn log_jacobian(&self, x: &[f64]) -> f64 {
        if self.natural { 0.0 } else { log_jacobian(&self.blocks, &self.centerings, x) }
    }
}
