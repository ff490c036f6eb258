//! What a program says besides its density: its sampling statements read as steps that make data.
//!
//! A statement `y ~ d(a)` becomes an assignment, and the rewritten statements run by the same interpreter:
//!
//! | of the data `y` | assignment | where |
//! |--|--|--|
//! | log likelihoods | `terms = d_each(y, a)`, in the graph | `likelihood.rs` |
//! | replicated data | `y = d_drawn(y, lower, upper, a)`, for each draw | `draws.rs` |
//! | everything | the same for parameters, in an order that can be drawn | `joint.rs`, `order.rs`, `prior.rs` |
//!
//! `sampling.rs` says what a sampling statement is, `rewrite.rs` puts others in their place, `reach.rs` says which data a
//! value depends on. With data, `observed.rs` has log likelihoods and replicates, `model.rs` draws of parameters and data, and
//! `second.rs` such draws by another program, and `predict.rs` draws of new data. `proper.rs` makes priors integrate to 1.

mod draws;
mod joint;
mod likelihood;
mod model;
mod observed;
mod order;
mod outcomes;
mod predict;
mod prior;
mod proper;
mod reach;
mod rewrite;
mod sampling;
mod second;

pub use model::{GenerativeModel, JointDraw};
pub use predict::NewData;
pub use second::SimulatorProgram;

pub(crate) use draws::{DrawStatements, replicate};
pub(crate) use joint::joint;
pub(crate) use likelihood::{LikelihoodStatements, ModelledData, likelihood};
pub(crate) use observed::{ReadObservations, ReplicateBlock, observations};
pub(crate) use proper::{ProperPriors, with_proper_priors};
pub(crate) use sampling::{DRAWN, EACH};

use octopus_stan::{Diagnostic, Span, StanProgram};

/// A statement that stands in the way of a generative reading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Obstacle {
    pub(crate) span: Span,
    pub(crate) message: String,
}

impl Obstacle {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// The message behind its place.
    pub(crate) fn placed(&self, program: &StanProgram) -> String {
        let place = program.place(self.span);
        format!("{}:{}:{}: {}", place.file, place.line, place.column, self.message)
    }

    /// The message with its line, and what to do.
    pub(crate) fn diagnostic(&self, program: &StanProgram, help: &str) -> Diagnostic {
        program.diagnostic(self.span, self.message.clone(), Some(help.to_owned()))
    }
}
