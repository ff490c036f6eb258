//! A device with a display: its watchdog ends kernels that take too long, so launches of many chains are several kernels.
//! No bit depends on how many.

use crate::batch::{BATCH, all, alone, anew, assert_all_same, several};
use crate::scenario::{context, finish, model, on_gpu, on_software_gpu, short};
use octopus_models::Likelihood;
use octopus_sampler::{Backend, BatchSampler, GpuConfig, Sampler, SamplerConfig, SamplerError};
use std::time::Duration;

/// Kernels that take so long at most.
fn kernels_of(kernel_time: Duration) -> GpuConfig {
    GpuConfig { kernel_time, ..GpuConfig::default() }
}

/// One iteration of all chains takes longer than the watchdog allows, and there are enough of them for kernels to become
/// large: each has four times as many chains as the one before at most.
fn many() -> SamplerConfig {
    SamplerConfig { chains: 3000, tune: 10, draws: 2, target_accept: 0.999, ..short() }
}

const LIMITS: &str = "watchdog_ms=150;sms=1;threads=1";

on_software_gpu!(kernels_stay_below_the_watchdogs_limit, LIMITS, &["nuts_hierarchical_normal_f64_32x4"], {
    let model = model(100, false, Likelihood::Collapsed);
    let expected = finish(&mut Sampler::new(&model, many()).expect("starts"), usize::MAX);
    let mut sampler = on_gpu(&model, &many(), &kernels_of(Duration::from_millis(30))).expect("starts");
    finish(&mut sampler, usize::MAX).assert_same(&expected, "many chains");
    // The first are for as many chains as run side by side: four warps of the only multiprocessor.
    let launches = context().usage().launches;
    assert!(launches > 2000, "{launches} kernels");
});

// What the same run comes to without such care.
on_software_gpu!(one_kernel_for_all_chains_takes_too_long, LIMITS, &["nuts_hierarchical_normal_f64_32x4"], {
    let model = model(100, false, Likelihood::Collapsed);
    let careless = kernels_of(Duration::from_secs(3600));
    let context = context();
    let ended = on_gpu(&model, &many(), &careless).and_then(|mut sampler| {
        while sampler.advance(usize::MAX)?.is_some() {}
        Ok(())
    });
    let Err(SamplerError::Device(error)) = ended else { panic!("{ended:?}, {:?}", context.usage()) };
    assert_eq!(error.code().map(|code| code.0), Some(702), "{error}");
});

// A chain a kernel, windows on the device and on the host, chains that take turns.
on_software_gpu!(kernels_of_a_single_chain, "watchdog_ms=60000;sms=1", &["nuts_hierarchical_normal_f64_128x4"], {
    let model = model(300, false, Likelihood::Collapsed);
    let config = SamplerConfig { draws: 20, tune: 60, ..short() };
    let expected = finish(&mut Sampler::new(&model, config.clone()).expect("starts"), usize::MAX);
    let least = kernels_of(Duration::ZERO);
    let context = context();
    for gpu in [
        least.clone(),
        GpuConfig { window_bytes: 0, ..least.clone() },
        GpuConfig { chains_at_once: 2, ..least },
        kernels_of(Duration::from_millis(5)),
    ] {
        context.reset_usage();
        let found = finish(&mut on_gpu(&model, &config, &gpu).expect("starts"), usize::MAX);
        found.assert_same(&expected, &format!("{gpu:?}"));
        let launches = context.usage().launches;
        assert!(launches >= 5 * 80 || gpu.kernel_time > Duration::ZERO, "{launches} kernels");
    }
});

on_software_gpu!(kernels_of_a_single_team, "watchdog_ms=60000;sms=1", &["nuts_hierarchical_normal_f64_32x8_team"], {
    let model = crate::teams::pointwise(7, crate::teams::ragged);
    let config = SamplerConfig { draws: 10, tune: 30, chains: 3, ..short() };
    let expected = finish(&mut Sampler::new(&model, config.clone()).expect("starts"), usize::MAX);
    let context = context();
    for blocks_per_chain in [1, 2] {
        context.reset_usage();
        let gpu = GpuConfig { blocks_per_chain, ..kernels_of(Duration::ZERO) };
        let found = finish(&mut on_gpu(&model, &config, &gpu).expect("starts"), usize::MAX);
        found.assert_same(&expected, &format!("{blocks_per_chain} blocks"));
        let launches = context.usage().launches;
        assert!(launches >= 3 * 40, "{launches} kernels");
    }
});

on_software_gpu!(kernels_of_one_block_of_a_batch, "watchdog_ms=60000;sms=1", &[BATCH], {
    let densities = several(6);
    let config = crate::batch::config;
    let expected: Vec<_> = densities.iter().enumerate().map(|(k, one)| alone(one, &config(k))).collect();
    let (context, mut launches) = (context(), Vec::new());
    for gpu in [GpuConfig::default(), kernels_of(Duration::ZERO)] {
        context.reset_usage();
        let mut batch =
            BatchSampler::begin(&anew(&densities, config), 6, Backend::gpu(&context, &gpu)).expect("starts");
        assert_all_same(all(&mut batch, 6, usize::MAX), &expected, &format!("{gpu:?}"));
        launches.push(context.usage().launches);
    }
    assert!(launches[1] > 5 * launches[0], "{launches:?} kernels");
});
