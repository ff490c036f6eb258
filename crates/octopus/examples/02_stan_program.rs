//! Samples a Stan program with the data of a table: words in a column become numbers for the program and names in the
//! trace.
//!
//! ```console
//! $ cargo run --release -p octopus --example 02_stan_program
//! ```

use octopus::models::Registry;
use octopus::sampler::SamplerConfig;
use octopus::toml::Table;
use std::error::Error;

/// Where this repository's example is: a program and a table of patients.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/stan");

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // The same settings as in a file for `octopus sample stan --config FILE`.
    let settings: Table =
        format!("program = '{FOLDER}/clinics.stan'\n[data.file]\npath = '{FOLDER}/clinics.csv'").parse()?;
    let problem = Registry::shipped().find("stan")?.read_and_build(&settings, None)?;

    let config = SamplerConfig { draws: 2000, target_accept: 0.95, seed: 1, ..SamplerConfig::default() };
    let diagnosis = octopus::sample(&*problem, config)?.diagnose()?;
    println!("{diagnosis}\n");

    // The clinics have the table's own names.
    let level = diagnosis.summary.get("level[old town]").ok_or("no clinic of this name")?;
    println!("the old town is at {:.2}, most likely between {:.2} and {:.2}", level.mean, level.hdi[0], level.hdi[1]);
    if diagnosis.good() { Ok(()) } else { Err("the draws should not be used as they are".into()) }
}
