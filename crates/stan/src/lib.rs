//! Reads programs in Stan's language, as of Stan 2.39: text to a checked tree with types.
//!
//! [`StanProgram::read`] and [`StanProgram::parse`] give a [`StanProgram`] or a [`StanError`] that lists all that is wrong, each
//! with its place, its line and what to do. Nothing is computed here: there are no data and no draws.
//!
//! | step | where |
//! |--|--|
//! | text to tokens, `#include` | `lexer.rs`, `include.rs` |
//! | tokens to a tree | `parser/`, `syntax.rs` |
//! | names, types, signatures, what may stand where | `check/`, `overload.rs` |
//! | what the math library has | `signatures.txt`, read by `signatures.rs` |
//! | what is refused by its name, with what is instead | `refused.rs` |
//! | what comes out | `program.rs`, `tree.rs`, `types.rs`, `message.rs` |
//!
//! ```
//! use octopus_stan::{StanProgram, StanType};
//!
//! let program = StanProgram::parse(
//!     "coin.stan",
//!     "data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }
//!      parameters { real<lower=0, upper=1> theta; }
//!      model { theta ~ beta(1, 1); y ~ bernoulli(theta); }",
//! )?;
//! assert_eq!(program.variables[2].name, "theta");
//! assert_eq!(program.variables[2].ty, StanType::REAL);
//!
//! let error = StanProgram::parse("coin.stan", "model { thetta ~ beta(1, 1); }").unwrap_err();
//! assert!(error.to_string().contains("coin.stan:1:9"));
//! # Ok::<(), octopus_stan::StanError>(())
//! ```
//!
//! Not supported, and refused with what to write instead: tuples, complex numbers, solvers of algebraic and
//! differential-algebraic equations, numerical integration, embedded Laplace approximations, and functions that share work among
//! threads.

#![forbid(unsafe_code)]

mod check;
mod include;
mod lexer;
mod message;
mod overload;
mod parser;
mod program;
mod refused;
mod signatures;
mod solvers;
mod source;
mod suggest;
mod syntax;
mod tree;
mod types;

pub use message::{Diagnostic, DiagnosticKind, StanError};
pub use program::StanProgram;
pub use signatures::{ArgumentType, Signature};
pub use solvers::OdeSolver;
pub use source::{Place, Span};
pub use tree::{
    BinaryOp, Call, Callee, Constraint, Declaration, Expression, ExpressionKind, FunctionId, Index, LValue, Printable,
    ProgramBlock, StanFunction, StanVariable, Statement, StatementKind, Suffix, Tilde, UnaryOp, VariableId,
    VariableRole,
};
pub use types::{BaseType, StanType};
