//! Geweke's test.

use crate::{PRIOR, Wrong, of_sizes, small};
use octopus_calibrate::{Geweke, GewekeSettings, geweke};
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
    assert!(geweke(&small(PRIOR), &settings(), 1, &|| true).unwrap().is_none());
}
