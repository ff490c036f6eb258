//! How good the draws of a timed run are.

use crate::error::BenchError;
use octopus_density::{Layout, LogDensity, Variable};
use octopus_diag::{DEFAULT_PROB, Summary, limits, summary, summary_of_many};
use octopus_models::exact::{Exact, Moments};
use octopus_runs::posterior_of;
use octopus_sampler::{Block, SamplerConfig, Strategy};
use std::collections::HashMap;

/// The quality of a run's draws. Runs that differ in threads only have the same quality.
#[derive(Clone, Copy, Debug)]
pub struct Quality {
    /// The smallest bulk effective sample size of all parameters.
    pub min_ess_bulk: f64,
    /// The smallest tail effective sample size of all parameters.
    pub min_ess_tail: f64,
    /// The largest R-hat of all parameters.
    pub max_rhat: f64,
    /// The number of divergent transitions.
    pub divergences: u64,
    /// The root mean square error of the means, in exact standard deviations, where it was asked for.
    pub error: Option<f64>,
}

impl Quality {
    /// Returns whether the draws meet the PRD's limits of R-hat and effective sample sizes.
    pub fn converged(&self) -> bool {
        self.max_rhat < limits::RHAT && self.min_ess_bulk > limits::ESS && self.min_ess_tail > limits::ESS
    }
}

pub(super) fn quality_of(
    model: &dyn LogDensity,
    blocks: &[Block],
    config: &SamplerConfig,
    exact: Option<&dyn Exact>,
) -> Result<Quality, BenchError> {
    let posterior = posterior_of(model, blocks);
    let draws = blocks.iter().flat_map(|block| &block.chains).flat_map(|chain| &chain.stats);
    let summary = match config.strategy {
        Strategy::FourLong => summary(&posterior, DEFAULT_PROB)?,
        Strategy::ManyShort => summary_of_many(&posterior, DEFAULT_PROB, config.superchains)?,
    };
    Ok(Quality {
        min_ess_bulk: summary.min_ess_bulk(),
        min_ess_tail: summary.min_ess_tail(),
        max_rhat: summary.max_rhat(),
        divergences: draws.filter(|draw| draw.diverging).count() as u64,
        error: exact.map(|exact| error_of_means(model, &summary, exact)),
    })
}

/// Lists every parameter whose exact moments are known: its variable, its name and its moments.
pub fn known<'a>(
    layout: &'a Layout,
    exact: &'a dyn Exact,
) -> impl Iterator<Item = (&'a Variable, String, Moments)> + 'a {
    let elements = layout.variables.iter().flat_map(|variable| (0..variable.len()).map(move |index| (variable, index)));
    elements.filter_map(|(variable, index)| {
        Some((variable, variable.element_name(index), exact.moments_of(&variable.name, index)?))
    })
}

/// Returns the root mean square error of the means, in exact standard deviations.
fn error_of_means(model: &dyn LogDensity, summary: &Summary, exact: &dyn Exact) -> f64 {
    let found: HashMap<&str, f64> = summary.parameters.iter().map(|p| (p.name.as_str(), p.mean)).collect();
    let squares: Vec<f64> = known(model.layout(), exact)
        .filter_map(|(_, name, truth)| Some(((found.get(name.as_str())? - truth.mean) / truth.sd).powi(2)))
        .collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}
