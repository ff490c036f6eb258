//! Models that can make their own parameters and data.

use octopus_density::{Layout, LogDensity, ModelError};
use octopus_random::Stream;

/// A model that can be simulated: parameters from its prior, and data from the parameters.
///
/// Write it from the model's statement, not from its density: that both say the same is what a calibration tests.
pub trait Simulator: Send + Sync {
    /// The model's name, that of its density.
    fn name(&self) -> &str;

    /// The variables, those of its densities.
    fn layout(&self) -> &Layout;

    /// Parameters from the prior, as a position in the density's unconstrained coordinates.
    fn draw_parameters(&self, random: &mut Stream) -> Vec<f64>;

    /// The model with data made from the parameters at `position`.
    ///
    /// # Errors
    /// When the data are none that the density takes, such as numbers that overflow.
    fn simulate(&self, position: &[f64], random: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError>;
}
