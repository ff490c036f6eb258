//! Many data sets in one launch: each as if it were alone, whatever the others are and do.

use crate::scenario::{Bits, Kernels, Otherwise, advance_to, context, finish, model, on_gpu, on_software_gpu, short};
use octopus_density::gpu::Precision;
use octopus_density::{DensityError, LogDensity};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_sampler::{
    Backend, BatchSampler, Begin, DataSet, GpuConfig, GpuNote, Sampler, SamplerConfig, SamplerError, Strategy,
    WindowConfig,
};

pub(crate) const BATCH: &str = "nuts_batch_hierarchical_normal_f64_32x1";

/// Number `k` of data sets that differ in all that they may differ in.
fn density(k: usize) -> HierarchicalNormal {
    let likelihood = if k % 4 == 1 { Likelihood::Pointwise } else { Likelihood::Collapsed };
    model(3 + k * 7 % 23, k.is_multiple_of(2), likelihood)
}

/// Settings of number `k`: other seeds, chains and lengths, and warm-ups that end when they have settled.
pub(crate) fn config(k: usize) -> SamplerConfig {
    let seed = 100 + k as u64;
    if k % 3 == 2 {
        let tune = [60, 200][k % 2];
        return SamplerConfig { strategy: Strategy::ManyShort, chains: 12, superchains: 4, draws: 9, tune, ..short() };
    }
    let windows = WindowConfig { init_buffer: 6, base_window: 8 + k % 5, term_buffer: 9 };
    SamplerConfig { chains: 1 + k % 4, draws: 5 + k % 7, tune: 40 + k % 6, seed, windows, ..short() }
}

pub(crate) fn anew(densities: &[HierarchicalNormal], config: impl Fn(usize) -> SamplerConfig) -> Vec<DataSet<'_>> {
    densities.iter().zip(0..).map(|(density, k)| DataSet { density, begin: Begin::Anew(config(k)) }).collect()
}

pub(crate) fn several(count: usize) -> Vec<HierarchicalNormal> {
    (0..count).map(density).collect()
}

/// What each data set still gives, or how it fails; `limit` iterations at a time.
pub(crate) fn all(batch: &mut BatchSampler<'_>, count: usize, limit: usize) -> Vec<Result<Bits, SamplerError>> {
    let mut found: Vec<Result<Bits, SamplerError>> = (0..count).map(|_| Ok(Bits::default())).collect();
    while let Some(moved) = batch.advance(limit).expect("the device works") {
        assert!(!moved.is_empty());
        for one in moved {
            let bits = found[one.set].as_mut().expect("nothing comes after a failure");
            match one.block {
                Ok(block) => bits.add(&block),
                Err(error) => found[one.set] = Err(error),
            }
        }
    }
    for (set, bits) in found.iter_mut().enumerate() {
        if let Ok(bits) = bits {
            assert!(batch.is_complete(set));
            bits.learned(batch.adaptation(set).expect("known"), &batch.step_sizes(set).expect("known"));
        }
    }
    found
}

pub(crate) fn alone(density: &HierarchicalNormal, config: &SamplerConfig) -> Bits {
    finish(&mut Sampler::new(density, config.clone()).expect("starts"), usize::MAX)
}

pub(crate) fn assert_all_same(found: Vec<Result<Bits, SamplerError>>, expected: &[Bits], what: &str) {
    for (k, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        found.expect("runs").assert_same(expected, &format!("{what}: data set {k}"));
    }
}

on_software_gpu!(each_data_set_has_the_bits_that_it_has_alone, "", &[BATCH], {
    let densities = several(30);
    let sets = anew(&densities, config);
    let expected: Vec<Bits> = densities.iter().enumerate().map(|(k, density)| alone(density, &config(k))).collect();
    let context = context();
    // One launch or many, all at once or in turns.
    let cut = GpuConfig { most_iterations: 3, slot_bytes: 1, ..GpuConfig::default() };
    for (count, at_once, limit, gpu) in [
        (1, 9, usize::MAX, &GpuConfig::default()),
        (3, 9, 5, &cut),
        (30, usize::MAX, usize::MAX, &GpuConfig::default()),
        (30, 7, 13, &cut),
    ] {
        let mut batch = BatchSampler::begin(&sets[..count], at_once, Backend::gpu(&context, gpu)).expect("starts");
        let found = all(&mut batch, count, limit);
        assert_all_same(found, &expected[..count], &format!("{count} sets, {at_once} at once"));
    }
});

on_software_gpu!(
    other_precisions_have_the_bits_of_the_engine_for_one,
    "",
    &["nuts_hierarchical_normal_f32_32x1", "nuts_batch_hierarchical_normal_f32_32x1"],
    {
        let densities = several(4);
        let config = |k| SamplerConfig { precision: Precision::F32, ..config(k) };
        let gpu = GpuConfig::default();
        let one = |k: usize| finish(&mut on_gpu(&densities[k], &config(k), &gpu).expect("starts"), usize::MAX);
        let expected: Vec<Bits> = (0..4).map(one).collect();
        let mut batch =
            BatchSampler::begin(&anew(&densities, config), 4, Backend::gpu(&context(), &gpu)).expect("starts");
        assert_all_same(all(&mut batch, 4, usize::MAX), &expected, "f32");
    }
);

on_software_gpu!(
    data_sets_of_any_size_share_the_rows_of_the_largest,
    "",
    &["nuts_batch_hierarchical_normal_f64_32x4"],
    {
        let densities = [4, 60, 100].map(|groups| model(groups, false, Likelihood::Collapsed));
        let config = |k| SamplerConfig { draws: 5, tune: 40, chains: 2 + k, seed: k as u64, ..short() };
        let expected: Vec<Bits> = densities.iter().enumerate().map(|(k, density)| alone(density, &config(k))).collect();
        let gpu = GpuConfig::default();
        let mut batch =
            BatchSampler::begin(&anew(&densities, config), 3, Backend::gpu(&context(), &gpu)).expect("starts");
        assert_all_same(all(&mut batch, 3, usize::MAX), &expected, "sizes");
    }
);

// After a checkpoint a run goes on in another batch, by itself, or on the CPU.
on_software_gpu!(runs_move_out_of_a_batch_and_into_one, "", &[BATCH], {
    let densities = several(6);
    let expected: Vec<Bits> = densities.iter().enumerate().map(|(k, density)| alone(density, &config(k))).collect();
    let (context, gpu) = (context(), GpuConfig::default());
    let mut batch = BatchSampler::begin(&anew(&densities, config), 6, Backend::gpu(&context, &gpu)).expect("starts");
    let mut begun: Vec<Bits> = vec![Bits::default(); 6];
    for limit in [3, 11, 6, 8] {
        for one in batch.advance(limit).expect("runs").expect("goes on") {
            begun[one.set].add(&one.block.expect("runs"));
        }
    }
    let states: Vec<Vec<u8>> = (0..6).map(|k| batch.checkpoint(k).expect("encodes").expect("is under way")).collect();
    let done: Vec<usize> = (0..6).map(|k| batch.done(k).expect("is under way")).collect();
    drop(batch);
    let mut sets = anew(&densities, config);
    for (set, state) in sets.iter_mut().zip(&states) {
        set.begin = Begin::GoOn(state.clone());
    }
    // Number 4 begins once more among those that go on; of number 5 only the other engine knows how far it came.
    sets[4].begin = Begin::Anew(config(4));
    begun[4] = Bits::default();
    let mut by_itself = Sampler::begin(&densities[5], Begin::GoOn(states[5].to_vec()), Backend::Cpu).expect("goes on");
    assert_eq!(by_itself.done(), done[5]);
    advance_to(&mut by_itself, done[5] + 1, &mut begun[5]);
    sets[5].begin = Begin::GoOn(by_itself.checkpoint().expect("encodes"));
    let mut again = BatchSampler::begin(&sets, 4, Backend::gpu(&context, &gpu)).expect("starts");
    let rest = all(&mut again, 6, usize::MAX);
    let whole = begun.into_iter().zip(rest).map(|(begun, rest)| Ok(begun.then(rest?))).collect();
    assert_all_same(whole, &expected, "moved");
});

on_software_gpu!(one_that_fails_ends_alone, "", &[BATCH], {
    let shared =
        HierarchicalSpec { groups: 3, per_group: 9000, ..HierarchicalSpec::default() }.generate().expect("valid");
    let shared = HierarchicalNormal::new(shared.data, HierarchicalPrior::default(), Likelihood::Pointwise);
    let densities: Vec<Box<dyn LogDensity>> = vec![
        Box::new(density(0)),
        Box::new(Otherwise { inner: density(1), kernels: Kernels::OfSpoiledData }),
        Box::new(shared.expect("valid")),
        Box::new(model(1100, true, Likelihood::Collapsed)),
        Box::new(density(4)),
        Box::new(density(5)),
        Box::new(density(6)),
        Box::new(density(7)),
    ];
    let own = |k: usize| SamplerConfig { seed: k as u64, tune: 40, draws: 6, chains: 2, ..short() };
    let begin = |k: usize| {
        Begin::Anew(match k {
            4 => SamplerConfig { draws: 0, ..own(k) },
            5 => SamplerConfig { init_radius: 1e300, ..own(k) },
            _ => own(k),
        })
    };
    let all_of = densities.iter().zip(0..);
    let mut sets: Vec<_> = all_of.map(|(density, k)| DataSet { density: &**density, begin: begin(k) }).collect();
    // A checkpoint of other data with as many groups.
    let other = model(density(6).data().groups(), false, Likelihood::Collapsed);
    let mut other = Sampler::new(&other, own(6)).expect("starts");
    other.advance(5).expect("runs");
    sets[6].begin = Begin::GoOn(other.checkpoint().expect("encodes"));
    let mut batch = BatchSampler::begin(&sets, 8, Backend::gpu(&context(), &GpuConfig::default())).expect("starts");
    let found = all(&mut batch, 8, 7);
    for k in [0, 7] {
        alone(&density(k), &own(k)).assert_same(found[k].as_ref().expect("runs"), "among those that fail");
    }
    let failed = |k: usize| found[k].as_ref().expect_err("fails").to_string();
    assert!(matches!(&found[1], Err(SamplerError::Density { source: DensityError::NotFinite { .. }, .. })));
    assert!(failed(2).contains("sample it by itself"), "{}", failed(2));
    assert!(failed(3).contains("at most 1024 coordinates"), "{}", failed(3));
    assert!(failed(4).contains("draws"), "{}", failed(4));
    assert!(matches!(&found[5], Err(SamplerError::Init { .. })), "{:?}", found[5].as_ref().err());
    assert!(matches!(&found[6], Err(SamplerError::Checkpoint(_))), "{:?}", found[6].as_ref().err());
});

on_software_gpu!(data_sets_that_do_not_fit_take_turns, "total_mb=64;free_mb=60", &[BATCH], {
    let densities = several(40);
    let config = |k| SamplerConfig { chains: 200, draws: 1, tune: 3, seed: k as u64, ..short() };
    let sets = anew(&densities, config);
    let (context, gpu) = (context(), GpuConfig { slot_bytes: 1 << 20, ..GpuConfig::default() });
    let found = |at_once| {
        let mut batch = BatchSampler::begin(&sets, at_once, Backend::gpu(&context, &gpu)).expect("begins");
        let notes = batch.take_notes();
        let found = all(&mut batch, 40, usize::MAX);
        for k in [0, 39] {
            alone(&densities[k], &config(k)).assert_same(found[k].as_ref().expect("runs"), "in turns");
        }
        notes
    };
    let told: Vec<String> = found(40).iter().map(ToString::to_string).collect();
    assert!(told[0].starts_with("cuda:0: 40 at once is too much, going on with 20 at once ("), "{told:?}");
    assert!(told[0].contains("out of memory"), "{told:?}");
    assert_eq!(found(10), [], "a quarter fits");
});

on_software_gpu!(a_device_that_is_lost_ends_all, "lost=300", &[BATCH], {
    let densities = several(3);
    let sets = anew(&densities, config);
    let mut batch = BatchSampler::begin(&sets, 3, Backend::gpu(&context(), &GpuConfig::default())).expect("starts");
    let error = loop {
        match batch.advance(1) {
            Ok(moved) => assert!(moved.is_some(), "the device was not lost"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, SamplerError::Device(_)), "{error}");
});

// A small data set of many chains takes more memory than a larger one of a single chain.
on_software_gpu!(the_largest_turn_is_first_and_no_larger_than_asked_for, "", &[BATCH], {
    let densities = [10, 3].map(|groups| model(groups, true, Likelihood::Collapsed));
    let config = |k: usize| SamplerConfig { chains: [1, 60][k], draws: 2, tune: 6, seed: k as u64, ..short() };
    let (sets, context) = (anew(&densities, config), context());
    for at_once in [0, 1] {
        let mut batch =
            BatchSampler::begin(&sets, at_once, Backend::gpu(&context, &GpuConfig::default())).expect("starts");
        let moved = batch.advance(1).expect("runs").expect("goes on");
        assert_eq!(moved.iter().map(|one| one.set).collect::<Vec<_>>(), [1], "{at_once} at once");
    }
});

/// So many data sets on a device whose memory does not suffice once: `half` of them are first.
fn assert_halved(count: usize, half: usize) {
    let densities = several(count);
    let config = |k| SamplerConfig { chains: 2, draws: 2, tune: 6, seed: k as u64, ..short() };
    let expected: Vec<Bits> = densities.iter().enumerate().map(|(k, one)| alone(one, &config(k))).collect();
    let mut batch =
        BatchSampler::begin(&anew(&densities, config), count, Backend::gpu(&context(), &GpuConfig::default()))
            .expect("starts");
    let notes = batch.take_notes();
    let [GpuNote::Turns { device: 0, from, to, .. }] = notes[..] else { panic!("{notes:?}") };
    assert_eq!((from, to), (count, half));
    assert_all_same(all(&mut batch, count, usize::MAX), &expected, "in turns");
}

on_software_gpu!(two_data_sets_of_which_one_fits, "fail=cuMemAlloc_v2:2@1", &[BATCH], {
    assert_halved(2, 1);
});

on_software_gpu!(three_data_sets_of_which_one_fits, "fail=cuMemAlloc_v2:2@1", &[BATCH], {
    assert_halved(3, 1);
});

on_software_gpu!(not_even_one_data_set_fits, "fail=cuMemAlloc_v2:2", &[BATCH], {
    let densities = several(2);
    let begun = BatchSampler::begin(&anew(&densities, config), 2, Backend::gpu(&context(), &GpuConfig::default()));
    let error = begun.map(|_| ()).expect_err("there is no memory");
    assert!(matches!(&error, SamplerError::Device(cause) if cause.is_out_of_memory()), "{error}");
});
