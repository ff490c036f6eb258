//! Models as programs of vectors: one table of operations, derivatives that are programs again, and loops that run without
//! a compiler.
//!
//! | you want | use |
//! |--|--|
//! | a model by functions | [`ProgramBuilder`], whose [`finish`](ProgramBuilder::finish) is a [`LogDensity`](octopus_density::LogDensity) |
//! | formulas with operators | [`Value`]: `intercept + level.gather(clinic) + slope * age` |
//! | a program from text or formulas | [`Graph`], then [`Program::compile`] |
//! | a recurrence | [`Graph::scan`]; [`Graph::close_recurrence`] for one that is written as vectors |
//! | a solution of differential equations | [`OdeSystem::compile`], [`Graph::solve_ode`] |
//! | a new operation or distribution | a row in `operation.rs` or `distribution/` |
//! | what a compiled program does, step by step | [`Program::steps`] |
//! | a twin for tests | [`Program::plain`] over [`Dual`] numbers, [`evaluate`] over any [`Number`] |
//!
//! A node is a vector; a scalar has length 1 and serves every row. Data are folded as the graph is built, derivatives are
//! nodes again, and [`Program::compile`] packs rows that can be done together into one loop, forward and reverse. Widths
//! of vectors, blocks and threads change no bit: sums have one order ([`order`]).
//!
//! ```
//! use octopus_density::LogDensity;
//! use octopus_program::ProgramBuilder;
//!
//! let mut m = ProgramBuilder::new();
//! let mu = m.parameter("mu");
//! let sigma = m.positive("sigma");
//! let y = m.data(vec![1.0, 2.0, 6.0]);
//! m.normal(mu, 0.0, 5.0);
//! m.exponential(sigma, 1.0);
//! m.normal(y, mu, sigma);
//! let density = m.finish("mean-and-spread")?;
//! let mut gradient = [0.0; 2];
//! let value = density.logp_grad(&[3.0, 0.0], &mut gradient)?;
//! assert!((value - (-9.0 / 50.0 - 1.0 - 14.0 / 2.0)).abs() < 1e-12);
//! assert!((gradient[1] - (1.0 - 1.0 + 14.0 - 3.0)).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod adjoint;
mod bessel;
mod bounds;
mod builder;
mod density;
mod distribution;
mod effects;
mod error;
mod evaluate;
mod fewer_rows;
mod formula;
mod gpu;
mod graph;
mod hash;
mod kernel;
mod lower;
mod matrix;
mod number;
mod ode;
mod operation;
pub mod order;
mod pack;
mod permutation;
mod plain;
mod plan;
mod program;
mod recurrence;
mod scan;
mod substitute;
mod summary;

pub use builder::{ProgramBuilder, Support};
pub use density::{ProgramDensity, TargetTerms};
pub use distribution::{Argument, Distribution, JointArgument, JointDistribution, JointShape, Must, Tail};
pub use effects::{NormalKind, NormalStatement};
pub use error::{EvaluationError, ProgramError};
pub use evaluate::{VectorWidth, Workspace};
pub use formula::Value;
pub use graph::{Graph, NodeId};
pub use kernel::{BodySite, KernelBody, KernelRefusal};
pub use matrix::Matrix;
pub use number::{Dual, Number};
pub use ode::{OdeMethod, OdeProblem, OdeSettings, OdeSystem};
pub use operation::{Algebra, Domain, Op};
pub use plain::evaluate;
pub use program::Program;
pub use recurrence::{CarriedValue, GraphMark};
pub use scan::ScanStep;
pub use summary::{STEPS_OF_A_SOLUTION, StepSummary};
