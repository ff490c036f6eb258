//! Samplers by trajectories of a given length (hmc, chees) on the GPU engine: in f64 the CPU engine's bits.

use crate::scenario::{Bits, context, finish, model, on_gpu, on_software_gpu};
use octopus_models::{EightSchools, Likelihood};
use octopus_sampler::{
    Algorithm, Backend, Begin, Chees, GpuConfig, GpuNote, Hmc, MetricKind, Parameterization, Precision, Sampler,
    SamplerConfig, SamplerError,
};

/// Twenty steps of a hundredth, as the timing suite asks.
fn fixed() -> Algorithm {
    Algorithm::Hmc(Hmc { leapfrogs: Some(20), step_size: Some(0.01), jitter: 0.0, ..Hmc::default() })
}

/// A short run by a sampler.
fn run(algorithm: Algorithm) -> SamplerConfig {
    SamplerConfig { algorithm, draws: 30, tune: 90, chains: 5, seed: 7, ..Default::default() }
}

/// Draws and statistics, slopes too, and what was learned.
fn all(mut sampler: Sampler<'_>) -> (Bits, Vec<u64>) {
    let mut slopes = Vec::new();
    let bits = crate::scenario::finish_watched(&mut sampler, usize::MAX, |block, _| {
        let of_block = block.chains.iter().flat_map(|chain| &chain.stats).map(|draw| draw.length_slope.to_bits());
        slopes.extend(of_block);
    });
    (bits, slopes)
}

fn compare(groups: usize, config: &SamplerConfig, gpu: &GpuConfig) {
    let model = model(groups, false, Likelihood::Collapsed);
    let (expected, slopes) = all(Sampler::new(&model, config.clone()).unwrap());
    let (found, found_slopes) = all(on_gpu(&model, config, gpu).unwrap());
    let what = format!("{groups} groups, {config:?}, {gpu:?}");
    found.assert_same(&expected, &what);
    assert_eq!(found_slopes, slopes, "{what}");
    let learns = matches!(config.algorithm, Algorithm::Chees(_));
    assert_eq!(slopes.iter().any(|&slope| slope != 0), learns, "{what}");
}

on_software_gpu!(chains_of_a_warp_have_the_bits_of_the_cpu, "", &["hmc_hierarchical_normal_f64_32x1"], {
    for algorithm in [fixed(), Algorithm::Hmc(Hmc::default()), Algorithm::Chees(Chees::default())] {
        for metric in [MetricKind::Auto, MetricKind::LowRank] {
            compare(10, &SamplerConfig { metric, ..run(algorithm.clone()) }, &GpuConfig::default());
        }
    }
});

// Slopes in a metric of several directions, while the length is learned.
on_software_gpu!(a_metric_with_directions, "", &["hmc_hierarchical_normal_f64_32x1"], {
    let config = SamplerConfig {
        metric: MetricKind::LowRank,
        parameterization: Parameterization::NonCentered,
        tune: 600,
        chains: 16,
        ..run(Algorithm::Chees(Chees::default()))
    };
    compare(10, &config, &GpuConfig::default());
    let model = model(10, false, Likelihood::Collapsed);
    let mut sampler = Sampler::new(&model, config).unwrap();
    while sampler.done() < 540 {
        sampler.advance(540).unwrap();
    }
    assert!(!sampler.adaptation().metric.directions.is_empty());
});

// Chains that take turns, and launches of few iterations.
on_software_gpu!(any_way_of_launching, "", &["hmc_hierarchical_normal_f64_32x1"], {
    let many = SamplerConfig { chains: 40, ..run(Algorithm::Chees(Chees::default())) };
    compare(10, &many, &GpuConfig::default());
    let gpu = GpuConfig { most_iterations: 3, chains_at_once: 7, window_bytes: 0, ..GpuConfig::default() };
    compare(10, &many, &gpu);
    compare(10, &run(fixed()), &gpu);
});

on_software_gpu!(longer_vectors_of_a_warp, "", &["hmc_hierarchical_normal_f64_32x4"], {
    compare(100, &run(Algorithm::Hmc(Hmc::default())), &GpuConfig::default());
    compare(60, &run(Algorithm::Chees(Chees::default())), &GpuConfig::default());
});

on_software_gpu!(the_longest_vectors_of_a_warp, "", &["hmc_hierarchical_normal_f64_32x8"], {
    compare(200, &run(Algorithm::Chees(Chees::default())), &GpuConfig::default());
});

on_software_gpu!(chains_of_a_block, "", &["hmc_hierarchical_normal_f64_128x4"], {
    compare(500, &run(Algorithm::Hmc(Hmc::default())), &GpuConfig::default());
});

on_software_gpu!(the_longest_chains_of_a_block, "", &["hmc_hierarchical_normal_f64_128x8"], {
    compare(
        1000,
        &SamplerConfig { draws: 5, tune: 30, ..run(Algorithm::Chees(Chees::default())) },
        &GpuConfig::default(),
    );
});

on_software_gpu!(eight_schools, "", &["hmc_eight_schools_f64_32x1"], {
    let (model, context, gpu) = (EightSchools::rubin(), context(), GpuConfig::default());
    for algorithm in [fixed(), Algorithm::Hmc(Hmc::default()), Algorithm::Chees(Chees::default())] {
        let config = run(algorithm);
        let expected = all(Sampler::new(&model, config.clone()).unwrap());
        let begin = Begin::Anew(config.clone());
        let found = all(Sampler::begin(&model, begin, Backend::gpu(&context, &gpu)).unwrap());
        found.0.assert_same(&expected.0, &format!("{config:?}"));
        assert_eq!(found.1, expected.1);
    }
});

// A checkpoint in warm-up goes on on either engine.
on_software_gpu!(runs_go_on, "", &["hmc_hierarchical_normal_f64_32x1"], {
    let model = model(10, false, Likelihood::Collapsed);
    for algorithm in [Algorithm::Hmc(Hmc::default()), Algorithm::Chees(Chees::default()), fixed()] {
        let expected = finish(&mut Sampler::new(&model, run(algorithm.clone())).unwrap(), usize::MAX);
        for stop in [10, 41, 100] {
            let mut first = Bits::default();
            let mut begun = on_gpu(&model, &run(algorithm.clone()), &GpuConfig::default()).unwrap();
            crate::scenario::advance_to(&mut begun, stop, &mut first);
            let saved = begun.checkpoint().unwrap();
            drop(begun);
            let context = context();
            let gpu = GpuConfig::default();
            for backend in [Backend::Cpu, Backend::gpu(&context, &gpu)] {
                let mut resumed = Sampler::begin(&model, Begin::GoOn(saved.clone()), backend).unwrap();
                first.clone().then(finish(&mut resumed, usize::MAX)).assert_same(&expected, &format!("{stop}"));
            }
        }
    }
});

on_software_gpu!(what_has_no_kernel_is_refused_by_name, "", &["hmc_hierarchical_normal_f64_32x1"], {
    let refused = |groups: usize, config: SamplerConfig| {
        let model = model(groups, true, Likelihood::Collapsed);
        match on_gpu(&model, &config, &GpuConfig::default()) {
            Err(error @ SamplerError::NoKernel { .. }) => error.to_string(),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("not refused"),
        }
    };
    let hmc = run(Algorithm::Hmc(Hmc::default()));
    let single = refused(10, SamplerConfig { precision: Precision::F32, ..hmc.clone() });
    assert!(single.contains("the sampler hmc has none in this precision"), "{single}");
    let long = refused(1100, hmc);
    assert!(long.contains("1024 coordinates"), "{long}");
    let walnuts = refused(10, run(Algorithm::named("walnuts").unwrap()));
    assert!(walnuts.contains("the sampler walnuts has no kernels"), "{walnuts}");
});

/// The PTX itself: lanes that meet in shuffles, no race and no register that nobody set.
#[test]
fn a_run_as_ptx() {
    crate::scenario::run_as_ptx(concat!(module_path!(), "::a_run_as_ptx"), || {
        let config = SamplerConfig { draws: 6, tune: 20, chains: 3, ..run(Algorithm::Chees(Chees::default())) };
        for groups in [10, 100, 300] {
            compare(groups, &config, &GpuConfig::default());
        }
    });
}

// The device is lost in the middle of warm-up, while ChEES learns.
on_software_gpu!(the_cpu_goes_on_when_the_device_is_lost, "lost=300", &["hmc_hierarchical_normal_f64_32x1"], {
    let (model, gpu) =
        (model(10, false, Likelihood::Collapsed), GpuConfig { cpu_fallback: true, ..GpuConfig::default() });
    let config = run(Algorithm::Chees(Chees::default()));
    let expected = finish(&mut Sampler::new(&model, config.clone()).unwrap(), usize::MAX);
    let mut found = on_gpu(&model, &config, &gpu).unwrap();
    let mut bits = Bits::default();
    crate::scenario::advance_to(&mut found, 5, &mut bits);
    assert_eq!(found.take_notes(), [], "lost too early");
    bits.then(finish(&mut found, 20)).assert_same(&expected, "left to the CPU");
    let notes = found.take_notes();
    assert!(notes.iter().any(|note| matches!(note, GpuNote::LeftToCpu { .. })), "{notes:?}");
});
