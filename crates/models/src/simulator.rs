//! Simulators: models that can make their own parameters and data.

use crate::ModelError;
use octopus_density::{Layout, LogDensity};
use octopus_random::Stream;

/// A model that can be simulated: it draws parameters from its prior, and makes data from the parameters.
///
/// Implement a simulator from the model's statement, not from its density: a calibration tests that both say the same.
pub trait Simulator: Send + Sync {
    /// Returns the variables of the model, which are also those of its densities.
    fn layout(&self) -> &Layout;

    /// Draws parameters from the prior, as a position in the density's unconstrained coordinates.
    fn draw_parameters(&self, random: &mut Stream) -> Vec<f64>;

    /// Draws parameters from each of the streams: what [`draw_parameters`](Self::draw_parameters) draws one after the other.
    fn draw_parameters_of(&self, randoms: &mut [Stream]) -> Vec<Vec<f64>> {
        randoms.iter_mut().map(|random| self.draw_parameters(random)).collect()
    }

    /// Makes data from the parameters at `position`, and returns the model with them.
    ///
    /// # Errors
    /// When the density does not take the data, e.g. because numbers overflow.
    fn simulate(&self, position: &[f64], random: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError>;
}
