//! Geweke's test.

use crate::{PRIOR, Wrong, of_sizes, small};
use octopus_calibrate::{Geweke, GewekeSequence, GewekeSettings, geweke, geweke_sequences, judge_geweke};
use octopus_models::Simulator;
use octopus_random::{Purpose, Stream};
use octopus_sampler::SamplerConfig;

fn settings() -> GewekeSettings {
    let sampler = SamplerConfig { chains: 1, tune: 50, draws: 4, target_accept: 0.9, ..SamplerConfig::default() };
    GewekeSettings { seed: 5, sequences: 24, steps: 150, sampler, false_alarm: 1e-3 }
}

fn found(simulator: &dyn Simulator) -> Geweke {
    geweke(simulator, &settings(), 2, &|| false).expect("runs").expect("not stopped")
}

/// One observation in each group says little: sequences get about.
const SIZES: [usize; 2] = [1, 1];

#[test]
fn models_that_are_right_agree() {
    let result = found(&of_sizes(&SIZES, PRIOR));
    assert!(result.calibrated, "{result:#?}");
}

#[test]
fn a_wrong_simulator_is_found_out() {
    let result = found(&Wrong::mu_sd_times(1.5, &SIZES));
    let moment = |name: &str| result.moments.iter().find(|moment| moment.name == name).expect("there");
    assert!(!result.calibrated && !moment("mu_pop^2").agrees, "{result:#?}");
}

#[test]
fn threads_change_nothing() {
    let settings = GewekeSettings { sequences: 8, steps: 4, ..settings() };
    let of = |threads| geweke(&small(PRIOR), &settings, threads, &|| false).expect("runs");
    let one = of(1).expect("not stopped");
    assert_eq!(of(3).expect("not stopped"), one);
    assert!(!one.decided && !one.calibrated, "so few draws decide nothing");
}

/// The first simulator's draws are numbered from 2^31 on, and the steps of each from 16 on.
#[test]
fn the_prior_is_drawn_from_streams_of_its_own() {
    let (simulator, settings) = (small(PRIOR), GewekeSettings { sequences: 8, steps: 4, ..settings() });
    let found = geweke(&simulator, &settings, 1, &|| false).expect("runs").expect("not stopped");
    assert_eq!((found.independent_draws, found.moments.len()), (32, 16), "8 quantities and their squares");
    // After the effects of three groups.
    let mu = |number: u32, step: u32| {
        let mut random = Stream::new(settings.seed, (1 << 31) + number, 16 + step, Purpose::Calibration);
        simulator.draw_parameters(&mut random)[3]
    };
    let mean = (0..32).map(|draw| mu(draw / 4, draw % 4)).sum::<f64>() / 32.0;
    let moment = found.moments.iter().find(|moment| moment.name == "mu_pop").expect("there");
    assert!((moment.prior - mean).abs() < 1e-12, "{moment:?}, not {mean}");
}

#[test]
fn divergences_are_counted() {
    let sampler = SamplerConfig { max_energy_error: 0.05, ..settings().sampler };
    let settings = GewekeSettings { sequences: 8, steps: 4, sampler, ..settings() };
    let found = geweke(&small(PRIOR), &settings, 1, &|| false).expect("runs").expect("not stopped");
    assert!((1..=8 * 4 * 4).contains(&found.divergences), "{} of 128 transitions", found.divergences);
}

#[test]
fn settings_without_sense_and_stops() {
    let few = GewekeSettings { sequences: 3, ..settings() };
    assert!(geweke(&small(PRIOR), &few, 1, &|| false).unwrap_err().to_string().contains("at least 8"));
    let short = GewekeSettings { steps: 3, ..settings() };
    assert!(geweke(&small(PRIOR), &short, 1, &|| false).is_err());
    for many in [
        GewekeSettings { sequences: GewekeSettings::MOST + 1, ..settings() },
        GewekeSettings { steps: usize::MAX, ..settings() },
    ] {
        assert!(geweke(&small(PRIOR), &many, 1, &|| false).unwrap_err().to_string().contains("at most 1073741823"));
    }
    assert!(geweke(&small(PRIOR), &settings(), 1, &|| true).unwrap().is_none());
}

/// A sequence of very many steps is stopped on its way, whichever simulator is at work.
#[test]
fn a_long_sequence_stops_when_it_is_asked_to() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for (steps, looks) in [(GewekeSettings::MOST, 5), (4, 6)] {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= looks;
        let sampler = SamplerConfig { tune: 100_000, ..settings().sampler };
        let long = GewekeSettings { steps, sampler, ..settings() };
        assert!(geweke(&small(PRIOR), &long, 1, &stop).unwrap().is_none(), "{steps} steps");
    }
}

/// What was kept of sequences and the rest, done later, give the same to the bit.
#[test]
fn sequences_that_are_kept_need_not_be_done_again() {
    let (simulator, settings) = (small(PRIOR), GewekeSettings { sequences: 9, steps: 4, ..settings() });
    let of = |numbers: std::ops::Range<u32>| {
        let mut found: Vec<GewekeSequence> = Vec::new();
        geweke_sequences(&simulator, &settings, numbers, 2, &|| false, &mut |sequence| {
            found.push(sequence);
            Ok::<(), std::convert::Infallible>(())
        })
        .expect("runs");
        found
    };
    let mut all = of(5..9);
    all.extend(of(0..5));
    let whole = geweke(&simulator, &settings, 1, &|| false).expect("runs").expect("not stopped");
    assert_eq!(judge_geweke(&simulator, &settings, &mut all), whole);
    assert!(all.iter().all(|sequence| sequence.is_of(&simulator, &settings) && sequence.is_finite()));
    all[0].number = 9;
    all[1].independent.pop();
    all[2].moments.clear();
    assert!(all[..3].iter().all(|sequence| !sequence.is_of(&simulator, &settings)));
}
