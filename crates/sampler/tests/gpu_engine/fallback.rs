//! A run that falls back goes on on the CPU when its last device fails, wherever that is, to the same bits.

use crate::batch::{BATCH, all, alone, anew, assert_all_same, several};
use crate::scenario::{Bits, contexts, finish, model, on_software_gpu, run_with_each, short};
use octopus_cuda::{Context, Device};
use octopus_models::{HierarchicalNormal, Likelihood};
use octopus_sampler::{
    Backend, BatchSampler, Begin, GpuConfig, GpuNote, Precision, Sampler, SamplerConfig, SamplerError, WindowConfig,
};
use rayon::prelude::*;
use std::time::Duration;

const UNIT: &str = "nuts_hierarchical_normal_f64_32x1";

/// Few launches, and the CPU when they fail.
fn falling_back() -> GpuConfig {
    GpuConfig { launch_time: Duration::from_secs(10), cpu_fallback: true, ..GpuConfig::default() }
}

fn tiny() -> SamplerConfig {
    SamplerConfig { draws: 4, tune: 16, chains: 2, ..short() }
}

fn tiny_many_short() -> SamplerConfig {
    SamplerConfig { draws: 3, tune: 20, seed: 7, superchains: 2, ..SamplerConfig::many_short(4) }
}

/// The bits of a run with a checkpoint after every second block.
fn with_checkpoints(sampler: &mut Sampler<'_>) -> Bits {
    let (mut bits, mut blocks) = (Bits::default(), 0);
    while let Some(block) = sampler.advance(5).expect("goes on") {
        bits.add(&block);
        blocks += 1;
        if blocks % 2 == 0 {
            sampler.checkpoint().expect("encodes");
        }
    }
    bits.learned(sampler.adaptation(), &sampler.step_sizes());
    bits
}

fn left_to_cpu(notes: &[GpuNote]) -> usize {
    notes.iter().filter(|note| matches!(note, GpuNote::LeftToCpu { .. })).count()
}

/// Calls `body` with the first device, in processes that lose it at their first call, their second, and so on, until one
/// ends before. `body` returns what happened to the device.
fn lose_at_every_call(name: &str, unit: &str, body: impl Fn(&Context) -> Vec<GpuNote>) {
    const AT_ONCE: usize = 32;
    let mut is_inside = false;
    run_with_each(name, &[], &[unit], || {
        is_inside = true;
        let context = Device::get(0).and_then(|device| Context::primary(&device));
        // A device that cannot be opened is one that no run has begun on.
        eprintln!("lost: {}", context.map_or(true, |context| left_to_cpu(&body(&context)) == 1));
    });
    if is_inside {
        return;
    }
    for first in (1..).step_by(AT_ONCE) {
        let lose = |call: usize| run_with_each(name, &[format!("lost={call}")], &[unit], || unreachable!());
        let told: Vec<Vec<String>> = (first..first + AT_ONCE).into_par_iter().map(lose).collect();
        if told.iter().any(Vec::is_empty) {
            // No software GPU.
            return;
        }
        let lost: Vec<bool> = told.iter().flatten().map(|told| told.contains("lost: true")).collect();
        let last = lost.iter().position(|&lost| !lost).unwrap_or(lost.len());
        assert!(lost[last..].iter().all(|lost| !lost), "{name}: from call {first} on: {lost:?}");
        if last < lost.len() {
            eprintln!("{name}: lost at each of {} calls", first + last - 1);
            assert!(first > AT_ONCE, "so few calls are no run");
            return;
        }
    }
}

#[test]
fn a_device_is_lost_at_any_call() {
    let name = concat!(module_path!(), "::a_device_is_lost_at_any_call");
    lose_at_every_call(name, UNIT, |context| {
        let model = model(5, false, Likelihood::Collapsed);
        let gpu = falling_back();
        let mut sampler =
            Sampler::begin(&model, Begin::Anew(tiny()), Backend::gpu(context, &gpu)).expect("starts somewhere");
        let bits = with_checkpoints(&mut sampler);
        bits.assert_same(&with_checkpoints(&mut Sampler::new(&model, tiny()).expect("starts")), "lost");
        sampler.take_notes()
    });
}

#[test]
fn a_device_of_many_short_chains_is_lost_at_any_call() {
    let name = concat!(module_path!(), "::a_device_of_many_short_chains_is_lost_at_any_call");
    lose_at_every_call(name, UNIT, |context| {
        let model = model(3, true, Likelihood::Collapsed);
        let gpu = GpuConfig { chains_at_once: 2, ..falling_back() };
        let begin = Begin::Anew(tiny_many_short());
        let mut sampler = Sampler::begin(&model, begin, Backend::gpu(context, &gpu)).expect("starts somewhere");
        let bits = finish(&mut sampler, 20);
        bits.assert_same(&finish(&mut Sampler::new(&model, tiny_many_short()).expect("starts"), 9), "lost");
        sampler.take_notes()
    });
}

#[test]
fn a_device_of_a_batch_is_lost_at_any_call() {
    let name = concat!(module_path!(), "::a_device_of_a_batch_is_lost_at_any_call");
    lose_at_every_call(name, BATCH, |context| {
        let densities = several(2);
        let config = |k| SamplerConfig { draws: 3, tune: 14, chains: 2, ..crate::batch::config(k) };
        let expected: Vec<Bits> = densities.iter().enumerate().map(|(k, one)| alone(one, &config(k))).collect();
        let gpu = falling_back();
        // Two turns.
        let mut batch =
            BatchSampler::begin(&anew(&densities, config), 1, Backend::gpu(context, &gpu)).expect("starts somewhere");
        assert_all_same(all(&mut batch, 2, 9), &expected, "lost");
        batch.take_notes()
    });
}

on_software_gpu!(devices_are_given_up_one_after_the_other, "devices=2;lost=0:300,1:200", &[UNIT], {
    let model = model(8, true, Likelihood::Collapsed);
    let contexts = contexts(2);
    let mut sampler =
        Sampler::begin(&model, Begin::Anew(short()), Backend::Gpus(&contexts, &falling_back())).expect("starts");
    let bits = finish(&mut sampler, 9);
    bits.assert_same(&finish(&mut Sampler::new(&model, short()).expect("starts"), usize::MAX), "both lost");
    let notes = sampler.take_notes();
    assert!(matches!(notes[..], [GpuNote::GivenUp { device: 1, .. }, GpuNote::LeftToCpu { .. }]), "{notes:?}");
    assert!(notes[1].to_string().starts_with("no GPU is left, the CPU goes on"), "{}", notes[1]);
    // It is on the CPU, as if it had begun there.
    assert!(sampler.checkpoint().is_ok() && sampler.take_notes().is_empty());
});

#[test]
fn a_device_that_cannot_begin_leaves_the_run_to_the_cpu() {
    let name = concat!(module_path!(), "::a_device_that_cannot_begin_leaves_the_run_to_the_cpu");
    let faults = [
        "cuMemAlloc_v2:2",
        "cuMemAllocHost_v2:2,cuMemHostAlloc:2",
        "cuModuleLoadDataEx:222",
        "cuModuleGetFunction:500",
    ];
    let settings = faults.map(|fault| format!("fail={fault}"));
    run_with_each(name, &settings, &[UNIT], || {
        let model = model(5, false, Likelihood::Collapsed);
        let (contexts, falls) = (contexts(1), falling_back());
        let ends = GpuConfig { cpu_fallback: false, ..falling_back() };
        let begin = |begin, gpu| Sampler::begin(&model, begin, Backend::Gpus(&contexts, gpu));
        assert_eq!(begin(Begin::Anew(tiny()), &falls).expect("starts").done(), 0);
        let mut on_cpu = Sampler::new(&model, tiny()).expect("starts");
        on_cpu.advance(9).expect("runs");
        let state = on_cpu.checkpoint().expect("encodes");
        let mut sampler = begin(Begin::GoOn(state.clone()), &falls).expect("goes on");
        assert_eq!((sampler.done(), left_to_cpu(&sampler.take_notes())), (on_cpu.done(), 1));
        finish(&mut sampler, 3).assert_same(&finish(&mut on_cpu, usize::MAX), "goes on");
        // The library does not fall back unless it is told to.
        let ended = begin(Begin::GoOn(state), &ends).map(|_| ());
        assert!(matches!(ended, Err(SamplerError::Device(_))), "{ended:?}");
        // The CPU computes in f64 only.
        let f32 = begin(Begin::Anew(SamplerConfig { precision: Precision::F32, ..tiny() }), &falls).map(|_| ());
        assert!(f32.is_err(), "{f32:?}");
    });
}

// The first call that fails is in the middle of the draws.
on_software_gpu!(other_precisions_end_with_the_device, "lost=160", &["nuts_hierarchical_normal_f32_32x1"], {
    let model = model(5, false, Likelihood::Collapsed);
    let config = SamplerConfig { precision: Precision::F32, ..short() };
    let mut sampler =
        Sampler::begin(&model, Begin::Anew(config), Backend::Gpus(&contexts(1), &falling_back())).expect("starts");
    let error = loop {
        match sampler.advance(1) {
            Ok(block) => assert!(block.is_some(), "no device was lost"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, SamplerError::Device(_)), "{error}");
    assert_eq!(left_to_cpu(&sampler.take_notes()), 0);
});

/// Two data sets of one shape, so that two devices with one each have the same calls.
fn twins() -> (Vec<HierarchicalNormal>, impl Fn(usize) -> SamplerConfig) {
    let windows = WindowConfig { init_buffer: 4, base_window: 12, term_buffer: 4 };
    let config = move |k| SamplerConfig { draws: 3, tune: 20, chains: 2, seed: k as u64, windows, ..short() };
    ((0..2).map(|_| model(3, true, Likelihood::Collapsed)).collect(), config)
}

/// Calls `body` with a batch of twins, one at a time on each of two devices, for each of these settings; what the bodies
/// have told.
fn with_twins(
    name: &str,
    settings: &[String],
    cpu_fallback: bool,
    body: impl Fn(Result<BatchSampler<'_>, SamplerError>, &[Bits]),
) -> Vec<String> {
    run_with_each(name, settings, &[BATCH], || {
        let (densities, config) = twins();
        let expected: Vec<Bits> = densities.iter().enumerate().map(|(k, one)| alone(one, &config(k))).collect();
        let (contexts, gpu) = (contexts(2), GpuConfig { cpu_fallback, ..falling_back() });
        let sets = anew(&densities, config);
        body(BatchSampler::begin(&sets, 1, Backend::Gpus(&contexts, &gpu)), &expected);
    })
}

/// Both devices are lost at the same of their calls.
fn both_lost(calls: &[u32]) -> Vec<String> {
    calls.iter().map(|call| format!("devices=2;lost=0:{call},1:{call}")).collect()
}

// Where the batch is made (5), where it sets off (35, 44, 50), in the middle of spans (98, 150), where the chains go to
// their new metric (155, 164, 167, 170) and where warm-up ends (186).
#[test]
fn the_cpu_goes_on_where_both_devices_of_a_batch_are_lost() {
    let name = concat!(module_path!(), "::the_cpu_goes_on_where_both_devices_of_a_batch_are_lost");
    let settings = both_lost(&[5, 35, 44, 50, 98, 150, 155, 164, 167, 170, 186]);
    let told = with_twins(name, &settings, true, |batch, expected| {
        let mut batch = batch.expect("starts somewhere");
        let mut notes = batch.take_notes();
        assert_all_same(all(&mut batch, 2, 9), expected, "both are lost");
        notes.extend(batch.take_notes());
        assert!(matches!(notes[..], [GpuNote::GivenUp { .. }, GpuNote::LeftToCpu { .. }]), "{notes:?}");
        eprintln!("{notes:?}");
    });
    let restarts = told.iter().filter(|told| told.contains("launching nuts_restart")).count();
    assert!(told.is_empty() || restarts == 2, "where points are placed, and with the new metric: {told:#?}");
}

#[test]
fn a_device_goes_on_where_the_other_of_a_batch_is_lost() {
    let name = concat!(module_path!(), "::a_device_goes_on_where_the_other_of_a_batch_is_lost");
    let settings = [5, 44, 98, 164, 186].map(|call| format!("devices=2;lost=0:{call}"));
    with_twins(name, &settings, false, |batch, expected| {
        let mut batch = batch.expect("starts on one");
        let mut notes = batch.take_notes();
        assert_all_same(all(&mut batch, 2, 9), expected, "one is lost");
        notes.extend(batch.take_notes());
        assert!(matches!(notes[..], [GpuNote::GivenUp { device: 0, .. }]), "{notes:?}");
    });
}

#[test]
fn a_batch_whose_devices_are_lost_at_once_does_not_begin() {
    let name = concat!(module_path!(), "::a_batch_whose_devices_are_lost_at_once_does_not_begin");
    with_twins(name, &both_lost(&[5, 44]), false, |batch, _| {
        let error = batch.map(|_| ()).expect_err("both are lost");
        assert!(matches!(error, SamplerError::Device(_)), "{error}");
    });
}

#[test]
fn a_batch_whose_devices_are_lost_ends_for_good() {
    let name = concat!(module_path!(), "::a_batch_whose_devices_are_lost_ends_for_good");
    with_twins(name, &both_lost(&[98, 164, 186]), false, |batch, _| {
        let mut batch = batch.expect("starts");
        let error = loop {
            match batch.advance(9) {
                Ok(moved) => assert!(moved.is_some(), "no device was lost"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, SamplerError::Device(_)), "{error}");
        assert!(matches!(batch.advance(9), Err(SamplerError::Device(_))), "again");
    });
}

// Where a device is told coordinates and metric (43), and at the end of warm-up step sizes (113, 114).
#[test]
fn a_device_that_cannot_be_told_is_given_up() {
    let name = concat!(module_path!(), "::a_device_that_cannot_be_told_is_given_up");
    let lost = |call: &u32| [format!("lost=0:{call}"), format!("devices=2;lost=0:{call}")];
    let settings: Vec<String> = [43, 113, 114].iter().flat_map(lost).collect();
    let told = run_with_each(name, &settings, &[UNIT], || {
        let model = model(5, false, Likelihood::Collapsed);
        let contexts = contexts(Device::all().expect("are known").len() as u32);
        let begin = Begin::Anew(tiny());
        let mut sampler =
            Sampler::begin(&model, begin, Backend::Gpus(&contexts, &falling_back())).expect("starts somewhere");
        finish(&mut sampler, 20).assert_same(&finish(&mut Sampler::new(&model, tiny()).expect("starts"), 9), "lost");
        let notes = sampler.take_notes();
        match contexts.len() {
            1 => assert!(matches!(notes[..], [GpuNote::LeftToCpu { .. }]), "{notes:?}"),
            _ => assert!(matches!(notes[..], [GpuNote::GivenUp { device: 0, .. }]), "{notes:?}"),
        }
        eprintln!("{notes:?}");
    });
    let copies = told.iter().filter(|told| told.contains("cuMemcpyHtoD_v2")).count();
    assert!(told.is_empty() || copies == 4, "{told:#?}");
}
