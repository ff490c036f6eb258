//! Samples a model that ships, and compares the draws with what is known of its posterior.
//!
//! ```console
//! $ cargo run --release -p octopus --example 01_shipped_model
//! ```

use octopus::models::Registry;
use octopus::sampler::SamplerConfig;
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A model is found by its name; an empty table of settings stands for its own data.
    let problem = Registry::shipped().find("polynomial")?.build(&octopus::toml::Table::new(), None)?;

    let trace = octopus::sample(&*problem, SamplerConfig { seed: 1, ..SamplerConfig::default() })?;
    let diagnosis = trace.diagnose()?;
    println!("{diagnosis}\n");

    // Models that ship know their posterior: here in closed form.
    let exact = problem.exact()?.ok_or("the posterior is not known")?;
    for name in ["a", "b", "c"] {
        let (found, known) = (diagnosis.summary.get(name), exact.moments_of(name, 0));
        let (Some(found), Some(known)) = (found, known) else { continue };
        println!("{name}: mean {:.4} +- {:.4}, exactly {:.4}", found.mean, found.mcse_mean, known.mean);
    }
    if diagnosis.good() { Ok(()) } else { Err("the draws should not be used as they are".into()) }
}
