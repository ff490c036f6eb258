//! Many short chains have the bits of the CPU's engine, wherever they learn, spread and take turns.

use crate::scenario::{Bits, advance_to, context, finish, model, on_gpu, on_software_gpu};
use octopus_models::{HierarchicalNormal, Likelihood};
use octopus_sampler::{Backend, Begin, GpuConfig, GpuMemory, Sampler, SamplerConfig, Strategy};

fn config() -> SamplerConfig {
    SamplerConfig { draws: 6, tune: 300, target_accept: 0.9, seed: 7, ..SamplerConfig::many_short(24) }
}

fn on_cpu<'d>(model: &'d HierarchicalNormal, config: &SamplerConfig) -> Sampler<'d> {
    Sampler::new(model, config.clone()).expect("starts")
}

on_software_gpu!(wherever_they_learn_and_in_turns, "", &["nuts_hierarchical_normal_f64_32x4"], {
    let model = model(50, false, Likelihood::Collapsed);
    let expected = finish(&mut on_cpu(&model, &config()), usize::MAX);
    let default = GpuConfig::default();
    for gpu in [
        default.clone(),
        GpuConfig { window_bytes: 0, most_iterations: 3, ..default.clone() },
        // All that learn are there at once, those that spread are not; then not even those that learn.
        GpuConfig { chains_at_once: 10, ..default.clone() },
        GpuConfig { chains_at_once: 4, ..default.clone() },
    ] {
        for limit in [usize::MAX, 5] {
            let found = finish(&mut on_gpu(&model, &config(), &gpu).expect("starts"), limit);
            found.assert_same(&expected, &format!("{gpu:?}, {limit} iterations at a time"));
        }
    }
});

// Chains that all learn, and those that are given no time to settle.
on_software_gpu!(all_that_learn, "", &["nuts_hierarchical_normal_f64_32x4"], {
    let model = model(50, true, Likelihood::Collapsed);
    for tune in [300, 60] {
        let config = SamplerConfig { strategy: Strategy::CrossChain, chains: 5, tune, ..config() };
        let mut on_cpu = on_cpu(&model, &config);
        let expected = finish(&mut on_cpu, usize::MAX);
        assert_eq!(on_cpu.warm_up() == Some(tune), tune == 60, "{:?}", on_cpu.warm_up());
        let default = GpuConfig::default();
        for gpu in [default.clone(), GpuConfig { window_bytes: 0, most_iterations: 7, chains_at_once: 3, ..default }] {
            let found = finish(&mut on_gpu(&model, &config, &gpu).expect("starts"), usize::MAX);
            found.assert_same(&expected, &format!("{gpu:?}, at most {tune} iterations"));
        }
    }
});

on_software_gpu!(of_many_coordinates, "", &["nuts_hierarchical_normal_f64_128x4"], {
    let model = model(300, true, Likelihood::Collapsed);
    let config = SamplerConfig { draws: 2, target_accept: 0.8, ..config() };
    let expected = finish(&mut on_cpu(&model, &config), usize::MAX);
    let found = finish(&mut on_gpu(&model, &config, &GpuConfig::default()).expect("starts"), usize::MAX);
    found.assert_same(&expected, "300 groups");
});

// From the CPU to the GPU and back, before a window has ended, while step sizes are pooled, while chains spread, among the
// draws.
on_software_gpu!(they_move_between_cpu_and_gpu, "", &["nuts_hierarchical_normal_f64_32x4"], {
    let model = model(50, true, Likelihood::Collapsed);
    let whole = finish(&mut on_cpu(&model, &config()), usize::MAX);
    let mut sampler = on_cpu(&model, &config());
    let warm_up = loop {
        sampler.advance(usize::MAX).expect("runs");
        if let Some(end) = sampler.warm_up() {
            break end;
        }
    };
    for stop in [1, 10, 29, warm_up - 5, warm_up - 4, warm_up - 1, warm_up, warm_up + 2] {
        let mut begin = Bits::default();
        let mut first = on_cpu(&model, &config());
        advance_to(&mut first, stop, &mut begin);
        let state = first.checkpoint().expect("encodes");
        let gpu = GpuConfig::default();
        let mut second =
            Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::gpu(&context(), &gpu)).expect("goes on");
        assert_eq!(second.checkpoint().expect("encodes"), state, "the state after {stop}");
        let rest = finish(&mut second, 7);
        begin.then(rest).assert_same(&whole, &format!("moved after {stop} of {warm_up} + 6 iterations"));
        let mut begin = Bits::default();
        let mut first = on_gpu(&model, &config(), &gpu).expect("starts");
        advance_to(&mut first, stop, &mut begin);
        let mut second =
            Sampler::begin(&model, Begin::GoOn(first.checkpoint().expect("encodes").clone()), Backend::Cpu)
                .expect("goes on");
        begin.then(finish(&mut second, 5)).assert_same(&whole, &format!("moved back after {stop}"));
    }
});

// Windows have room for the chains that learn, not for all.
on_software_gpu!(memory_is_foretold, "", &["nuts_hierarchical_normal_f64_32x4"], {
    let model = model(50, true, Likelihood::Collapsed);
    let gpu = GpuConfig::default();
    let of = |config: &SamplerConfig| GpuMemory::of_run(&model, config, &gpu).expect("has kernels");
    let (few, many) = (of(&config()), of(&SamplerConfig { superchains: 24, ..config() }));
    assert!(many.windows > few.windows && many.chains == few.chains && few.windows > 0);
    let foretold = of(&config()).total();
    let context = context();
    context.reset_usage();
    finish(&mut on_gpu(&model, &config(), &gpu).expect("starts"), usize::MAX);
    assert_eq!(context.usage().peak_device_bytes, foretold);
});
