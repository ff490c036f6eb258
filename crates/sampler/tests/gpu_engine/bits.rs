//! In f64 a run on the GPU engine has the bits of the CPU engine.

use crate::scenario::{finish, model, on_gpu, on_software_gpu, prd, short};
use octopus_models::Likelihood;
use octopus_sampler::{GpuConfig, MetricKind, Parameterization, Sampler, SamplerConfig};
use std::time::Duration;

fn compare(groups: usize, balanced: bool, likelihood: Likelihood, config: &SamplerConfig, gpu: &GpuConfig) {
    let model = model(groups, balanced, likelihood);
    let expected = finish(&mut Sampler::new(&model, config.clone()).unwrap(), usize::MAX);
    let found = finish(&mut on_gpu(&model, config, gpu).unwrap(), usize::MAX);
    found.assert_same(&expected, &format!("{groups} groups, {likelihood:?}, {config:?}, {gpu:?}"));
}

on_software_gpu!(the_prd_run_of_100_groups, "", &["nuts_hierarchical_normal_f64_32x4"], {
    compare(100, true, Likelihood::Collapsed, &prd(), &GpuConfig::default());
});

on_software_gpu!(a_pointwise_run_of_100_unbalanced_groups, "", &["nuts_hierarchical_normal_f64_32x4"], {
    compare(
        100,
        false,
        Likelihood::Pointwise,
        &SamplerConfig { draws: 500, tune: 500, ..prd() },
        &GpuConfig::default(),
    );
});

on_software_gpu!(a_run_of_500_groups, "", &["nuts_hierarchical_normal_f64_128x4"], {
    compare(500, true, Likelihood::Collapsed, &SamplerConfig { draws: 300, ..prd() }, &GpuConfig::default());
});

on_software_gpu!(a_run_of_1000_unbalanced_groups, "", &["nuts_hierarchical_normal_f64_128x8"], {
    compare(
        1000,
        false,
        Likelihood::Collapsed,
        &SamplerConfig { draws: 200, tune: 300, ..prd() },
        &GpuConfig::default(),
    );
});

on_software_gpu!(every_parameterization_and_metric, "", &["nuts_hierarchical_normal_f64_32x1"], {
    for parameterization in [Parameterization::NonCentered, Parameterization::Centered, Parameterization::Adaptive] {
        for metric in
            [MetricKind::Diag, MetricKind::DiagDraws, MetricKind::LowRank, MetricKind::Auto, MetricKind::Identity]
        {
            let config = SamplerConfig { parameterization, metric, ..short() };
            compare(10, false, Likelihood::Collapsed, &config, &GpuConfig::default());
        }
    }
});

// However a run is cut into launches, and however many chains are on the device at once.
on_software_gpu!(any_way_of_launching, "", &["nuts_hierarchical_normal_f64_32x4"], {
    for (most_iterations, chains_at_once, slot_bytes, window_bytes, millis) in [
        (1, 5, 1, 1 << 30, 20),
        (7, 5, 1 << 20, 0, 20),
        (64, 1, 1 << 20, 0, 0),
        (13, 2, 1 << 20, 1 << 30, 20),
        (500, 5, 1 << 20, 1 << 30, 1000),
        (500, 3, 1, 1 << 30, 1000),
    ] {
        let launch_time = Duration::from_millis(millis);
        let gpu = GpuConfig {
            most_iterations,
            chains_at_once,
            slot_bytes,
            launch_time,
            window_bytes,
            ..GpuConfig::default()
        };
        compare(60, false, Likelihood::Collapsed, &short(), &gpu);
    }
});

on_software_gpu!(any_way_of_asking, "", &["nuts_hierarchical_normal_f64_32x1"], {
    let model = model(8, true, Likelihood::Collapsed);
    let expected = finish(&mut Sampler::new(&model, short()).unwrap(), usize::MAX);
    for limit in [1, 3, 50] {
        finish(&mut on_gpu(&model, &short(), &GpuConfig::default()).unwrap(), limit).assert_same(&expected, "asked");
    }
});

on_software_gpu!(many_chains_and_the_shortest_runs, "", &["nuts_hierarchical_normal_f64_32x1"], {
    let many = SamplerConfig { chains: 130, draws: 5, tune: 25, ..short() };
    compare(5, true, Likelihood::Collapsed, &many, &GpuConfig::default());
    for (draws, tune, chains) in [(1, 0, 1), (2, 1, 3), (1, 30, 1)] {
        let config = SamplerConfig { chains, draws, tune, ..short() };
        compare(5, true, Likelihood::Collapsed, &config, &GpuConfig::default());
    }
});

/// The PTX itself: lanes that meet in shuffles.
#[test]
fn a_run_as_ptx() {
    crate::scenario::run_as_ptx(concat!(module_path!(), "::a_run_as_ptx"), || {
        compare(
            100,
            true,
            Likelihood::Collapsed,
            &SamplerConfig { draws: 10, tune: 40, ..prd() },
            &GpuConfig::default(),
        );
    });
}
