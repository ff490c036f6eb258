//! Runs in memory, which leave nothing on the disk.

use crate::draws::{Draws, expanded, positions, posterior, shape};
use crate::drive::of_sampler;
use crate::{Placement, RunError, RunRecord, Tally, warn};
use octopus_density::LogDensity;
use octopus_sampler::{Begin, Block, Phase};
use octopus_trace::{Dataset, InferenceData};
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
    /// The results of warm-up, as `run.toml` has them.
    pub adaptation: toml::Table,
}

/// Samples from beginning to end without writing anything.
///
/// # Errors
/// When a setting is out of range, the density is broken, or a device fails.
pub fn sample_in_memory(
    model: &dyn LogDensity,
    begin: Begin,
    place: &Placement,
    pool: &ThreadPool,
) -> Result<MemoryRun, RunError> {
    pool.install(|| {
        let started = Instant::now();
        let mut sampler = place.begin(model, begin)?;
        warn("", sampler.take_notes());
        let (mut blocks, mut warmup_s, mut tally) = (Vec::new(), 0.0, Tally::default());
        while let Some(block) = sampler.advance(usize::MAX)? {
            warn("", sampler.take_notes());
            if block.phase == Phase::Warmup {
                warmup_s = started.elapsed().as_secs_f64();
            }
            tally.add(&block);
            if block.phase == Phase::Sampling {
                blocks.push(block);
            }
        }
        let sampling_s = started.elapsed().as_secs_f64() - warmup_s;
        let adaptation = of_sampler(&sampler);
        Ok(MemoryRun { blocks, warmup_s, sampling_s, tally, adaptation })
    })
}

/// Returns the draws of a run in memory as a run folder's are read: the groups `posterior`, `unconstrained_posterior`
/// and `sample_stats`. Their attributes are those of `record`.
///
/// # Errors
/// When the density is broken at a draw.
pub fn groups_of(density: &dyn LogDensity, blocks: &[Block], record: &RunRecord) -> Result<InferenceData, RunError> {
    let mut data = InferenceData::default();
    Draws::of_blocks(density, blocks, &record.sampler)?.add_groups(record, Phase::Sampling, &mut data);
    Ok(data)
}

/// Returns the group `posterior` of a run in memory. Variables that are random given the position are made anew.
///
/// # Errors
/// When the density is broken at a draw.
pub fn posterior_of(density: &dyn LogDensity, blocks: &[Block]) -> Result<Dataset, RunError> {
    let (chains, draws) = shape(blocks);
    Ok(posterior(density.layout(), chains, draws, expanded(density, positions(blocks), None)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::EightSchools;
    use octopus_sampler::SamplerConfig;

    #[test]
    fn the_times_of_warm_up_and_draws_are_told_apart() {
        let config = SamplerConfig { chains: 2, tune: 20, draws: 2000, ..SamplerConfig::default() };
        let begin = Instant::now();
        let pool = crate::pool(Some(1)).unwrap();
        let run =
            sample_in_memory(&EightSchools::rubin(), Begin::Anew(config.clone()), &Placement::Cpu, &pool).unwrap();
        let whole = begin.elapsed().as_secs_f64();
        assert!(run.blocks.iter().all(|block| block.phase == Phase::Sampling));
        assert_eq!(run.blocks.iter().map(|block| block.draws).sum::<usize>(), 2000);
        let MemoryRun { warmup_s, sampling_s, .. } = run;
        assert!(warmup_s > 0.0 && sampling_s > warmup_s, "100 times as many draws: {warmup_s} s and {sampling_s} s");
        assert!(warmup_s + sampling_s <= whole, "{warmup_s} s + {sampling_s} s of {whole} s");
        let config = SamplerConfig { tune: 0, draws: 10, ..config };
        let run =
            sample_in_memory(&EightSchools::rubin(), Begin::Anew(config.clone()), &Placement::Cpu, &pool).unwrap();
        assert_eq!(run.warmup_s, 0.0, "without warm-up all time is that of the draws");
        assert!(run.tally.leapfrogs > 0 && run.tally.leapfrogs == run.tally.sampling_leapfrogs, "{:?}", run.tally);
    }
}
