//! What a household's appliances took in a week, of which only the meter was read.

use octopus::models::{Model, StanModel};
use octopus::sampler::SamplerConfig;
use std::error::Error;
use std::process::ExitCode;

const SETTINGS: &str = "
    program = 'energy.stan'
    data.file.path = 'meter.csv'
    set = { K = 3, nameplate = [0.5, 1.25, 3.5] }";

/// What they really took in kWh: `simulate.py` has counted it.
const TRUTH: [(&str, f64); 3] = [("heater", 31.8), ("pump", 180.7), ("car", 57.8)];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    octopus::log_to_stderr(octopus::tracing::Level::WARN);
    let problem = StanModel.read_and_build(&SETTINGS.parse()?, None)?;
    let trace = octopus::sample(&*problem, SamplerConfig { tune: 500, draws: 500, seed: 1, ..Default::default() })?;
    let diagnosis = trace.diagnose()?;
    println!("{diagnosis}\n");
    let mut right = true;
    for (k, (name, true_value)) in TRUTH.into_iter().enumerate() {
        let used = diagnosis.summary.get(&format!("used[{}]", k + 1)).ok_or("the program has no such appliance")?;
        println!("{name:7} took {:6.2} kWh, give or take {:.2}; in truth {true_value:.2}", used.mean, used.sd);
        right &= (used.mean - true_value).abs() < 4.0 * used.sd;
    }
    Ok(if right && diagnosis.good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
