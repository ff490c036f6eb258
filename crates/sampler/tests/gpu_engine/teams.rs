//! Several blocks that share the evaluations of a chain: the same bits, whoever does which part.

use crate::scenario::{context, finish, on_gpu, on_software_gpu, short};
use crate::statistics::meets_the_exact_posterior;
use octopus_cuda::CudaError;
use octopus_density::LogDensity;
use octopus_density::gpu::GpuDensity;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_sampler::{
    Backend, Begin, GpuConfig, GpuMemory, GpuNote, Parameterization, Precision, Sampler, SamplerConfig, SamplerError,
};
use octopus_softgpu::Lanes;
use std::time::{Duration, Instant};

/// Groups of `size(j)` observations, every one of which is read.
pub(crate) fn pointwise(groups: usize, size: impl Fn(usize) -> usize) -> HierarchicalNormal {
    let sizes: Vec<usize> = (0..groups).map(size).collect();
    let data = HierarchicalSpec::default().with_sizes(&sizes).expect("valid").data;
    let model = HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Pointwise).expect("valid");
    assert!(model.team_work().is_some(), "{} observations are not shared", model.observations());
    model
}

/// A part of a tile, two whole ones, two and a part, more than these, and what a lane sums by itself.
pub(crate) fn ragged(j: usize) -> usize {
    [300, 3, 4133, 256, 257, 4096, 10_300][j % 7]
}

/// A group of 35 tiles, which are more than a warp awaits at once.
fn one_of_many_tiles(j: usize) -> usize {
    [70_000, 5, 300][j]
}

fn blocks(blocks_per_chain: usize) -> GpuConfig {
    GpuConfig { blocks_per_chain, ..GpuConfig::default() }
}

fn brief() -> SamplerConfig {
    SamplerConfig { draws: 15, tune: 60, chains: 2, ..short() }
}

/// With the bits of the CPU's engine, by any number of blocks.
fn compare(model: &HierarchicalNormal, config: &SamplerConfig, of_blocks: &[usize]) {
    let expected = finish(&mut Sampler::new(model, config.clone()).unwrap(), usize::MAX);
    for &count in of_blocks {
        let found = finish(&mut on_gpu(model, config, &blocks(count)).unwrap(), usize::MAX);
        found.assert_same(&expected, &format!("{} groups, {count} blocks, {config:?}", model.data().groups()));
    }
}

on_software_gpu!(any_number_of_blocks_of_a_warps_chain, "", &["nuts_hierarchical_normal_f64_32x8_team"], {
    for parameterization in [Parameterization::NonCentered, Parameterization::Adaptive] {
        compare(&pointwise(14, ragged), &SamplerConfig { parameterization, ..brief() }, &[1, 2, 5, usize::MAX]);
    }
});

on_software_gpu!(any_number_of_blocks_of_a_blocks_chain, "", &["nuts_hierarchical_normal_f64_128x8_team"], {
    let size = |j: usize| if j % 100 == 7 { ragged(j / 100) } else { 1 + j % 9 };
    compare(&pointwise(400, size), &SamplerConfig { draws: 5, tune: 25, ..brief() }, &[1, 3, usize::MAX]);
});

on_software_gpu!(many_small_groups, "", &["nuts_hierarchical_normal_f64_32x8_team"], {
    compare(&pointwise(130, |j| 251 + j % 6), &SamplerConfig { draws: 5, tune: 25, ..brief() }, &[1, usize::MAX]);
});

on_software_gpu!(more_tiles_than_lanes, "", &["nuts_hierarchical_normal_f64_32x8_team"], {
    compare(&pointwise(3, one_of_many_tiles), &SamplerConfig { draws: 5, tune: 25, ..brief() }, &[1, 3, usize::MAX]);
});

/// The PTX itself: blocks that wait for each other's letters.
#[test]
fn teams_as_ptx() {
    crate::scenario::run_as_ptx(concat!(module_path!(), "::teams_as_ptx"), || {
        let config = SamplerConfig { draws: 2, tune: 6, ..brief() };
        compare(&pointwise(7, ragged), &config, &[1, 3]);
        compare(&pointwise(3, one_of_many_tiles), &config, &[2]);
        let size = |j: usize| if j == 7 { 4133 } else { 1 + j % 9 };
        compare(&pointwise(260, size), &SamplerConfig { draws: 1, tune: 2, ..config }, &[2]);
    });
}

/// Buffers have no byte more than they must.
#[test]
fn sanitizers_find_nothing_in_a_blocks_team() {
    let name = concat!(module_path!(), "::sanitizers_find_nothing_in_a_blocks_team");
    let units = ["nuts_hierarchical_normal_f64_128x8_team"];
    crate::scenario::run_sanitized(name, Lanes::Arrays, &units, || {
        let size = |j: usize| if j == 7 { 4133 } else { 1 + j % 9 };
        compare(&pointwise(260, size), &SamplerConfig { draws: 1, tune: 3, ..brief() }, &[1, 3]);
    });
}

// Chains that take turns, launches of any length, and a run that moves from the CPU to teams and back.
on_software_gpu!(teams_that_take_turns, "", &["nuts_hierarchical_normal_f64_32x8_team"], {
    let model = pointwise(7, ragged);
    let config = SamplerConfig { chains: 3, draws: 20, tune: 40, ..short() };
    let expected = finish(&mut Sampler::new(&model, config.clone()).unwrap(), usize::MAX);
    let gpu = GpuConfig { chains_at_once: 2, most_iterations: 3, ..blocks(2) };
    finish(&mut on_gpu(&model, &config, &gpu).unwrap(), usize::MAX).assert_same(&expected, "in turns");
    let mut sampler = Sampler::new(&model, config.clone()).unwrap();
    sampler.advance(25).unwrap();
    let done = sampler.done();
    let state = sampler.checkpoint().unwrap();
    let mut rest = Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::Cpu).unwrap();
    let expected = finish(&mut rest, usize::MAX);
    let mut moved = Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::gpu(&context(), &blocks(3))).unwrap();
    finish(&mut moved, usize::MAX).assert_same(&expected, &format!("moved after {done} iterations"));
});

// In other precisions no bit depends on the number of blocks either, and they meet the exact posterior.
on_software_gpu!(
    precisions_by_teams,
    "",
    &[
        "nuts_hierarchical_normal_f64_32x8_team",
        "nuts_hierarchical_normal_f32_32x8_team",
        "nuts_hierarchical_normal_mixed_32x8_team"
    ],
    {
        let model = pointwise(12, |j| 200 + 97 * j);
        for precision in Precision::ALL {
            let config = SamplerConfig { precision, ..brief() };
            let [alone, shared] = [1, 3].map(|count| finish(&mut on_gpu(&model, &config, &blocks(count)).unwrap(), 50));
            shared.assert_same(&alone, &format!("{precision}"));
        }
        let config = SamplerConfig { draws: 1000, tune: 400, chains: 4, ..short() };
        assert_eq!(meets_the_exact_posterior(&model, &config), [0; 3]);
    }
);

on_software_gpu!(memory_of_teams_is_foretold, "", &["nuts_hierarchical_normal_mixed_128x8_team"], {
    let model = pointwise(300, |j| if j % 100 == 7 { 5000 } else { 3 });
    let config = SamplerConfig { precision: Precision::Mixed, chains: 3, draws: 3, tune: 5, ..short() };
    for count in [1, 4] {
        let gpu = GpuConfig { slot_bytes: 1 << 20, ..blocks(count) };
        let context = context();
        context.reset_usage();
        finish(&mut on_gpu(&model, &config, &gpu).unwrap(), usize::MAX);
        let (foretold, peak) = (GpuMemory::of_run(&model, &config, &gpu).unwrap(), context.usage().peak_device_bytes);
        assert_eq!(foretold.total(), peak, "{count} blocks: {foretold:?}");
    }
});

/// Its wait ends soon: launches take a moment, and the driver's double has none that lasts.
fn impatient() -> GpuConfig {
    let (launch_time, patience) = (Duration::from_nanos(1), Duration::from_millis(200));
    GpuConfig { launch_time, patience, ..blocks(2) }
}

/// The launches that hang: that of the first placement, for whose states the host waits, and one of several iterations
/// later, for whose draws it waits.
const HANGS: [u64; 2] = [1, 40];

#[test]
fn a_team_that_hangs_ends_the_run() {
    let name = concat!(module_path!(), "::a_team_that_hangs_ends_the_run");
    let settings = HANGS.map(|launch| format!("hang={launch}"));
    crate::scenario::run_with_each(name, &settings, &["nuts_hierarchical_normal_f64_32x8_team"], || {
        let model = pointwise(7, ragged);
        let context = context();
        let begun = Instant::now();
        let ended = Sampler::begin(&model, Begin::Anew(brief()), Backend::gpu(&context, &impatient())).and_then(
            |mut sampler| {
                while sampler.advance(usize::MAX)?.is_some() {}
                Ok(())
            },
        );
        let Err(SamplerError::Device(error)) = ended else { panic!("{ended:?}") };
        let CudaError::Overdue { kernel, waited } = &error else { panic!("{error}") };
        assert!(kernel.starts_with("nuts_r") && kernel.ends_with("_hierarchical_normal_f64_32x8_team"), "{kernel}");
        // No wait for anything else was one for ever: the sampler's buffers are gone by now.
        assert!(*waited > Duration::from_millis(200) && begun.elapsed() < Duration::from_secs(60), "{waited:?}");
        let words = error.to_string();
        assert!(words.contains(&format!("kernel {kernel} is not done after")), "{words}");
        assert!(words.contains("start the program again, on another device or the CPU"), "{words}");
        assert_eq!((context.healthy(), context.synchronize()), (Err(error.clone()), Err(error)));
    });
}

#[test]
fn the_cpu_takes_over_from_a_team_that_hangs() {
    let name = concat!(module_path!(), "::the_cpu_takes_over_from_a_team_that_hangs");
    let settings = HANGS.map(|launch| format!("hang={launch}"));
    crate::scenario::run_with_each(name, &settings, &["nuts_hierarchical_normal_f64_32x8_team"], || {
        let model = pointwise(7, ragged);
        let expected = finish(&mut Sampler::new(&model, brief()).expect("starts"), usize::MAX);
        let mut sampler =
            on_gpu(&model, &brief(), &GpuConfig { cpu_fallback: true, ..impatient() }).expect("starts somewhere");
        finish(&mut sampler, 7).assert_same(&expected, "on the CPU");
        let notes = sampler.take_notes();
        assert!(matches!(notes[..], [GpuNote::LeftToCpu { cause: CudaError::Overdue { .. } }]), "{notes:?}");
    });
}
