//! Models by functions: parameters, formulas with operators, and statements that read as Stan's do.
//!
//! A statement such as `m.normal(y, mu, sigma)` adds a log density to the target; the gradient comes by itself. The same
//! loops run that a Stan program becomes.
//!
//! ```
//! use octopus::models::DensityProblem;
//! use octopus::program::{ProgramBuilder, ProgramDensity, ProgramError};
//! use octopus::sampler::SamplerConfig;
//!
//! /// Who recovers, by age, in clinics that differ: a logistic hierarchy.
//! fn recovery(recovered: Vec<f64>, age: Vec<f64>, clinic: Vec<u32>) -> Result<ProgramDensity, ProgramError> {
//!     let mut m = ProgramBuilder::new();
//!     let (intercept, slope) = (m.parameter("intercept"), m.parameter("slope"));
//!     let spread = m.positive("spread");
//!     let clinics = clinic.iter().max().map_or(0, |&last| last as usize + 1);
//!     let level = m.affine("level", Some(clinics), 0.0, spread);
//!     m.normal(intercept, 0.0, 2.0);
//!     m.normal(slope, 0.0, 1.0);
//!     m.normal(spread, 0.0, 1.0);
//!     m.normal(level, 0.0, spread);
//!     let (recovered, age) = (m.data(recovered), m.data(age));
//!     m.bernoulli_logit(recovered, intercept + slope * age + level.gather(clinic));
//!     m.finish("recovery")
//! }
//!
//! let clinic = vec![0, 0, 0, 1, 1, 1, 2, 2, 2, 2];
//! let age = vec![0.9, -0.6, 0.1, 1.2, -1.0, 0.0, 0.4, -0.3, 1.5, -1.4];
//! let recovered = vec![0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0];
//! let problem = DensityProblem::new(recovery(recovered, age, clinic)?, Vec::new())?;
//!
//! let config = SamplerConfig { draws: 1000, tune: 500, target_accept: 0.95, seed: 1, ..Default::default() };
//! let diagnosis = octopus::sample(&problem, config)?.diagnose()?;
//! println!("{diagnosis}");
//! assert!(diagnosis.summary.get("slope").expect("a parameter").mean < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use octopus_program::*;
