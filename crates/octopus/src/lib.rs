//! Octopus as one crate: data, model, sampling, diagnosis, pictures and files.
//!
//! | you want | use |
//! |--|--|
//! | a posterior from a model's name and settings | [`models`] |
//! | a density of your own, and whether it is sound | [`density`], [`check_model`] |
//! | draws | [`sampler`], or [`runs`] for a run in a folder that can go on later |
//! | R-hat, effective sample sizes, LOO, a diagnosis | [`diag`] |
//! | draws of any program, as ArviZ's groups | [`Trace`], [`trace`], [`formats`] |
//! | pictures of a trace | [`Picture`], [`Material`], [`report`] |
//! | to compare two traces | [`TraceComparison`] |
//! | to test a sampler with a model | [`calibrate`] |
//!
//! ```
//! use octopus::diag::{DiagnoseOptions, diagnose};
//! use octopus::models::Registry;
//! use octopus::runs::{Placement, pool, posterior_of, sample_in_memory};
//! use octopus::sampler::SamplerConfig;
//!
//! // The model with its data: five groups, made up.
//! let settings = "[data.synthetic]\ngroups = 5".parse()?;
//! let problem = Registry::shipped().find("hierarchical-normal")?.build(&settings, None)?;
//!
//! // Draws of four chains on the CPU.
//! let config = SamplerConfig { draws: 1000, tune: 500, ..SamplerConfig::default() };
//! let run = sample_in_memory(problem.density(), &config, &Placement::Cpu, &pool(Some(2))?)?;
//! let posterior = posterior_of(problem.density(), &run.blocks);
//!
//! // Whether they can be used, and what they say.
//! let diagnosis = diagnose(&posterior, None, &DiagnoseOptions::default())?;
//! assert!(diagnosis.good(), "{}", diagnosis.to_text(Default::default()));
//! let mu = diagnosis.summary.get("mu_pop").expect("a parameter of the model");
//! assert!((mu.mean - 50.0).abs() < 20.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod comparison;
mod error;
mod likelihood;
mod loaded;
mod model_check;
mod observed;
mod pictures;
mod predictive;
mod prior_conflict;
mod problem;

pub use comparison::{
    ComparedCriterion, ComparedParameter, ComparedTimes, ComparedTrace, ComparisonLimits, DifferingSetting,
    ReportComparison, TraceComparison, TraceSpeed,
};
pub use error::{TraceError, with_causes};
pub use likelihood::{PointwiseLikelihood, complete};
pub use loaded::{Trace, rows};
pub use model_check::{ModelCheck, check_bytes, check_model};
pub use observed::{Predictive, PredictiveParts, PriorDraws};
pub use octopus_calibrate as calibrate;
pub use octopus_density as density;
pub use octopus_device as device;
pub use octopus_diag as diag;
pub use octopus_formats as formats;
pub use octopus_models as models;
pub use octopus_report as report;
pub use octopus_runs as runs;
pub use octopus_sampler as sampler;
pub use octopus_trace as trace;
pub use pictures::{Material, Picture};
pub use predictive::check_predictive;
pub use prior_conflict::{PriorConflict, prior_conflicts};
pub use problem::{model_record, of_run};
