//! The time of a leapfrog step, measured by runs of a model.

use crate::{Placement, RunError, pool};
use octopus_density::LogDensity;
use octopus_sampler::{Phase, SamplerConfig, SamplerError};
use rayon::ThreadPool;
use std::time::{Duration, Instant};

/// The time that a short measurement makes steps for.
const STEP_TIME: Duration = Duration::from_millis(300);
/// Transitions between looks at the clock.
const SPAN: usize = 10;

/// Returns the seconds of a leapfrog step of one chain: the time after warm-up divided by the leapfrog steps of all
/// draws and chains.
///
/// # Errors
/// When the density or the device fails.
pub fn seconds_a_step(
    model: &dyn LogDensity,
    config: &SamplerConfig,
    place: &Placement,
    pool: &ThreadPool,
) -> Result<f64, SamplerError> {
    pool.install(|| {
        let mut sampler = place.start(model, config)?;
        let (mut steps, mut begin) = (0, Instant::now());
        while let Some(block) = sampler.advance(usize::MAX)? {
            match block.phase {
                Phase::Warmup => begin = Instant::now(),
                Phase::Sampling => steps += block.leapfrogs(),
            }
        }
        Ok(begin.elapsed().as_secs_f64() / steps.max(1) as f64)
    })
}

/// Returns the seconds of a leapfrog step of one chain on one thread of the processor, from a short measurement.
///
/// # Errors
/// When the model cannot be sampled.
pub fn cpu_step_seconds(model: &dyn LogDensity) -> Result<f64, RunError> {
    short_step_seconds(model, 1, &Placement::Cpu, &pool(Some(1))?)
}

/// Returns the seconds of a leapfrog step of one of so many chains, from as many steps as fit [`STEP_TIME`]. Trajectories
/// are short, because steps are counted and not draws.
///
/// # Errors
/// When the density or the device fails.
pub(crate) fn short_step_seconds(
    model: &dyn LogDensity,
    chains: usize,
    place: &Placement,
    pool: &ThreadPool,
) -> Result<f64, RunError> {
    let config = SamplerConfig { chains, tune: 60, draws: 20, max_depth: 5, ..SamplerConfig::default() };
    pool.install(|| {
        let mut sampler = place.start(model, &config)?;
        // The first transition loads what is loaded on first use.
        sampler.advance(1)?;
        let (mut steps, begin) = (0, Instant::now());
        while steps == 0 || begin.elapsed() < STEP_TIME {
            let Some(block) = sampler.advance(SPAN)? else { break };
            steps += block.leapfrogs();
        }
        Ok(begin.elapsed().as_secs_f64() / steps.max(1) as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::synthetic::HierarchicalSpec;
    use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};

    fn model() -> HierarchicalNormal {
        let data = HierarchicalSpec::default().generate().unwrap().data;
        HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::default()).unwrap()
    }

    /// A hundred numbers are added in a step, and no more.
    #[test]
    fn a_step_of_a_small_model_takes_well_below_a_tenth_of_a_second() {
        let seconds = cpu_step_seconds(&model()).unwrap();
        assert!(seconds > 0.0 && seconds < 0.1, "{seconds} s");
    }
}
