//! Calibrations that must pass and such that must not.

mod alternating;
mod ranked;
mod seeds;
mod twice;

use octopus_density::{Layout, LogDensity};
use octopus_models::{HierarchicalPrior, HierarchicalSimulator, Likelihood, ModelError, Simulator};
use octopus_random::Stream;

const PRIOR: HierarchicalPrior =
    HierarchicalPrior { mu_mean: 3.0, mu_sd: 2.0, sigma_pop_scale: 1.5, sigma_obs_scale: 1.0 };

fn of_sizes(sizes: &[usize], prior: HierarchicalPrior) -> HierarchicalSimulator {
    HierarchicalSimulator::new(sizes.to_vec(), prior, Likelihood::Collapsed).expect("valid")
}

/// A model whose posteriors are easy, and soon sampled.
fn small(prior: HierarchicalPrior) -> HierarchicalSimulator {
    of_sizes(&[3, 4, 5], prior)
}

/// Draws parameters from one prior; its densities have another.
struct Wrong {
    drawn: HierarchicalSimulator,
    stated: HierarchicalSimulator,
}

impl Wrong {
    /// mu_pop is drawn with `factor` times its standard deviation. Groups differ so much that their means say little
    /// about it: the mistake is not lost in the data.
    fn mu_sd_times(factor: f64, sizes: &[usize]) -> Self {
        let stated = HierarchicalPrior { mu_mean: 0.0, mu_sd: 0.5, sigma_pop_scale: 6.0, ..PRIOR };
        let drawn = HierarchicalPrior { mu_sd: factor * stated.mu_sd, ..stated };
        Self { drawn: of_sizes(sizes, drawn), stated: of_sizes(sizes, stated) }
    }
}

impl Simulator for Wrong {
    fn layout(&self) -> &Layout {
        self.stated.layout()
    }

    fn draw_parameters(&self, random: &mut Stream) -> Vec<f64> {
        self.drawn.draw_parameters(random)
    }

    fn simulate(&self, position: &[f64], random: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError> {
        self.stated.simulate(position, random)
    }
}
