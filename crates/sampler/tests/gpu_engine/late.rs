//! On a device that does what is queued as late as it may, in any order that streams and events allow, a run has the same
//! bits: the host waits for all that it reads, frees and writes anew.

use crate::batch::{BATCH, all, alone, anew, assert_all_same, config, several};
use crate::scenario::{Bits, contexts, finish, model, run_with_each, short};
use crate::teams::{pointwise, ragged};
use octopus_cuda::Context;
use octopus_models::{HierarchicalNormal, Likelihood};
use octopus_sampler::{Backend, BatchSampler, Begin, GpuConfig, Sampler, SamplerConfig};
use std::ops::RangeInclusive;

const UNITS: &[&str] = &["nuts_hierarchical_normal_f64_32x1", "nuts_hierarchical_normal_f64_32x8_team", BATCH];

#[test]
fn a_late_device_gives_the_same_bits() {
    every_run(concat!(module_path!(), "::a_late_device_gives_the_same_bits"), 1..=20);
}

#[test]
#[ignore = "takes half a minute"]
fn a_late_device_of_a_hundred_seeds() {
    every_run(concat!(module_path!(), "::a_late_device_of_a_hundred_seeds"), 21..=100);
}

/// All kinds of runs, in an order drawn by each of these seeds.
fn every_run(name: &str, seeds: RangeInclusive<u64>) {
    let settings: Vec<String> = seeds.map(|seed| format!("devices=2;late={seed}")).collect();
    run_with_each(name, &settings, UNITS, || {
        let devices = contexts(2);
        single_runs(&devices);
        a_team(&devices[..1]);
        batches(&devices);
    });
}

fn same(model: &HierarchicalNormal, config: &SamplerConfig, devices: &[Context], gpu: &GpuConfig) {
    let expected = finish(&mut Sampler::new(model, config.clone()).expect("starts"), usize::MAX);
    let backend = Backend::Gpus(devices, gpu);
    let mut sampler = Sampler::begin(model, Begin::Anew(config.clone()), backend).expect("starts");
    finish(&mut sampler, 50).assert_same(&expected, &format!("{} devices, {config:?}, {gpu:?}", devices.len()));
}

/// Launches in two slots that are fetched in turns, windows on the device and on the host, chains in turns, on one device
/// and on two.
fn single_runs(devices: &[Context]) {
    let model = model(8, false, Likelihood::Collapsed);
    let cut = GpuConfig { most_iterations: 7, ..GpuConfig::default() };
    let many_short =
        SamplerConfig { draws: 6, tune: 100, target_accept: 0.9, seed: 7, ..SamplerConfig::many_short(24) };
    for config in [SamplerConfig { draws: 30, tune: 60, ..short() }, many_short] {
        same(&model, &config, &devices[..1], &cut);
        same(&model, &config, &devices[..1], &GpuConfig { window_bytes: 0, chains_at_once: 3, ..cut.clone() });
        same(&model, &config, devices, &cut);
    }
}

fn a_team(device: &[Context]) {
    let config = SamplerConfig { draws: 4, tune: 8, chains: 2, ..short() };
    same(&pointwise(7, ragged), &config, device, &GpuConfig { blocks_per_chain: 2, ..GpuConfig::default() });
}

/// A launch's table of runs is written anew while the launch before may still read it.
fn batches(devices: &[Context]) {
    let densities = several(6);
    let expected: Vec<Bits> = densities.iter().enumerate().map(|(k, density)| alone(density, &config(k))).collect();
    let gpu = GpuConfig { most_iterations: 3, ..GpuConfig::default() };
    for devices in [&devices[..1], devices] {
        let backend = Backend::Gpus(devices, &gpu);
        let mut batch = BatchSampler::begin(&anew(&densities, config), 4, backend).expect("starts");
        assert_all_same(all(&mut batch, 6, usize::MAX), &expected, &format!("{} devices", devices.len()));
    }
}
