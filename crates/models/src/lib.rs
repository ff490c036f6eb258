//! The models that ship, and models by name: they build posteriors from settings, and simulate parameters and data.
//!
//! | you want | use |
//! |--|--|
//! | a posterior from a name and settings | [`Registry`], [`Model::build`], [`Problem`] |
//! | a model of your own that reads the user's table | [`ModelColumn`], [`FileData`], [`DensityProblem`] |
//! | a model of your own in the commands | [`Model`], [`Registry::new`], and `octopus_cli::main` |
//! | parameters and data drawn from a model | [`Simulator`] |
//! | the density of phase 0, with any number of groups and observations | [`HierarchicalNormal`] |
//! | Rubin's eight schools, or other measured effects with known standard errors | [`EightSchools`] |
//! | a program in Stan's language, with data in JSON, R's dump or a table | [`StanModel`], [`StanProblem`], [`ProgramOverview`] |
//! | a program that ships with data and truth, such as `polynomial` | [`ShippedProgram`] |
//! | made-up data like phase 0's | [`synthetic`] |
//! | made-up data of `polynomial` at any size, with their posterior | [`polynomial`] |
//! | hidden states with known parameters, and their exact filters | [`state_space`] |
//! | the exact posterior of these models, to judge a sampler | [`exact`] |
//!
//! ```
//! use octopus_models::Registry;
//!
//! let settings = "[data.synthetic]\ngroups = 5".parse()?;
//! let problem = Registry::shipped().find("hierarchical-normal")?.build(&settings, None)?;
//! assert_eq!(problem.density().dim(), 8);
//! assert_eq!(problem.data().observations, 50);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each model has its own folder; code for every density is in `octopus-density`.
//!
//! This crate samples nothing and prints nothing; it opens the files of observations that settings name.
#![forbid(unsafe_code)]

mod data_size;
mod density_problem;
mod eight_schools;
mod error;
pub mod exact;
mod fingerprint;
mod hierarchical_normal;
mod model;
mod moments;
mod option;
pub mod polynomial;
mod registry;
pub mod settings;
mod simulator;
mod stan_program;
mod starting_point;
pub mod state_space;
mod table_file;

pub use data_size::DataSize;
pub use density_problem::DensityProblem;
pub use eight_schools::{EightSchools, EightSchoolsModel, EightSchoolsProblem, SchoolsSimulator};
pub use error::{BuildError, ModelError};
pub use fingerprint::sha256;
pub use hierarchical_normal::{
    DataSource, GroupedFile, HierarchicalNormal, HierarchicalNormalModel, HierarchicalNormalProblem, HierarchicalPrior,
    HierarchicalSettings, HierarchicalSimulator, Likelihood, synthetic,
};
pub use model::{CalibrationTest, Effects, Model, NamedLikelihood, ObservedVariable, Predictor, Problem, Simulated};
pub use option::{ModelOption, OptionGroup, OptionKind};
pub use registry::Registry;
pub use simulator::Simulator;
pub use stan_program::{ProgramOverview, ShippedProgram, StanModel, StanProblem, TruthMoments};
pub use table_file::{FileData, ModelColumn, RowFilter, TableFile};
