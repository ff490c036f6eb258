//! Which of two models predicts better? Leave-one-out cross-validation of two Stan programs with the same observations.
//!
//! ```console
//! $ cargo run --release -p octopus --example 05_compare_models
//! ```

use octopus::diag::{WeightMethod, compare};
use octopus::sampler::SamplerConfig;
use octopus::stan::{Data, StanProblem, StanProgram};
use octopus::{PredictiveAccuracy, sample};
use std::error::Error;

/// A constant, and a line; both say how likely each observation is.
const CONSTANT: &str = "
    data { int N; vector[N] x; vector[N] y; }
    parameters { real a; real<lower=0> sigma; }
    model { a ~ normal(0, 5); sigma ~ exponential(1); y ~ normal(a, sigma); }
    generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a, sigma); }";
const LINE: &str = "
    data { int N; vector[N] x; vector[N] y; }
    parameters { real a; real b; real<lower=0> sigma; }
    model { a ~ normal(0, 5); b ~ normal(0, 5); sigma ~ exponential(1); y ~ normal(a + b * x, sigma); }
    generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a + b * x[n], sigma); }";

fn accuracy(name: &str, text: &str) -> Result<PredictiveAccuracy, Box<dyn Error>> {
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    let y = [0.3, 1.1, 1.2, 2.2, 1.9, 3.1, 2.8, 4.0, 4.1, 4.2, 5.3, 5.4];
    let data = Data::new("measurements").with_int("N", 12).with_reals("x", &x).with_reals("y", &y);
    let problem = StanProblem::bind(StanProgram::parse(name, text)?, data)?;
    let trace = sample(&problem, SamplerConfig { seed: 1, ..SamplerConfig::default() })?;
    Ok(trace.loo()?)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (constant, line) = (accuracy("constant.stan", CONSTANT)?, accuracy("line.stan", LINE)?);
    println!("constant: {constant}\nline: {line}\n");
    let ranked = compare(&[("constant", &constant.elpd), ("line", &line.elpd)], WeightMethod::Stacking)?;
    for model in &ranked {
        println!("{}. {}: {:.1} behind the best (+- {:.1})", model.rank + 1, model.name, model.elpd_diff, model.dse);
    }
    if ranked.first().is_some_and(|best| best.name == "line") {
        Ok(())
    } else {
        Err("the line should be better".into())
    }
}
