//! Simulation-based calibration.

use crate::{PRIOR, Wrong, small};
use octopus_calibrate::{CalibratedSet, CalibrationSettings, Judgement, Mover, judge, run};
use octopus_models::{SchoolsSimulator, Simulator};
use octopus_sampler::{
    Backend, BatchSampler, DataSet as Run, Parameterization, Precision, SamplerConfig, SamplerError,
};
use std::convert::Infallible;

fn settings(seed: u64) -> CalibrationSettings {
    let sampler = SamplerConfig { chains: 4, draws: 100, tune: 150, target_accept: 0.9, ..SamplerConfig::default() };
    CalibrationSettings { seed, kept: 49, sampler }
}

fn ranked(
    simulator: &dyn Simulator,
    settings: &CalibrationSettings,
    numbers: std::ops::Range<u32>,
    threads: usize,
) -> Vec<CalibratedSet> {
    ranked_by(simulator, settings, numbers, Mover::Threads(threads))
}

fn ranked_by(
    simulator: &dyn Simulator,
    settings: &CalibrationSettings,
    numbers: std::ops::Range<u32>,
    mover: Mover<'_>,
) -> Vec<CalibratedSet> {
    let mut found = Vec::new();
    run(simulator, settings, numbers, mover, &|| false, &mut |data_set| {
        found.push(data_set);
        Ok::<(), Infallible>(())
    })
    .expect("runs");
    found
}

fn judged(simulator: &dyn Simulator, settings: &CalibrationSettings, data_sets: u32) -> Judgement {
    judge(simulator, settings, &mut ranked(simulator, settings, 0..data_sets, 2), 1e-3).expect("judged")
}

#[test]
fn models_that_are_right_are_calibrated() {
    let mut settings = settings(1);
    for parameterization in [Parameterization::Adaptive, Parameterization::NonCentered] {
        settings.sampler.parameterization = parameterization;
        let judgement = judged(&small(PRIOR), &settings, 200);
        assert!(judgement.calibrated, "{parameterization:?}: {judgement:#?}");
    }
    settings.sampler.target_accept = 0.95;
    let judgement = judged(&SchoolsSimulator::rubin(), &settings, 150);
    assert!(judgement.calibrated, "{judgement:#?}");
}

/// The prior of mu_pop with 30% more standard deviation in the simulator than in the density.
#[test]
fn a_wrong_simulator_is_found_out() {
    let mut settings = CalibrationSettings { kept: 29, ..settings(2) };
    (settings.sampler.chains, settings.sampler.draws, settings.sampler.tune) = (2, 60, 100);
    let judgement = judged(&Wrong::mu_sd_times(1.3, &[3, 4, 5]), &settings, 1200);
    let mu = &judgement.quantities[0];
    assert!(!judgement.calibrated && mu.name == "mu_pop" && !mu.uniform, "{judgement:#?}");
    assert!(judged(&Wrong::mu_sd_times(1.0, &[3, 4, 5]), &settings, 400).calibrated, "the same without the mistake");
}

/// What is found depends on the data set's number alone.
#[test]
fn threads_and_splits_change_nothing() {
    let (simulator, settings) = (small(PRIOR), settings(3));
    let mut whole = ranked(&simulator, &settings, 0..12, 1);
    let mut parts = ranked(&simulator, &settings, 7..12, 3);
    parts.extend(ranked(&simulator, &settings, 0..7, 2));
    for found in [&mut whole, &mut parts] {
        found.sort_by_key(|data_set| data_set.number);
    }
    assert_eq!(whole, parts);
    let judgement = |found: &mut [CalibratedSet]| judge(&simulator, &settings, found, 1e-3).expect("judged");
    parts.rotate_left(4);
    assert_eq!(judgement(&mut whole), judgement(&mut parts));
}

/// A few chains of a few draws that warm up together.
fn many_short(seed: u64) -> CalibrationSettings {
    let sampler = SamplerConfig { draws: 4, tune: 200, target_accept: 0.9, ..SamplerConfig::many_short(32) };
    CalibrationSettings { seed, kept: 31, sampler }
}

#[test]
fn many_short_chains_are_calibrated() {
    let judgement = judged(&small(PRIOR), &many_short(6), 200);
    assert!(judgement.calibrated && judgement.independence.is_some(), "{judgement:#?}");
    let together = judgement.together.expect("there are superchains");
    assert!(together.correlation.abs() < 0.1, "they have forgotten most: {together:?}");
}

fn on_cpu<'d>(sets: &[Run<'d>]) -> Result<BatchSampler<'d>, SamplerError> {
    BatchSampler::begin(sets, 3, Backend::Cpu)
}

/// Whether threads or batches move them, whatever the batches' size.
#[test]
fn batches_have_the_ranks_of_threads() {
    let simulator = small(PRIOR);
    for settings in [settings(7), many_short(7)] {
        let expected = ranked(&simulator, &settings, 0..9, 1);
        for (at_once, threads) in [(4, 2), (100, 1)] {
            let mut found =
                ranked_by(&simulator, &settings, 0..9, Mover::Batches { at_once, begin: &mut on_cpu, threads });
            found.sort_by_key(|data_set| data_set.number);
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{at_once} at once");
        }
    }
}

#[test]
fn threads_refuse_what_only_a_gpu_computes() {
    let mut settings = settings(1);
    settings.sampler.precision = Precision::F32;
    let done = run(&small(PRIOR), &settings, 0..1, Mover::Threads(1), &|| false, &mut |_| Ok::<(), Infallible>(()));
    assert_eq!(done.unwrap_err().to_string(), "precision = f32: the CPU computes in f64");
}

#[test]
fn a_stop_drops_what_is_not_done() {
    let (simulator, settings) = (small(PRIOR), settings(4));
    let done = std::sync::atomic::AtomicUsize::new(0);
    let stop = || done.load(std::sync::atomic::Ordering::Relaxed) >= 5;
    let mut found = Vec::new();
    run(&simulator, &settings, 0..10_000, Mover::Threads(2), &stop, &mut |data_set| {
        done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        found.push(data_set);
        Ok::<(), Infallible>(())
    })
    .expect("runs");
    assert!((5..20).contains(&found.len()), "{}", found.len());
    found.sort_by_key(|data_set| data_set.number);
    // A data set that takes long may have been dropped while later ones were done.
    let last = found.last().expect("at least 5").number;
    let mut again = ranked(&simulator, &settings, 0..last + 1, 1);
    again.retain(|data_set| found.iter().any(|kept| kept.number == data_set.number));
    assert_eq!(found, again, "what was kept is what it would have been");
}
