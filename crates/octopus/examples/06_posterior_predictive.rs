//! Would the fitted model make data like the observed ones? Replicated data, p-values and a picture.
//!
//! ```console
//! $ cargo run --release -p octopus --example 06_posterior_predictive
//! ```

use octopus::report::{Format, write_figures};
use octopus::sampler::SamplerConfig;
use octopus::stan::{Data, StanProblem, StanProgram};
use octopus::{Picture, check_predictive};
use std::error::Error;
use std::path::Path;

/// Counts as Poisson: does that allow the spread of the data?
const PROGRAM: &str = "
    data { int N; array[N] int<lower=0> y; }
    parameters { real<lower=0> rate; }
    model { rate ~ gamma(2, 0.1); y ~ poisson(rate); }
    generated quantities { array[N] int y_rep; for (n in 1:N) y_rep[n] = poisson_rng(rate); }";
const COUNTS: [i64; 15] = [0, 12, 3, 1, 0, 9, 2, 0, 15, 1, 0, 4, 11, 0, 2];

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let data = Data::new("counts").with_int("N", COUNTS.len() as i64).with_ints("y", &COUNTS);
    let problem = StanProblem::bind(StanProgram::parse("counts.stan", PROGRAM)?, data)?;
    let trace = octopus::sample(&problem, SamplerConfig { seed: 1, ..SamplerConfig::default() })?;

    // A variable `y_rep` of the program is the trace's group of predictions.
    let predicted = trace.data.group("posterior_predictive").ok_or("there are no predictions")?;
    let values = predicted.variables["y"].values.to_f64();
    let replicates: Vec<Vec<f64>> = values.chunks_exact(COUNTS.len()).map(<[f64]>::to_vec).collect();
    let observed = COUNTS.map(|count| count as f64);
    let statistics = check_predictive(&observed, &replicates)?;
    for statistic in &statistics {
        println!("{}: p-value {:.3}", statistic.name, statistic.p_value);
    }
    for file in write_figures(Path::new("."), &[trace.picture(Picture::Ppc)?], &[Format::Png])? {
        println!("{}", file.display());
    }

    // The observed counts vary more than the model allows: the negative binomial model would fit better.
    let spread = statistics.iter().find(|statistic| statistic.name == "sd").ok_or("no such statistic")?;
    if spread.p_value > 0.99 { Ok(()) } else { Err("these counts should vary more than Poisson's".into()) }
}
