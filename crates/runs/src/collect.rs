//! Runs in memory, for measurements and comparisons that leave nothing on the disk.

use crate::{Placement, RunError, Tally};
use octopus_density::LogDensity;
use octopus_sampler::{Block, Phase, SamplerConfig};
use octopus_trace::{Array, Dataset, Values};
use rayon::ThreadPool;
use std::time::Instant;

/// A run in memory, with its times.
pub struct MemoryRun {
    /// The blocks of draws after warm-up.
    pub blocks: Vec<Block>,
    /// The seconds of warm-up, including the search for starting points.
    pub warmup_s: f64,
    /// The seconds of the draws after warm-up.
    pub sampling_s: f64,
    /// The counts of the run, e.g. of leapfrog steps.
    pub tally: Tally,
}

/// Samples from beginning to end without writing anything.
///
/// # Errors
/// When a setting is out of range, the density is broken, or a device fails.
pub fn sample_in_memory(
    model: &dyn LogDensity,
    config: &SamplerConfig,
    place: &Placement,
    pool: &ThreadPool,
) -> Result<MemoryRun, RunError> {
    pool.install(|| {
        let begin = Instant::now();
        let mut sampler = place.start(model, config)?;
        let (mut blocks, mut warmup_s, mut tally) = (Vec::new(), 0.0, Tally::default());
        while let Some(block) = sampler.advance(usize::MAX)? {
            if block.phase == Phase::Warmup {
                warmup_s = begin.elapsed().as_secs_f64();
            }
            tally.add(&block);
            if block.phase == Phase::Sampling {
                blocks.push(block);
            }
        }
        Ok(MemoryRun { blocks, warmup_s, sampling_s: begin.elapsed().as_secs_f64() - warmup_s, tally })
    })
}

/// Returns the group `posterior` of a run in memory.
pub fn posterior_of(density: &dyn LogDensity, blocks: &[Block]) -> Dataset {
    let chains = blocks.first().map_or(0, |block| block.chains.len());
    let draws: usize = blocks.iter().map(|block| block.draws).sum();
    let layout = density.layout();
    let mut columns: Vec<Vec<f64>> =
        layout.variables.iter().map(|variable| Vec::with_capacity(chains * draws * variable.len())).collect();
    let mut expanded = vec![0.0; layout.width()];
    for chain in 0..chains {
        let own = blocks.iter().map(|block| &block.chains[chain].positions);
        for position in own.flat_map(|positions| positions.chunks_exact(density.dim())) {
            density.expand(position, &mut expanded);
            for ((_, range), column) in layout.ranges().zip(&mut columns) {
                column.extend_from_slice(&expanded[range]);
            }
        }
    }
    let mut dataset = Dataset::default();
    for (variable, values) in layout.variables.iter().zip(columns) {
        let own = variable.dims.iter().map(|dim| (dim.name.as_str(), dim.labels.len()));
        let axes = [("chain", chains), ("draw", draws)].into_iter().chain(own);
        dataset.insert(&variable.name, Array::new(axes, Values::F64(values)));
        for dim in &variable.dims {
            dataset.coords.insert(dim.name.clone(), dim.labels.clone());
        }
    }
    dataset
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::EightSchools;

    #[test]
    fn the_times_of_warm_up_and_draws_are_told_apart() {
        let config = SamplerConfig { chains: 2, tune: 20, draws: 2000, ..SamplerConfig::default() };
        let begin = Instant::now();
        let pool = crate::pool(Some(1)).unwrap();
        let run = sample_in_memory(&EightSchools::rubin(), &config, &Placement::Cpu, &pool).unwrap();
        let whole = begin.elapsed().as_secs_f64();
        assert!(run.blocks.iter().all(|block| block.phase == Phase::Sampling));
        assert_eq!(run.blocks.iter().map(|block| block.draws).sum::<usize>(), 2000);
        let MemoryRun { warmup_s, sampling_s, .. } = run;
        assert!(warmup_s > 0.0 && sampling_s > warmup_s, "100 times as many draws: {warmup_s} s and {sampling_s} s");
        assert!(warmup_s + sampling_s <= whole, "{warmup_s} s + {sampling_s} s of {whole} s");
        let config = SamplerConfig { tune: 0, draws: 10, ..config };
        let run = sample_in_memory(&EightSchools::rubin(), &config, &Placement::Cpu, &pool).unwrap();
        assert_eq!(run.warmup_s, 0.0, "without warm-up all time is that of the draws");
        assert!(run.tally.leapfrogs > 0 && run.tally.leapfrogs == run.tally.sampling_leapfrogs, "{:?}", run.tally);
    }
}
