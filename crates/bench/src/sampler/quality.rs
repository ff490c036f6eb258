//! The quality of a run's draws, from all scalars and as many elements as can be looked at in a moment.

use crate::quality::{Quality, summary_of_run};
use octopus_density::LogDensity;
use octopus_models::HierarchicalNormal;
use octopus_sampler::{Block, SamplerConfig};
use octopus_trace::{Array, Dataset, Values};
use rayon::prelude::*;

/// The fewest draws of each chain that tell anything.
const FEWEST_DRAWS: usize = 8;
/// The most numbers that are looked at; in long runs of many chains not every element is.
const MOST_NUMBERS: usize = 8_000_000;

/// Returns the quality of a run's draws; `None` when there are too few draws.
pub(super) fn quality(model: &HierarchicalNormal, blocks: &[Block], config: &SamplerConfig) -> Option<Quality> {
    let chains = blocks.first()?.chains.len();
    let draws: usize = blocks.iter().map(|block| block.draws).sum();
    let many = config.nested().is_some();
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
    // Draws that have no summary have no numbers either.
    let rows = summary_of_run(&looked_at, config).map(|found| found.parameters).unwrap_or_default();
    Some(Quality { looked_at: chosen.len(), quantities: width, ..Quality::of(&rows) })
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
    use crate::sampler::model::model;
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
            let posterior = octopus_runs::posterior_of(&model, &blocks).unwrap();
            let table = summary_of_run(&posterior, &config).unwrap();
            let expected = (table.min_ess_bulk(), table.min_ess_tail(), table.max_rhat());
            assert_eq!((own.min_ess_bulk, own.min_ess_tail, own.max_rhat), expected);
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
