//! A draw after warm-up allocates nothing, by any sampler that moves chains. This test is alone in its process, whose
//! allocations it counts.

use octopus_models::EightSchools;
use octopus_sampler::{Algorithm, Sampler, SamplerConfig};
use rayon::ThreadPoolBuilder;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns how often the process asks for memory while each chain makes so many draws.
fn allocations(sampler: &mut Sampler<'_>, draws: usize) -> usize {
    let before = Region::new(ALLOCATOR);
    sampler.advance(draws).expect("draws").expect("a block");
    let now = before.change();
    now.allocations + now.reallocations
}

#[test]
fn a_draw_allocates_nothing() {
    // One thread: what others do is not of the draws.
    let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("threads");
    pool.install(|| {
        let model = EightSchools::rubin();
        let chains = Algorithm::NAMES.iter().filter_map(|name| Algorithm::named(name));
        for algorithm in chains.filter(|algorithm| !algorithm.draws_population()) {
            let name = algorithm.name();
            let config = SamplerConfig { algorithm, tune: 200, draws: 4000, ..SamplerConfig::default() };
            let mut sampler = Sampler::new(&model, config).expect("a sampler");
            while sampler.warm_up().is_none() {
                sampler.advance(usize::MAX).expect("warm-up");
            }
            // What other threads of the process do is not in every trial.
            let mut least = |draws| (0..4).map(|_| allocations(&mut sampler, draws)).min().unwrap_or(0);
            let (few, many) = (least(16), least(400));
            // Chains take turns of 16 draws, and rayon allocates a task for each turn.
            let turns = 4 * 400 / 16;
            assert!(many - few <= turns, "{name}: {few} of 16 draws, {many} of 400");
        }
    });
}
