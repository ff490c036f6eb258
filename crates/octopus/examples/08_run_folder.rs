//! Samples into a folder, which a kill does not spoil, and reads it again with its model.
//!
//! ```console
//! $ cargo run --release -p octopus --example 08_run_folder
//! $ octopus diagnose schools-run
//! $ octopus resume schools-run
//! ```
//!
//! A run that was killed goes on from its last checkpoint with `octopus resume`, to the draws that it would have had.

use octopus::Trace;
use octopus::models::Registry;
use octopus::sampler::SamplerConfig;
use std::error::Error;
use std::path::Path;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let models = Registry::shipped();
    let problem = models.find("eight-schools")?.build(&octopus::toml::Table::new(), None)?;
    let config = SamplerConfig { seed: 1, ..SamplerConfig::default() };

    // A folder that holds something already is refused.
    let folder = Path::new("schools-run");
    octopus::sample_to_folder(&*problem, config.clone(), folder)?;

    // Any program can read it now, or while it grows; the record tells the model, whose data are checked.
    let trace = Trace::open(&[folder.to_owned()])?;
    println!("{}", trace.diagnose()?);
    let again = trace.problem(models)?;

    // The same seed gives the same draws, in memory as on disk.
    let same = octopus::sample(&*again, config)?;
    let draws = |trace: &Trace| trace.posterior().map(|posterior| posterior.variables.clone());
    if draws(&same)? == draws(&trace)? { Ok(()) } else { Err("the same seed gave other draws".into()) }
}
