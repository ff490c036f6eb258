//! The quality of a run's draws: R-hat and effective sample sizes, which tell whether the run has converged.

use super::null_is_nan;
use octopus_density::LogDensity;
use octopus_diag::{DEFAULT_PROB, ParameterSummary, limits, summary, summary_of_many};
use octopus_models::HierarchicalNormal;
use octopus_sampler::{Block, SamplerConfig, Strategy};
use octopus_trace::{Array, Dataset, Values};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The fewest draws of each chain that tell anything.
const FEWEST_DRAWS: usize = 8;
/// The most numbers that are looked at; in long runs of many chains not every element is.
const MOST_NUMBERS: usize = 8_000_000;

/// The worst values over the quantities that were looked at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorstValues {
    /// The smallest bulk effective sample size.
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) min_ess: f64,
    /// The smallest tail effective sample size.
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) min_ess_tail: f64,
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) max_rhat: f64,
    /// The number of quantities that were looked at, out of all `quantities`: all scalars, and elements evenly spread.
    pub(crate) looked_at: usize,
    pub(crate) quantities: usize,
}

impl WorstValues {
    /// Returns whether the run meets the PRD's limits; R-hat of many short chains is nested R-hat.
    pub(super) fn converged(&self) -> bool {
        self.max_rhat < limits::RHAT && self.min_ess > limits::ESS && self.min_ess_tail > limits::ESS
    }
}

/// Returns the quality of a run's draws; `None` when there are too few draws.
pub(super) fn quality(model: &HierarchicalNormal, blocks: &[Block], config: &SamplerConfig) -> Option<WorstValues> {
    let chains = blocks.first()?.chains.len();
    let draws: usize = blocks.iter().map(|block| block.draws).sum();
    let many = config.strategy == Strategy::ManyShort;
    if draws < FEWEST_DRAWS && !many {
        return None;
    }
    let (dim, width) = (model.dim(), model.layout().width());
    let chosen = choose(model, MOST_NUMBERS / (chains * draws));
    let expanded: Vec<Vec<f64>> = (0..chains)
        .into_par_iter()
        .map(|c| {
            let mut row = vec![0.0; width];
            let mut values = Vec::with_capacity(draws * chosen.len());
            for position in blocks.iter().flat_map(|block| block.chains[c].positions.chunks_exact(dim)) {
                model.expand(position, &mut row);
                values.extend(chosen.iter().map(|&at| row[at]));
            }
            values
        })
        .collect();
    let mut looked_at = Dataset::default();
    let axes = [("chain", chains), ("draw", draws), ("quantity", chosen.len())];
    looked_at.insert("quantities", Array::new(axes, Values::F64(expanded.concat())));
    let found = if many {
        summary_of_many(&looked_at, DEFAULT_PROB, config.superchains)
    } else {
        summary(&looked_at, DEFAULT_PROB)
    };
    // NaN counts as the worst value, and must not be lost on the way.
    let worst = |of: fn(&ParameterSummary) -> f64, pick: fn(f64, f64) -> f64| {
        let all = found.iter().flat_map(|found| &found.parameters).map(of);
        all.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) }).unwrap_or(f64::NAN)
    };
    Some(WorstValues {
        min_ess: worst(|p| p.ess_bulk, f64::min),
        min_ess_tail: worst(|p| p.ess_tail, f64::min),
        max_rhat: worst(|p| p.rhat, f64::max),
        looked_at: chosen.len(),
        quantities: width,
    })
}

/// Returns the places in an expanded draw of all scalars, and of at most about `most` elements, evenly spread.
fn choose(model: &HierarchicalNormal, most: usize) -> Vec<usize> {
    let layout = model.layout();
    let elements = layout.ranges().filter(|(variable, _)| !variable.dims.is_empty()).map(|(_, range)| range.len());
    let step = elements.sum::<usize>().div_ceil(most.max(8)).max(1);
    let places = |(variable, range): (&octopus_density::Variable, std::ops::Range<usize>)| {
        range.step_by(if variable.dims.is_empty() { 1 } else { step }).collect::<Vec<_>>()
    };
    layout.ranges().flat_map(places).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::model;
    use octopus_models::Likelihood;
    use octopus_sampler::Sampler;

    #[test]
    fn the_worst_of_all_is_that_of_the_diagnosis() {
        let model = model(10, Likelihood::Collapsed).unwrap();
        for config in [SamplerConfig { draws: 200, ..SamplerConfig::default() }, SamplerConfig::many_short(64)] {
            let config = SamplerConfig { draws: config.draws.min(200), tune: 200, seed: 3, ..config };
            let mut sampler = Sampler::new(&model, config.clone()).unwrap();
            let mut blocks = Vec::new();
            while let Some(block) = sampler.advance(usize::MAX).unwrap() {
                if block.phase == octopus_sampler::Phase::Sampling {
                    blocks.push(block);
                }
            }
            let own = quality(&model, &blocks, &config).unwrap();
            let posterior = octopus_runs::posterior_of(&model, &blocks);
            let table = match config.strategy {
                Strategy::FourLong => summary(&posterior, DEFAULT_PROB).unwrap(),
                Strategy::ManyShort => summary_of_many(&posterior, DEFAULT_PROB, config.superchains).unwrap(),
            };
            let expected = (table.min_ess_bulk(), table.min_ess_tail(), table.max_rhat());
            assert_eq!((own.min_ess, own.min_ess_tail, own.max_rhat), expected);
            assert_eq!(own.looked_at, own.quantities);
            assert!(quality(&model, &blocks[..0], &config).is_none());
        }
    }

    #[test]
    fn scalars_are_always_looked_at() {
        let model = model(100, Likelihood::Collapsed).unwrap();
        let few = choose(&model, 1);
        assert!((8..=13).contains(&few.len()), "{few:?}");
        let layout = model.layout();
        for (variable, range) in layout.ranges().filter(|(variable, _)| variable.dims.is_empty()) {
            assert!(few.contains(&range.start), "{}", variable.name);
        }
    }
}
