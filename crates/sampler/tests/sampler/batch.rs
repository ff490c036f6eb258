//! Many data sets on the CPU: each as if it were alone, and one that fails ends alone.

use crate::densities::Breaking;
use crate::reproducible::{Bits, config, model, whole};
use octopus_density::{DensityError, LogDensity};
use octopus_sampler::{
    Backend, BatchSampler, Begin, DataSet, Sampler, SamplerConfig, SamplerError, Strategy, WindowConfig,
};

/// Settings of number `k`; warm-ups of chains that make them together end when they have settled.
fn settings_of(k: usize) -> SamplerConfig {
    let (seed, windows) = (50 + k as u64, WindowConfig::default());
    match k % 3 {
        0 => SamplerConfig { draws: 10 + k % 4, tune: 50 + 9 * (k % 3), chains: 1 + k % 3, seed, ..config() },
        1 => {
            let strategy = Strategy::ManyShort;
            SamplerConfig { strategy, chains: 8, superchains: 4, draws: 7, tune: 100, seed, windows, ..config() }
        }
        _ => {
            let strategy = Strategy::CrossChain;
            SamplerConfig { strategy, chains: 4, draws: 10, tune: 170, seed, windows, ..config() }
        }
    }
}

fn begin<D: LogDensity>(densities: &[D], config: impl Fn(usize) -> SamplerConfig) -> Vec<DataSet<'_>> {
    let all = densities.iter().enumerate();
    all.map(|(k, density)| DataSet { density, begin: Begin::Anew(config(k)) }).collect()
}

fn all(batch: &mut BatchSampler<'_>, bits: &mut [Bits], limit: usize) {
    while let Some(moved) = batch.advance(limit).expect("the CPU does not fail") {
        moved.into_iter().for_each(|one| bits[one.set].add(&one.block.expect("runs")));
    }
}

#[test]
fn each_data_set_has_the_bits_that_it_has_alone() {
    let densities: Vec<_> = (0..30).map(|k| model(2 + 5 * k % 19)).collect();
    let expected: Vec<Bits> = densities.iter().enumerate().map(|(k, density)| whole(density, settings_of(k))).collect();
    let sets = begin(&densities, settings_of);
    for (count, at_once, limit, threads) in
        [(1, 1, usize::MAX, 3), (3, 2, 4, 1), (30, 8, 17, 3), (30, usize::MAX, usize::MAX, 1)]
    {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut found = vec![Bits::default(); count];
        pool.install(|| {
            all(&mut BatchSampler::begin(&sets[..count], at_once, Backend::Cpu).expect("begins"), &mut found, limit)
        });
        for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(found == expected, "data set {k} of {count}, {at_once} at once, on {threads} threads");
        }
    }
}

#[test]
fn runs_go_on_from_checkpoints() {
    let densities: Vec<_> = (0..6).map(|k| model(4 + k)).collect();
    let mut batch = BatchSampler::begin(&begin(&densities, settings_of), 4, Backend::Cpu).expect("begins");
    let mut bits = vec![Bits::default(); 6];
    for _ in 0..4 {
        let moved = batch.advance(9).expect("runs").expect("goes on");
        assert_eq!(moved.iter().map(|one| one.set).collect::<Vec<_>>(), [0, 1, 2, 3], "four at once, in order");
        moved.into_iter().for_each(|one| bits[one.set].add(&one.block.expect("runs")));
    }
    let begins = (0..6).map(|k| batch.checkpoint(k).expect("encodes").map_or(Begin::Anew(settings_of(k)), Begin::GoOn));
    let begins: Vec<Begin> = begins.collect();
    assert!(matches!(begins[4], Begin::Anew(_)) && matches!(begins[3], Begin::GoOn(_)));
    // A run may leave the batch, too.
    let Begin::GoOn(state) = &begins[0] else { unreachable!() };
    let mut left =
        Sampler::begin(&densities[0], Begin::GoOn(state.to_vec()), Backend::Cpu).expect("a checkpoint of a run");
    assert_eq!(Some(left.done()), batch.done(0));
    assert!(left.advance(1).expect("runs").is_some());
    let sets: Vec<_> = densities.iter().zip(begins).map(|(density, begin)| DataSet { density, begin }).collect();
    let mut again = BatchSampler::begin(&sets, 3, Backend::Cpu).expect("begins");
    all(&mut again, &mut bits, 50);
    for (k, bits) in bits.iter().enumerate() {
        assert!(*bits == whole(&densities[k], settings_of(k)), "data set {k}");
        assert!(again.is_complete(k) && again.checkpoint(k).expect("encodes").is_none());
        let alone = {
            let mut sampler = Sampler::new(&densities[k], settings_of(k)).expect("starts");
            while sampler.advance(usize::MAX).expect("runs").is_some() {}
            (sampler.adaptation().clone(), sampler.step_sizes(), sampler.warm_up())
        };
        let own = (again.adaptation(k).cloned(), again.step_sizes(k), again.warm_up(k));
        assert_eq!(own, (Some(alone.0), Some(alone.1), alone.2), "data set {k}");
    }
}

#[test]
fn one_that_fails_ends_alone() {
    // At its starting point, in warm-up, among the draws, and never.
    let densities: Vec<Breaking> = [0, 200, 1_000, usize::MAX, usize::MAX].map(Breaking::after).into();
    let config = |k| match k {
        4 => SamplerConfig { target_accept: 2.0, ..Default::default() },
        _ => SamplerConfig { draws: 400, tune: 60, chains: 2, seed: 7, ..Default::default() },
    };
    let mut batch = BatchSampler::begin(&begin(&densities, config), 5, Backend::Cpu).expect("begins");
    let mut bits = vec![Bits::default(); 5];
    let mut failed: Vec<Option<SamplerError>> = (0..5).map(|_| None).collect();
    while let Some(moved) = batch.advance(25).expect("the CPU does not fail") {
        for one in moved {
            assert!(failed[one.set].is_none(), "nothing comes after a failure");
            match one.block {
                Ok(block) => bits[one.set].add(&block),
                Err(error) => failed[one.set] = Some(error),
            }
        }
    }
    for (k, error) in failed[..3].iter().enumerate() {
        let Some(SamplerError::Density { iteration, source, .. }) = error else { panic!("{k}: {error:?}") };
        assert_eq!(*source, DensityError::Broken(Breaking::MESSAGE.into()));
        assert_eq!(*iteration > 0, k > 0, "{k}");
        assert!(batch.done(k).is_none() && !batch.is_complete(k) && batch.checkpoint(k).expect("encodes").is_none());
    }
    assert!(matches!(&failed[4], Some(SamplerError::Config(_))));
    assert!(failed[3].is_none() && batch.is_complete(3));
    assert!(bits[3] == whole(&Breaking::after(usize::MAX), config(3)));
}

#[test]
fn one_data_set_is_under_way_at_the_least() {
    let densities: Vec<_> = (0..3).map(|k| model(4 + k)).collect();
    for at_once in [0, 1] {
        let mut batch = BatchSampler::begin(&begin(&densities, settings_of), at_once, Backend::Cpu).expect("begins");
        let moved = batch.advance(3).expect("runs").expect("goes on");
        assert_eq!(moved.iter().map(|one| one.set).collect::<Vec<_>>(), [0], "{at_once} at once");
    }
}
