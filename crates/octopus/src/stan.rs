//! Programs in Stan's language: text to a checked tree, bound to data, and then a problem like any other.
//!
//! [`StanProgram`] reads a text and says what is wrong with it, with places. [`Data`] are read from Stan's JSON or R's dump,
//! or given by name. [`StanProblem::bind`] joins the two; `log_lik` and `y_rep` among the generated quantities become
//! ArviZ's groups. [`BoundModel`] and [`StanDensity`] are the steps between, for programs that want a log density alone.
//! `docs/stan.md` says what is supported, and what each command does with such a program.
//!
//! ```
//! use octopus::sampler::SamplerConfig;
//! use octopus::stan::{Data, StanProblem, StanProgram};
//!
//! let text = "
//!     data { int N; array[N] int<lower=0, upper=1> y; }
//!     parameters { real<lower=0, upper=1> theta; }
//!     model { y ~ bernoulli(theta); }
//!     generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = bernoulli_lpmf(y[n] | theta); }";
//! let program = StanProgram::parse("coin.stan", text)?; // a file: StanProgram::read("coin.stan")?
//! let data = Data::json("throws", r#"{"N": 8, "y": [1, 1, 0, 1, 1, 1, 0, 1]}"#)?; // Data::read("throws.json")?
//! let problem = StanProblem::bind(program, data)?;
//!
//! let trace = octopus::sample(&problem, SamplerConfig { draws: 1000, tune: 500, seed: 1, ..Default::default() })?;
//! let diagnosis = trace.diagnose()?;
//! println!("{diagnosis}\n{}", trace.loo()?);
//! let theta = diagnosis.summary.get("theta").expect("a parameter of the program");
//! assert!(diagnosis.good() && (theta.mean - 0.7).abs() < 0.02); // Beta(7, 3)
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use octopus_bind::*;
pub use octopus_models::{ProgramOverview, ShippedProgram, StanModel, StanProblem};
pub use octopus_stan::*;
