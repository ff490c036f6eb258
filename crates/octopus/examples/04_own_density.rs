//! Writes a log density with its gradient by hand, checks it, and samples it.
//!
//! ```console
//! $ cargo run --release -p octopus --example 04_own_density
//! ```

use octopus::check_model;
use octopus::density::{DensityError, Layout, LogDensity, Role, Transform, Variable};
use octopus::models::DensityProblem;
use octopus::sampler::SamplerConfig;
use std::error::Error;

/// The time between calls, exponential with an unknown rate: `time[n] ~ Exponential(rate)`, `rate ~ Exponential(1)`.
/// The coordinate is `ln rate`.
struct Calls {
    times: Vec<f64>,
    layout: Layout,
}

impl Calls {
    fn new(times: Vec<f64>) -> Self {
        let role = Role::Parameter { offset: 0, transform: Transform::Exp };
        Self { times, layout: Layout { variables: vec![Variable { name: "rate".into(), dims: vec![], role }] } }
    }
}

impl LogDensity for Calls {
    fn dim(&self) -> usize {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The log density at `x = ln rate`, with the log-Jacobian `x` of this coordinate.
    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let (count, total) = (self.times.len() as f64, self.times.iter().sum::<f64>());
        let rate = x[0].exp();
        gradient[0] = count + 1.0 - rate * (total + 1.0);
        let value = (count + 1.0) * x[0] - rate * (total + 1.0);
        if value.is_finite() { Ok(value) } else { Err(DensityError::NotFinite { value }) }
    }

    fn expand(&self, x: &[f64], out: &mut [f64]) {
        out[0] = x[0].exp();
    }

    fn name(&self) -> &str {
        "calls"
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let times = vec![0.4, 1.3, 0.2, 2.1, 0.7, 0.5, 1.8, 0.1];
    let (count, total) = (times.len() as f64, times.iter().sum::<f64>());
    let problem = DensityProblem::new(Calls::new(times), Vec::new())?;

    // The gradient is held against finite differences.
    let check = check_model(&problem, 1);
    println!("{check}\n");

    let diagnosis = octopus::sample(&problem, SamplerConfig { seed: 1, ..SamplerConfig::default() })?.diagnose()?;
    println!("{diagnosis}");
    let rate = diagnosis.summary.get("rate").ok_or("no such parameter")?;
    // The posterior is a gamma distribution.
    println!("\nmean {:.3} +- {:.3}, exactly {:.3}", rate.mean, rate.mcse_mean, (count + 1.0) / (total + 1.0));
    if check.good() && diagnosis.good() { Ok(()) } else { Err("the model or its draws are not sound".into()) }
}
