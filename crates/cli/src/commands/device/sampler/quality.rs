//! Whether a run has converged, and what its draws are worth.

use octopus_density::{HierarchicalNormal, LogDensity};
use octopus_diag::{Chains, ess_bulk, rhat};
use octopus_sampler::Block;
use rayon::prelude::*;
use serde::Serialize;

/// Fewer draws of each chain tell nothing.
const FEWEST_DRAWS: usize = 8;
/// Numbers that are looked at, at most: of long runs of many chains not every element is.
const MOST_NUMBERS: usize = 8_000_000;

/// The worst of the quantities that were looked at.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Quality {
    /// Bulk effective sample size of Vehtari et al. (2021).
    pub(super) min_ess: f64,
    pub(super) max_rhat: f64,
    /// Quantities that were looked at, evenly spread over all `quantities`; scalars always.
    pub(super) looked_at: usize,
    pub(super) quantities: usize,
}

impl Quality {
    /// What the PRD asks for.
    pub(super) fn converged(&self) -> bool {
        self.max_rhat < 1.01 && self.min_ess > 400.0
    }
}

/// None when there are too few draws.
pub(super) fn quality(model: &HierarchicalNormal, blocks: &[Block]) -> Option<Quality> {
    let chains = blocks.first()?.chains.len();
    let draws: usize = blocks.iter().map(|block| block.draws).sum();
    if draws < FEWEST_DRAWS {
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
    let judged = (0..chosen.len()).into_par_iter().map(|at| {
        let values: Vec<f64> =
            expanded.iter().flat_map(|chain| chain.iter().skip(at).step_by(chosen.len())).copied().collect();
        Chains::new(&values, chains, draws).map_or((f64::NAN, f64::NAN), |chains| (ess_bulk(&chains), rhat(&chains)))
    });
    // NaN is the worst of all, and must not be lost on the way.
    let worst =
        |a: f64, b: f64, pick: fn(f64, f64) -> f64| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) };
    let (min_ess, max_rhat) =
        judged.reduce(|| (f64::INFINITY, 0.0), |a, b| (worst(a.0, b.0, f64::min), worst(a.1, b.1, f64::max)));
    Some(Quality { min_ess, max_rhat, looked_at: chosen.len(), quantities: width })
}

/// The places in an expanded draw of all scalars and of at most about `most` elements, evenly spread.
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
    use crate::commands::device::sampler::model;
    use octopus_density::Likelihood;
    use octopus_sampler::{Sampler, SamplerConfig};

    #[test]
    fn the_worst_of_all_is_that_of_the_diagnosis() {
        let model = model(10, Likelihood::Collapsed).unwrap();
        let config = SamplerConfig { draws: 200, tune: 200, seed: 3, ..SamplerConfig::default() };
        let mut sampler = Sampler::new(&model, config).unwrap();
        let mut blocks = Vec::new();
        while let Some(block) = sampler.advance(usize::MAX).unwrap() {
            if block.phase == octopus_sampler::Phase::Sampling {
                blocks.push(block);
            }
        }
        let own = quality(&model, &blocks).unwrap();
        let posterior = crate::collect::posterior(&model, &blocks);
        let table = octopus_diag::summary(&posterior, octopus_diag::DEFAULT_PROB).unwrap();
        let ess = table.parameters.iter().map(|row| row.ess_bulk).fold(f64::INFINITY, f64::min);
        let rhat = table.parameters.iter().map(|row| row.rhat).fold(0.0, f64::max);
        assert_eq!((own.min_ess, own.max_rhat, own.looked_at), (ess, rhat, own.quantities));
        assert_eq!(quality(&model, &blocks[..0]).map(|_| ()), None);
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
