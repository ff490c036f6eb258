//! Binds a Stan program to its data: the tree is run once with whole numbers, sizes, loops and branches known, and what
//! depends on parameters becomes a program of vectors with its gradient.
//!
//! | step | where |
//! |--|--|
//! | data from JSON, R's dump or code | `data.rs` |
//! | data against their declarations | `declared.rs` |
//! | what a program asks for and gives, before there are data | `interface.rs` |
//! | statements and expressions | `interpreter/` |
//! | loops whose passes are bound all at once | `interpreter/lanes.rs`; `interpreter/classes.rs` where data make passes differ, `interpreter/carried.rs` where they carry state |
//! | functions and densities | `interpreter/library.rs`, `interpreter/density.rs` |
//! | constrained parameters, and back | `transform.rs`, `unconstrain.rs` |
//! | generated quantities that the graph cannot hold, draw by draw | `generated.rs` |
//! | draws of Stan's distributions | `generator/` |
//! | log likelihoods, and draws of parameters and data, by sampling statements | `generative/` |
//! | constants that statements drop | `normalised.rs` |
//! | values of parameters as positions | `starting.rs` |
//! | why a point has no density | `faults.rs` |
//! | what comes out | `bind.rs`, `stan_density.rs`, `observations.rs` |
//!
//! ```
//! use octopus_bind::{BoundModel, Data};
//!
//! let text = "data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }
//!             parameters { real<lower=0, upper=1> theta; }
//!             model { theta ~ beta(1, 1); y ~ bernoulli(theta); }";
//! let program = octopus_stan::StanProgram::parse("coin.stan", text)?;
//! let data = Data::new("coin").with_int("N", 3).with_ints("y", &[1, 0, 1]);
//! let model = BoundModel::new(&program, &data)?;
//! assert_eq!(model.labels(), ["theta"]);
//! assert!((model.log_density(&[0.0]) - 5.0 * 0.5_f64.ln()).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod bind;
mod constrained;
mod data;
mod declared;
mod error;
mod faults;
mod generated;
mod generative;
mod generator;
mod interface;
mod interpreter;
mod normalised;
mod observations;
mod shape;
mod stan_density;
mod starting;
mod transform;
mod unconstrain;
mod uses;
mod value;

pub use bind::{BindOptions, BoundModel, DrawQuantity};
pub use data::{Data, DataNumbers, DataValue};
pub use error::BindError;
pub use generative::{GenerativeModel, JointDraw, NewData, SimulatorProgram};
pub use interface::{DeclaredSize, DeclaredVariable, UsedFunctions};
pub use observations::ObservedData;
pub use stan_density::{DrawFailures, StanDensity};
pub use starting::StartingPoint;
