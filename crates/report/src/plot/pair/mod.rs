//! Pair plot: each pair of some variables, with the draws whose transitions diverged.
//!
//! How many variables it shows stands here.

mod draw;
mod regions;

use octopus_trace::Dataset;

use super::choose;
use crate::draws;
use crate::summary::SummaryRow;

/// Variables that fit one picture.
const MOST_VARIABLES: usize = 5;

/// The data of a pair plot.
#[derive(Clone, Debug)]
pub struct PairPlot {
    /// One row and one column of the picture for each.
    pub variables: Vec<PairVariable>,
    /// The draws whose transition diverged, as places in the variables' draws, ascending.
    pub divergent: Vec<usize>,
    /// The number of parameters that the variables were chosen from.
    pub parameters: usize,
}

/// One variable of a pair plot.
#[derive(Clone, Debug)]
pub struct PairVariable {
    /// The variable's name.
    pub name: String,
    /// Draws of all chains, in the same order for all variables.
    pub draws: Vec<f64>,
    /// The value that made the data.
    pub truth: Option<f64>,
}

impl PairPlot {
    /// Chooses at most five variables: if there are more, those whose values differ most between divergent and other
    /// draws, or, where no transition diverged, the scalars and the elements with the worst R-hat.
    ///
    /// `posterior` holds arrays over `chain`, `draw`, ...; `sample_stats`, if given, holds `diverging`. Draws without
    /// a row in `summary` are left out: to name variables, pass their rows only.
    pub fn from_posterior(posterior: &Dataset, sample_stats: Option<&Dataset>, summary: &[SummaryRow]) -> Self {
        let diverging = sample_stats.map(draws::diverging).unwrap_or_default();
        let rows = choose::related(posterior, summary, &diverging, MOST_VARIABLES);
        let variables: Vec<PairVariable> = choose::found(posterior, &rows)
            .into_iter()
            .map(|(element, row)| PairVariable { name: row.name.clone(), draws: element.pooled(), truth: row.truth })
            .collect();
        let draws = variables.first().map_or(0, |variable| variable.draws.len());
        let divergent = (0..draws).filter(|&i| diverging.get(i) == Some(&true)).collect();
        Self { variables, divergent, parameters: summary.len() }
    }
}

#[cfg(test)]
mod tests;
