//! Geweke's test.

use crate::{PRIOR, Wrong, of_sizes, small};
use octopus_calibrate::{Geweke, GewekeSettings, geweke};
use octopus_models::Simulator;
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

#[test]
fn settings_without_sense_and_stops() {
    let few = GewekeSettings { sequences: 3, ..settings() };
    assert!(geweke(&small(PRIOR), &few, 1, &|| false).unwrap_err().to_string().contains("at least 8"));
    let short = GewekeSettings { steps: 1, ..settings() };
    assert!(geweke(&small(PRIOR), &short, 1, &|| false).is_err());
    assert!(geweke(&small(PRIOR), &settings(), 1, &|| true).unwrap().is_none());
}
