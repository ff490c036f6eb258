//! Models by name: they build posteriors from settings, and simulate parameters and data.
//!
//! | you want | use |
//! |--|--|
//! | a posterior from a name and settings | [`Registry`], [`Model::build`], [`Problem`] |
//! | a model of your own in the commands | [`Model`], [`Registry::new`], and `octopus_cli::main` |
//! | parameters and data drawn from a model | [`Simulator`] |
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
//! This crate samples nothing and prints nothing; it opens the files of observations that settings name.
#![forbid(unsafe_code)]

mod eight_schools;
mod error;
mod hierarchical_normal;
mod model;
mod option;
mod registry;
pub mod settings;
mod simulator;

pub use eight_schools::{EightSchoolsModel, EightSchoolsProblem, SchoolsSimulator};
pub use error::BuildError;
pub use hierarchical_normal::{
    DataSource, HierarchicalNormalModel, HierarchicalNormalProblem, HierarchicalSettings, HierarchicalSimulator,
};
pub use model::{CalibrationTest, Effects, Model, Problem, Simulated};
pub use option::{ModelOption, OptionGroup, OptionKind};
pub use registry::Registry;
pub use settings::{RowFilter, TableFile};
pub use simulator::Simulator;
