//! Device memory is what is foretold, and does not grow with the draws.

use crate::scenario::{context, finish, model, on_gpu, on_software_gpu, short};
use octopus_models::Likelihood;
use octopus_sampler::{GpuConfig, GpuMemory, Precision, SamplerConfig};

const UNITS: &[&str] =
    &["nuts_hierarchical_normal_f64_32x1", "nuts_hierarchical_normal_f32_32x4", "nuts_hierarchical_normal_mixed_128x4"];

on_software_gpu!(a_run_takes_the_memory_that_was_foretold, "", UNITS, {
    for (groups, precision, chains, draws) in [
        (8, Precision::F64, 3, 50),
        (8, Precision::F64, 3, 2000),
        (8, Precision::F64, 1, 5),
        (100, Precision::F32, 40, 5),
        (500, Precision::Mixed, 2, 5),
    ] {
        let model = model(groups, false, Likelihood::Pointwise);
        let config = SamplerConfig { precision, chains, draws, tune: 30, ..short() };
        let gpu = GpuConfig { slot_bytes: 1 << 20, ..GpuConfig::default() };
        let context = context();
        context.reset_usage();
        finish(&mut on_gpu(&model, &config, &gpu).unwrap(), usize::MAX);
        let (foretold, peak) = (GpuMemory::of_run(&model, &config, &gpu).unwrap(), context.usage().peak_device_bytes);
        assert_eq!(foretold.total(), peak, "{groups} groups, {chains} chains, {draws} draws: {foretold:?}");
        assert_eq!(context.usage().device_bytes, 0, "all is given back");
    }
});

on_software_gpu!(the_host_locks_memory_for_what_is_fetched, "", UNITS, {
    let model = model(8, false, Likelihood::Collapsed);
    let config = SamplerConfig { chains: 3, draws: 50, tune: 30, ..short() };
    // Windows on the device, and on the host.
    for (window_bytes, on_host) in [(1 << 30, false), (0, true)] {
        let gpu = GpuConfig { window_bytes, ..GpuConfig::default() };
        let context = context();
        context.reset_usage();
        finish(&mut on_gpu(&model, &config, &gpu).unwrap(), usize::MAX);
        let (slots, pinned) =
            (GpuMemory::of_run(&model, &config, &gpu).unwrap().slots, context.usage().peak_pinned_bytes);
        // Of 3 x 8 x 11 bytes a draw and its two vectors a third, and 64 bytes beside them.
        let share = pinned as f64 / slots as f64;
        let expected = if on_host { 1.0 } else { (88.0 + 64.0) / (3.0 * 88.0 + 64.0) };
        assert!((share - expected).abs() < 0.01, "{pinned} of {slots} bytes, expected {expected}");
    }
});

on_software_gpu!(buffers_are_as_large_as_a_run_needs, "", UNITS, {
    let model = model(8, false, Likelihood::Collapsed);
    // A draw of all 2000 chains, with its statistics; beside the draws are 72 bytes of a chain's state, and its point.
    let draw = 2000 * (8 * 11 + 64);
    // An eighth of the draws, at least 1 MiB, at most `slot_bytes`.
    for (draws, slot_bytes, iterations) in
        [(8, 16 << 20, 2), (80, 16 << 20, 10), (81, 16 << 20, 11), (4000, 4 << 20, 12)]
    {
        let config = SamplerConfig { chains: 2000, draws, tune: 30, ..short() };
        let context = context();
        context.reset_usage();
        let sampler = on_gpu(&model, &config, &GpuConfig { slot_bytes, ..GpuConfig::default() }).unwrap();
        let pinned = context.usage().peak_pinned_bytes as usize;
        drop(sampler);
        assert_eq!(pinned, 2 * (iterations * draw + 2000 * (72 + 8 * 11)), "{draws} draws");
    }
});

on_software_gpu!(only_what_is_launched_is_copied, "", UNITS, {
    let model = model(8, false, Likelihood::Collapsed);
    let strategy = octopus_sampler::Strategy::ManyShort;
    let config = SamplerConfig { chains: 512, superchains: 8, strategy, draws: 5, tune: 40, ..short() };
    let context = context();
    let mut sampler = on_gpu(&model, &config, &GpuConfig::default()).unwrap();
    context.reset_usage();
    let block = sampler.advance(4).unwrap().unwrap();
    let (chains, copied) = (block.chains.len(), context.usage().downloaded_bytes as usize);
    assert_eq!((chains, block.draws), (8, 4));
    let drawn = chains * block.draws * (8 * 11 + 64);
    // Each launch brings states and points of its end, too; all 512 chains are 64 times as many.
    assert!((drawn..8 * drawn).contains(&copied), "{copied} bytes for {drawn} of draws");
});
