//! The coordinates that the sampler walks in: the density's own, or others of its hierarchical blocks.
//!
//! Log density, gradient and Jacobian in them are computed here.

use crate::adapt::Adaptation;
use octopus_density::{
    Centering, DensityEffects, DensityError, EffectCoordinates, Hierarchy, LogDensity, gradient_to_centered,
    log_jacobian, logp_grad_by_chain_rule, to_centered, to_non_centered,
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
    /// The density's effects of other forms, with their coordinates.
    effects: Option<(&'d dyn DensityEffects, EffectCoordinates)>,
    natural: bool,
}

impl<'d> Space<'d> {
    pub(crate) fn new(density: &'d dyn LogDensity, centerings: Vec<Centering>) -> Self {
        Self::of(density, &Adaptation { centerings, ..Adaptation::default() })
    }

    /// Returns the density in the coordinates of `adaptation`, which may know more of the effects than the density tells.
    pub(crate) fn of(density: &'d dyn LogDensity, adaptation: &Adaptation) -> Self {
        let centerings = adaptation.centerings.clone();
        let natural = centerings.iter().all(|&centering| centering == Centering::NonCentered);
        let effects = adaptation.effects(density);
        Self { density, dim: density.dim(), centerings, blocks: adaptation.hierarchies(density), effects, natural }
    }

    pub(crate) fn centerings(&self) -> &[Centering] {
        &self.centerings
    }

    pub(crate) fn is_natural(&self) -> bool {
        self.natural
    }

    /// Returns what kernels read of the coordinates of effects; `None` for a density without effects.
    pub(crate) fn effect_inputs(&self) -> Option<Vec<f64>> {
        let effects = self.density.effects()?.blocks().iter().map(|block| block.coordinates.len()).sum();
        match &self.effects {
            Some((_, own)) if !self.natural => Some(own.inputs().collect()),
            _ => Some(EffectCoordinates::natural(effects).inputs().collect()),
        }
    }

    /// Computes the log density and its gradient at `x`, the Jacobian of the coordinates included.
    #[inline]
    pub(crate) fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        if self.natural {
            return self.density.logp_grad(x, gradient);
        }
        if let Some((effects, own)) = &self.effects {
            return effects.logp_grad_in(own, x, gradient);
        }
        match &self.blocks {
            Cow::Borrowed(_) => self.density.logp_grad_centered(&self.centerings, x, gradient),
            Cow::Owned(blocks) => logp_grad_by_chain_rule(self.density, blocks, &self.centerings, x, gradient),
        }
    }

    /// Converts `x` to the density's own coordinates, in place.
    pub(crate) fn make_natural(&self, x: &mut [f64]) {
        match &self.effects {
            _ if self.natural => {}
            Some((effects, own)) => {
                effects.make_natural(own, x);
            }
            None => to_non_centered(&self.blocks, &self.centerings, x),
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
        if self.effects.is_some() {
            self.take_natural(position);
        }
    }

    /// Converts `x` from the density's own coordinates to these, in place.
    pub(crate) fn take_natural(&self, x: &mut [f64]) {
        match &self.effects {
            _ if self.natural => {}
            Some((effects, own)) => effects.take_natural(own, x),
            None => to_centered(&self.blocks, &self.centerings, x),
        }
    }

    /// Converts `x` from the density's own coordinates to these, in place, and writes the gradient there.
    pub(crate) fn gradient_at_natural(&self, x: &mut [f64], gradient: &mut [f64]) -> Result<(), DensityError> {
        if self.effects.is_some() {
            self.take_natural(x);
            return self.logp_grad(x, gradient).map(drop);
        }
        self.density.logp_grad(x, gradient)?;
        if !self.natural {
            gradient_to_centered(&self.blocks, &self.centerings, x, gradient);
        }
        self.take_natural(x);
        Ok(())
    }

    /// Returns the log-Jacobian: the log density at `x` less this is the log density in the density's own coordinates.
    pub(crate) fn log_jacobian(&self, x: &[f64]) -> f64 {
        match &self.effects {
            _ if self.natural => 0.0,
            Some((effects, own)) => effects.make_natural(own, &mut x.to_vec()),
            None => log_jacobian(&self.blocks, &self.centerings, x),
        }
    }
}
