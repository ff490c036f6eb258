//! Runs in memory until their draws suffice, to measure how long that takes.

use crate::RunError;
use crate::goal::looks;
use octopus_sampler::{Block, Phase, Sampler};
use std::time::{Duration, Instant};

/// The outcome of a run in memory.
pub struct Reach {
    /// Whether the draws sufficed; otherwise the run made as many draws as it may.
    pub met: bool,
    /// The iterations of warm-up of each chain.
    pub warm_up: usize,
    /// The draws of each chain.
    pub draws: usize,
    /// The seconds of warm-up, from the first iteration on.
    pub warmup_s: f64,
    /// The seconds of the draws after warm-up.
    pub sampling_s: f64,
}

/// Samples until `enough` says that the draws suffice, or the run has made all its draws. `enough` is shown the draws
/// as often as a run with a goal looks at them. The clock stands still meanwhile, because a run with a goal goes on
/// sampling during a look.
///
/// # Errors
/// When the density or the device fails, or `enough` does.
pub fn reach<E: From<RunError>>(
    sampler: &mut Sampler<'_>,
    mut enough: impl FnMut(&[Block]) -> Result<bool, E>,
) -> Result<Reach, E> {
    let begin = Instant::now();
    while sampler.warm_up().is_none() && sampler.advance(usize::MAX).map_err(RunError::from)?.is_some() {}
    let warmup_s = begin.elapsed().as_secs_f64();
    let (mut most, many) = (sampler.config().draws, sampler.config().nested().is_some());
    let (mut blocks, mut draws, mut sampling, mut met) = (Vec::new(), 0, Duration::ZERO, false);
    for look in looks(many) {
        while draws < look.min(most) {
            let begin = Instant::now();
            let block = sampler.advance(look - draws).map_err(RunError::from)?;
            sampling += begin.elapsed();
            let Some(block) = block.filter(|block| block.phase == Phase::Sampling) else {
                most = draws;
                break;
            };
            draws += block.draws;
            blocks.push(block);
        }
        met = enough(&blocks)?;
        if met || draws >= most {
            break;
        }
    }
    Ok(Reach { met, warm_up: sampler.warm_up().unwrap_or(0), draws, warmup_s, sampling_s: sampling.as_secs_f64() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::EightSchools;
    use octopus_sampler::SamplerConfig;

    /// Many chains are compared with each other from their first draw on.
    #[test]
    fn many_short_chains_are_shown_from_the_first_draw_on() {
        let config = SamplerConfig { tune: 30, draws: 6, ..SamplerConfig::many_short(16) };
        let model = EightSchools::rubin();
        let mut seen: Vec<usize> = Vec::new();
        let found = reach(&mut Sampler::new(&model, config).unwrap(), |blocks| {
            seen.push(blocks.iter().map(|block| block.draws).sum());
            Ok::<bool, RunError>(false)
        });
        assert_eq!((seen, found.unwrap().draws), (vec![1, 2, 3, 4, 5, 6], 6));
    }

    /// Looks are at 50, 63, 79, ... draws, and at the last.
    #[test]
    fn draws_are_shown_at_each_look_until_they_suffice() {
        let model = EightSchools::rubin();
        for (most, suffice, expected) in
            [(70, 60, &[50, 63][..]), (70, 1000, &[50, 63, 70]), (50, 1000, &[50]), (40, 1000, &[40])]
        {
            let config = SamplerConfig { chains: 2, tune: 20, draws: most, ..SamplerConfig::default() };
            let mut sampler = Sampler::new(&model, config).unwrap();
            let mut seen: Vec<usize> = Vec::new();
            let found = reach(&mut sampler, |blocks| {
                let draws = blocks.iter().map(|block| block.draws).sum();
                seen.push(draws);
                Ok::<bool, RunError>(draws >= suffice)
            })
            .unwrap();
            assert_eq!(seen, expected, "{most} draws at most, {suffice} suffice");
            let last = *expected.last().unwrap();
            assert_eq!((found.met, found.warm_up, found.draws), (last >= suffice, 20, last));
            assert!(found.warmup_s > 0.0 && found.sampling_s > 0.0, "{} s, {} s", found.warmup_s, found.sampling_s);
        }
    }
}
