//! The window of a chain: what it keeps of its draws for the next metric.

use crate::kernel::Space;
use octopus_density::DensityError;
use serde::{Deserialize, Serialize};

/// The draws of one chain in the current window and the gradients there, in the sampler's coordinates, `draws x dim`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Window {
    pub(crate) positions: Vec<f64>,
    pub(crate) gradients: Vec<f64>,
}

impl Window {
    /// Adds a draw and the gradient there.
    pub(crate) fn push(&mut self, space: &Space<'_>, x: &[f64]) -> Result<(), DensityError> {
        self.positions.extend_from_slice(x);
        let start = self.gradients.len();
        self.gradients.resize(start + x.len(), 0.0);
        space.logp_grad(x, &mut self.gradients[start..])?;
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.positions.clear();
        self.gradients.clear();
    }
}
