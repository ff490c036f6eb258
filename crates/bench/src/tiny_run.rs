//! The tiny sampling run of `octopus verify`, to see that everything from data to draws works.
//!
//! Its size stands here: 10 groups, one chain, 10 iterations of warm-up, 10 draws.

use crate::error::BenchError;
use octopus_device::Device;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_runs::{Placement, sample_in_memory};
use octopus_sampler::{Begin, SamplerConfig};
use std::time::Instant;

/// Makes a run of one chain on data of 10 groups, with 10 iterations of warm-up and 10 draws. Returns in words what
/// came of it.
///
/// # Errors
/// When it failed or a draw is not finite.
pub fn tiny_run(device: Device) -> Result<String, BenchError> {
    let spec = HierarchicalSpec { groups: 10, ..HierarchicalSpec::default() };
    let data = spec.generate().map_err(|error| BenchError::from(error).at("making data".into()))?.data;
    let model = HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::default())?;
    let config = SamplerConfig { draws: 10, tune: 10, chains: 1, seed: 42, ..SamplerConfig::default() };
    let clock = Instant::now();
    let run = sample_in_memory(
        &model,
        Begin::Anew(config.clone()),
        &Placement::open(&[device])?,
        &octopus_runs::pool(Some(1))?,
    )?;
    let took = clock.elapsed().as_secs_f64();
    let draws = || run.blocks.iter().flat_map(|block| &block.chains).flat_map(|chain| &chain.positions);
    let found: usize = run.blocks.iter().map(|block| block.draws).sum();
    if found != config.draws {
        return Err(BenchError::Contradiction(format!("{found} draws instead of {}", config.draws)));
    }
    if let Some(place) = draws().position(|value| !value.is_finite()) {
        return Err(BenchError::Contradiction(format!("value {place} of the draws is not finite")));
    }
    Ok(format!("10 draws, 10 of warm-up, 1 chain in {took:.3} s on {device}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_samples_and_says_where() {
        let words = super::tiny_run(super::Device::Cpu).unwrap();
        assert!(words.contains("10 draws") && words.ends_with("on cpu"), "{words}");
    }
}
