//! Is the sampler right about a model? Ranks of true values among posterior draws, over data sets that the model makes.
//!
//! ```console
//! $ cargo run --release -p octopus --example 07_calibrate
//! ```

use octopus::calibrate::{CalibrationSettings, Mover, judge, run};
use octopus::models::{HierarchicalPrior, HierarchicalSimulator, Likelihood};
use octopus::sampler::SamplerConfig;
use std::convert::Infallible;
use std::error::Error;

/// Data sets; a real calibration takes hundreds, and so does `octopus calibrate`.
const DATA_SETS: u32 = 50;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Four groups of three observations, with parameters drawn from the prior.
    let simulator = HierarchicalSimulator::new(vec![3; 4], HierarchicalPrior::default(), Likelihood::Collapsed)?;
    let sampler = SamplerConfig { chains: 2, draws: 100, tune: 200, ..SamplerConfig::default() };
    let settings = CalibrationSettings { seed: 1, kept: 19, sampler };

    // Each data set has its own random numbers: threads and interruptions change nothing.
    let mut found = Vec::new();
    run(&simulator, &settings, 0..DATA_SETS, Mover::Threads(2), &|| false, &mut |data_set| {
        found.push(data_set);
        Ok::<(), Infallible>(())
    })?;
    let judgement = judge(&simulator, &settings, &mut found, 1e-3)?;
    println!(
        "{} data sets: {}",
        judgement.data_sets,
        if judgement.calibrated { "calibrated" } else { "MISCALIBRATED" }
    );
    if judgement.calibrated { Ok(()) } else { Err("the sampler is not right about the model".into()) }
}
