//! State-space models with known parameters, and their exact filters: the truth that particle filters are held to.
//!
//! The programs `state-space` and `hmm` infer the parameters, and know nothing of how to draw a state. Here parameters are
//! given, and states move.

mod hidden_markov;
mod linear_gaussian;

pub use hidden_markov::HiddenMarkov;
pub use linear_gaussian::LinearGaussian;

use crate::ShippedProgram;
use octopus_bind::{Data, DataNumbers};

/// What is known of hidden states by an exact filter.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactFilter {
    /// The logarithm of the probability density of all observations.
    pub log_likelihood: f64,
    /// The mean of each state given the observations up to its own.
    pub means: Vec<f64>,
}

/// The observations that ship with a program.
fn shipped_observations(name: &str) -> Vec<f64> {
    let data = ShippedProgram::find(name).and_then(|program| Data::json(program.name, program.data).ok());
    match data.as_ref().and_then(|data| data.get("y")).map(|y| &y.numbers) {
        Some(DataNumbers::Reals(y)) => y.clone(),
        Some(DataNumbers::Ints(y)) => y.iter().map(|&y| y as f64).collect(),
        None => Vec::new(),
    }
}
