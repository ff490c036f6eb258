//! Writes a model in Rust by functions: parameters, formulas with operators, and statements. The gradient comes by itself.
//!
//! ```console
//! $ cargo run --release -p octopus --example 03_program_in_rust
//! ```

use octopus::models::DensityProblem;
use octopus::program::{ProgramBuilder, ProgramDensity, ProgramError};
use octopus::sampler::SamplerConfig;
use std::error::Error;

/// How many breakdowns a machine has in a month, by its age in years: a Poisson regression.
fn breakdowns(counts: Vec<f64>, age: Vec<f64>) -> Result<ProgramDensity, ProgramError> {
    let mut m = ProgramBuilder::new();
    let (level, slope) = (m.parameter("level"), m.parameter("slope"));
    m.normal(level, 0.0, 1.0);
    m.normal(slope, 0.0, 0.5);
    let (counts, age) = (m.data(counts), m.data(age));
    m.poisson_log(counts, level + slope * age);
    m.finish("breakdowns")
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let counts = vec![0.0, 1.0, 0.0, 2.0, 1.0, 3.0, 2.0, 4.0, 6.0, 5.0];
    // In years beside the middle one: then the data know level and slope apart.
    let age = (0..10).map(|year| f64::from(year) - 4.5).collect();
    let problem = DensityProblem::new(breakdowns(counts, age)?, Vec::new())?;

    let diagnosis = octopus::sample(&problem, SamplerConfig { seed: 1, ..SamplerConfig::default() })?.diagnose()?;
    println!("{diagnosis}");
    let slope = diagnosis.summary.get("slope").ok_or("no such parameter")?;
    println!("\neach year multiplies breakdowns by about {:.2}", slope.mean.exp());
    if diagnosis.good() { Ok(()) } else { Err("the draws should not be used as they are".into()) }
}
