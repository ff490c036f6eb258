//! Octopus as one crate: data, model, sampling, diagnosis, pictures and files.
//!
//! | you want | use |
//! |--|--|
//! | draws of a problem, in one call | [`sample`], or [`sample_to_folder`] for a run that can go on later |
//! | a problem from a model's name and settings | [`models::Registry`] |
//! | a problem from a program in Stan's language | [`stan`] |
//! | a problem by functions, with its gradient | [`program`], [`models::DensityProblem`] |
//! | a problem from a density of your own | [`density::LogDensity`], [`models::DensityProblem`], [`check_model`] |
//! | R-hat, effective sample sizes, divergences, advice | [`Trace::diagnose`], [`diag`] |
//! | how well a model predicts | [`Trace::loo`], [`check_predictive`] |
//! | how probable the data are by a model, and Bayes factors | [`Trace::evidence`], [`ModelEvidence`], [`model_probabilities`] |
//! | a file for ArviZ; draws of any program | [`Trace::save`], [`Trace::open`], [`formats`] |
//! | pictures of a trace | [`Picture`], [`Material`], [`report`] |
//! | to compare two traces | [`TraceComparison`] |
//! | to test a sampler with a model | [`calibrate`] |
//! | warnings on stderr | [`log_to_stderr`], [`tracing`] |
//!
//! ```
//! use octopus::models::Registry;
//! use octopus::sampler::SamplerConfig;
//!
//! // The model with its data: five groups, made up.
//! let settings = "[data.synthetic]\ngroups = 5".parse()?;
//! let problem = Registry::shipped().find("hierarchical-normal")?.build(&settings, None)?;
//!
//! // Draws of four chains.
//! let config = SamplerConfig { draws: 1000, tune: 500, ..SamplerConfig::default() };
//! let trace = octopus::sample(&*problem, config)?;
//!
//! // Whether they can be used, and what they say.
//! let diagnosis = trace.diagnose()?;
//! println!("{diagnosis}");
//! assert!(diagnosis.good());
//! let mu = diagnosis.summary.get("mu_pop").expect("a parameter of the model");
//! assert!((mu.mean - 50.0).abs() < 20.0);
//! println!("{}", trace.loo()?);
//! # let dir = tempfile::tempdir()?;
//! # std::env::set_current_dir(dir.path())?;
//!
//! // For ArviZ.
//! trace.save("groups.nc")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod comparison;
mod error;
mod evidence;
mod leave_one_out;
mod likelihood;
mod loaded;
mod log;
mod model_check;
mod new_predictions;
mod observed;
mod pictures;
mod predictive;
mod prior_conflict;
mod problem;
pub mod program;
mod sampling;
pub mod stan;
mod starts;

pub use comparison::{
    ComparedCriterion, ComparedParameter, ComparedTimes, ComparedTrace, ComparisonLimits, DifferingSetting,
    ReportComparison, TraceComparison, TraceSpeed,
};
pub use error::{TraceError, with_causes};
pub use evidence::{ModelEvidence, model_probabilities, same_observations};
pub use leave_one_out::PredictiveAccuracy;
pub use likelihood::{PointwiseLikelihood, complete};
pub use loaded::{Trace, rows};
pub use log::log_to_stderr;
pub use model_check::{ModelCheck, check_bytes, check_model};
pub use new_predictions::{NewPredictions, PredictedNumber};
pub use observed::{Predictive, PredictiveParts, PriorDraws};
pub use octopus_array as array;
pub use octopus_calibrate as calibrate;
pub use octopus_density as density;
pub use octopus_device as device;
pub use octopus_diag as diag;
pub use octopus_files as files;
pub use octopus_fitness as fitness;
pub use octopus_formats as formats;
pub use octopus_models as models;
pub use octopus_random as random;
pub use octopus_report as report;
pub use octopus_runs as runs;
pub use octopus_sampler as sampler;
pub use octopus_trace as trace;
pub use pictures::{Material, Picture};
pub use predictive::check_predictive;
pub use prior_conflict::{PriorConflict, prior_conflicts};
pub use problem::{model_record, of_run, run_record};
pub use sampling::{sample, sample_to_folder};
pub use starts::begin;
pub use toml;
pub use tracing;
