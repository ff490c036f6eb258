//! A run on several devices has the bits of one on the CPU, also when a device is lost on the way.

use crate::batch::{BATCH, all, alone, anew, assert_all_same, several};
use crate::scenario::{
    Bits, STOPS, advance_to, context, contexts, finish, model, on_software_gpu, run_with_each, short,
};
use octopus_models::{HierarchicalNormal, Likelihood};
use octopus_sampler::{
    Backend, BatchSampler, Begin, GpuConfig, GpuMemory, GpuNote, Phase, Precision, Sampler, SamplerConfig, SamplerError,
};
use std::time::Duration;

const UNIT: &str = "nuts_hierarchical_normal_f64_32x1";

fn many_short() -> SamplerConfig {
    SamplerConfig { draws: 6, tune: 200, target_accept: 0.9, seed: 7, ..SamplerConfig::many_short(24) }
}

/// One iteration a launch: the same calls of the driver in every run.
fn slow() -> GpuConfig {
    GpuConfig { launch_time: Duration::ZERO, ..GpuConfig::default() }
}

fn on_gpus<'d>(
    model: &'d HierarchicalNormal,
    config: &SamplerConfig,
    devices: u32,
    gpu: &GpuConfig,
) -> Result<Sampler<'d>, SamplerError> {
    Sampler::begin(model, Begin::Anew(config.clone()), Backend::Gpus(&contexts(devices), gpu))
}

fn on_cpu(model: &HierarchicalNormal, config: &SamplerConfig) -> Bits {
    finish(&mut Sampler::new(model, config.clone()).expect("starts"), usize::MAX)
}

fn given_up(notes: &[GpuNote]) -> Vec<u32> {
    let lost = |note: &GpuNote| match note {
        GpuNote::GivenUp { device, .. } => Some(*device),
        GpuNote::Turns { .. } | GpuNote::LeftToCpu { .. } => None,
    };
    notes.iter().filter_map(lost).collect()
}

// The second device has a half or a third of the chains, and its megabyte does not hold as many.
on_software_gpu!(devices_of_unequal_memory, "devices=3;total_mb=64,2,64;free_mb=60,1,60", &[UNIT], {
    let model = model(8, false, Likelihood::Collapsed);
    for config in [SamplerConfig { chains: 13, draws: 20, ..short() }, many_short()] {
        let expected = on_cpu(&model, &config);
        for (devices, limit) in [(2, usize::MAX), (3, 7)] {
            let mut sampler = on_gpus(&model, &config, devices, &GpuConfig::default()).expect("starts");
            let notes = sampler.take_notes();
            assert!(!notes.is_empty());
            assert!(notes.iter().all(|note| matches!(note, GpuNote::Turns { device: 1, .. })), "{notes:?}");
            finish(&mut sampler, limit).assert_same(&expected, &format!("{devices} devices, {config:?}"));
            assert_eq!(sampler.take_notes(), []);
        }
    }
});

on_software_gpu!(any_number_of_devices_and_chains, "devices=3", &[UNIT], {
    let model = model(5, true, Likelihood::Pointwise);
    for (chains, devices, chains_at_once) in [(1, 3, 9), (2, 3, 9), (3, 3, 9), (7, 2, 2), (4, 1, 9), (2, 1, 0)] {
        let config = SamplerConfig { chains, draws: 9, tune: 40, ..short() };
        // Of neither is there less than one.
        let most_iterations = if chains_at_once == 0 { 0 } else { 4 };
        let gpu = GpuConfig { chains_at_once, most_iterations, ..GpuConfig::default() };
        let mut sampler = on_gpus(&model, &config, devices, &gpu).expect("starts");
        finish(&mut sampler, usize::MAX).assert_same(&on_cpu(&model, &config), &format!("{chains} on {devices}"));
    }
    let none = Sampler::begin(&model, Begin::Anew(short()), Backend::Gpus(&[], &GpuConfig::default()))
        .map(|_| ())
        .expect_err("no device");
    assert!(none.to_string().contains("at least one"), "{none}");
});

on_software_gpu!(other_precisions_have_the_bits_of_one_device, "devices=2", &["nuts_hierarchical_normal_f32_32x1"], {
    let model = model(8, true, Likelihood::Collapsed);
    let config = SamplerConfig { precision: Precision::F32, ..short() };
    let mut one = Sampler::begin(&model, Begin::Anew(config.clone()), Backend::gpu(&context(), &GpuConfig::default()))
        .expect("starts");
    let gpu = GpuConfig { chains_at_once: 2, ..GpuConfig::default() };
    let mut two = on_gpus(&model, &config, 2, &gpu).expect("starts");
    finish(&mut two, usize::MAX).assert_same(&finish(&mut one, usize::MAX), "f32");
});

// A checkpoint of three devices goes on anywhere, and any checkpoint on them.
on_software_gpu!(a_run_moves_between_devices, "devices=3", &[UNIT], {
    let model = model(8, false, Likelihood::Collapsed);
    let (contexts, gpu) = (contexts(3), GpuConfig::default());
    let on_three = |state: &[u8]| {
        Sampler::begin(&model, Begin::GoOn(state.to_vec()), Backend::Gpus(&contexts, &gpu)).expect("goes on")
    };
    for (config, stops) in [(short(), STOPS), (many_short(), [1, 10, 25, 29, 30, 31, 36])] {
        let expected = on_cpu(&model, &config);
        let mut sampler = on_gpus(&model, &config, 3, &gpu).expect("starts");
        let mut bits = Bits::default();
        for (turn, stop) in stops.into_iter().enumerate() {
            advance_to(&mut sampler, stop, &mut bits);
            let state = sampler.checkpoint().expect("encodes");
            sampler = match turn % 4 {
                0 => Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::Cpu).expect("goes on"),
                2 => {
                    Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::gpu(&context(), &gpu)).expect("goes on")
                }
                _ => on_three(&state),
            };
            assert_eq!(sampler.checkpoint().expect("encodes"), state, "the state at {stop}");
        }
        bits.then(finish(&mut sampler, usize::MAX)).assert_same(&expected, "moved");
    }
});

/// Runs of the same chains while the second of three devices is lost at each of these calls; what they have told.
fn lose(name: &str, calls: &[u32], config: &SamplerConfig) -> Vec<String> {
    let settings: Vec<String> = calls.iter().map(|call| format!("devices=3;lost=1:{call}")).collect();
    run_with_each(name, &settings, &[UNIT], || {
        let model = model(8, false, Likelihood::Collapsed);
        let mut sampler = on_gpus(&model, config, 3, &slow()).expect("starts");
        let (mut bits, mut lost) = (Bits::default(), sampler.take_notes());
        let mut told = "beginning";
        while let Some(block) = sampler.advance(usize::MAX).expect("runs") {
            bits.add(&block);
            let notes = sampler.take_notes();
            if !notes.is_empty() {
                told = if block.phase == Phase::Warmup { "learning" } else { "drawing" };
            }
            lost.extend(notes);
        }
        let [GpuNote::GivenUp { device: 1, cause }] = lost.as_slice() else { panic!("{lost:?}") };
        eprintln!("lost while {told}: {cause}");
        bits.learned(sampler.adaptation(), &sampler.step_sizes());
        bits.assert_same(&on_cpu(&model, config), &format!("lost while {told}: {cause}"));
    })
}

/// That devices were lost in all of these phases, and at all of these calls of the driver.
fn assert_told(told: &[String], phases: &[&str], calls: &[&str]) {
    // Nothing is told where there is no software GPU.
    for words in phases.iter().chain(calls).filter(|_| !told.is_empty()) {
        assert!(told.iter().any(|told| told.contains(words)), "never lost at {words}: {told:#?}");
    }
}

// From the first call on; where points are placed and step sizes are searched, at first (43, 46, 48) and after the window
// (415, 417, 419); in the middle of a span; when step sizes are set (461); among the draws.
#[test]
fn one_of_three_devices_is_lost() {
    let config = SamplerConfig { draws: 10, tune: 40, chains: 5, ..short() };
    let name = concat!(module_path!(), "::one_of_three_devices_is_lost");
    let calls = [1, 20, 40, 43, 46, 48, 53, 60, 100, 250, 251, 407, 415, 417, 419, 461, 462, 500, 540];
    let told = lose(name, &calls, &config);
    let calls = ["cuModuleLoadDataEx", "cuMemcpyHtoD", "cuMemcpyDtoH_v2", "cuEventRecord", "launching nuts_restart"];
    assert_told(&told, &["while beginning", "while learning", "while drawing"], &calls);
}

#[test]
fn one_of_three_devices_is_lost_of_many_short_chains() {
    let name = concat!(module_path!(), "::one_of_three_devices_is_lost_of_many_short_chains");
    let told = lose(name, &[60, 300, 400, 500, 600, 620, 640, 660, 680, 690, 700], &many_short());
    assert_told(&told, &["while learning", "while drawing"], &[]);
}

on_software_gpu!(the_last_device_that_is_lost_ends_the_run, "devices=2;lost=0:300,1:200", &[UNIT], {
    let model = model(8, true, Likelihood::Collapsed);
    let mut sampler = on_gpus(&model, &short(), 2, &slow()).expect("starts");
    let error = loop {
        match sampler.advance(1) {
            Ok(block) => assert!(block.is_some(), "no device was lost"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, SamplerError::Device(_)), "{error}");
    assert_eq!(given_up(&sampler.take_notes()), [1]);
    assert!(matches!(sampler.advance(1), Err(SamplerError::Device(_))), "it ends for good");
});

/// Data sets over devices of unequal memory, of which the second is lost at each of these calls.
#[test]
fn a_batch_on_two_devices_of_which_one_is_lost() {
    let name = concat!(module_path!(), "::a_batch_on_two_devices_of_which_one_is_lost");
    let calls = [100_000, 1, 20, 40, 60, 80, 100, 120, 200, 280, 600, 1000];
    let memory = "devices=2;total_mb=64,8;free_mb=60,4";
    let settings: Vec<String> = calls.iter().map(|call| format!("{memory};lost=1:{call}")).collect();
    let told = run_with_each(name, &settings, &[BATCH], || {
        let densities = several(12);
        let config = crate::batch::config;
        let expected: Vec<Bits> = densities.iter().enumerate().map(|(k, one)| alone(one, &config(k))).collect();
        let gpu = GpuConfig { most_iterations: 200, ..slow() };
        let mut batch =
            BatchSampler::begin(&anew(&densities, config), 12, Backend::Gpus(&contexts(2), &gpu)).expect("starts");
        let found = all(&mut batch, 12, 9);
        assert_all_same(found, &expected, "on two devices");
        let notes = batch.take_notes();
        assert!(
            notes
                .iter()
                .all(|note| matches!(note, GpuNote::Turns { device: 1, .. } | GpuNote::GivenUp { device: 1, .. }))
        );
        eprintln!("{notes:?}");
    });
    let lost = told.iter().filter(|told| told.contains("GivenUp")).count();
    assert_eq!(lost, told.len().saturating_sub(1), "at each call but the first: {told:#?}");
    assert_told(
        &told[told.len().min(1)..],
        &["Turns"],
        &["cuModuleLoadDataEx", "cuMemcpyHtoD_v2", "cuEventSynchronize"],
    );
}

// The second device fails at once and the third later: of six chains the first has two, then three, then as many as it may
// have at once.
on_software_gpu!(a_device_that_is_left_has_room_for_what_it_may_have, "devices=3;lost=1:1,2:400", &[UNIT], {
    let model = model(8, false, Likelihood::Collapsed);
    let config = SamplerConfig { chains: 6, draws: 10, tune: 40, ..short() };
    let gpu = GpuConfig { chains_at_once: 4, window_bytes: 0, ..slow() };
    let contexts = contexts(3);
    contexts[0].reset_usage();
    let mut sampler =
        Sampler::begin(&model, Begin::Anew(config.clone()), Backend::Gpus(&contexts, &gpu)).expect("starts");
    assert_eq!(given_up(&sampler.take_notes()), [1]);
    finish(&mut sampler, usize::MAX).assert_same(&on_cpu(&model, &config), "two are lost");
    assert_eq!(given_up(&sampler.take_notes()), [2]);
    let foretold = GpuMemory::of_run(&model, &config, &gpu).expect("has kernels").total();
    assert_eq!(contexts[0].usage().peak_device_bytes, foretold);
});
