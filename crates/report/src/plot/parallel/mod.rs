//! Parallel coordinates: where divergent draws differ from the others, across many variables.
//!
//! How many variables and lines it shows stands here.

mod draw;

use octopus_trace::Dataset;

use super::choose;
use crate::draws;
use crate::summary::SummaryRow;

/// Variables that fit one picture.
const MOST_VARIABLES: usize = 24;
/// Lines of draws that did not diverge.
const MOST_OTHERS: usize = 200;
/// The most lines of draws whose transition diverged.
const MOST_DIVERGENT: usize = 200;

/// The data of a plot of parallel coordinates: a row for each variable, a line for each draw (Gabry et al. 2019).
#[derive(Clone, Debug)]
pub struct ParallelPlot {
    /// The rows.
    pub variables: Vec<ParallelVariable>,
    /// One line for each of some draws whose transition diverged: the value of each variable less its mean, divided by
    /// its standard deviation.
    pub divergent: Vec<Vec<f64>>,
    /// One line, of the same standardised values, for each of some other draws.
    pub others: Vec<Vec<f64>>,
    /// The number of transitions that diverged.
    pub divergences: usize,
    /// The number of draws.
    pub draws: usize,
    /// The number of parameters that the variables were chosen from.
    pub parameters: usize,
}

/// One variable of a plot of parallel coordinates.
#[derive(Clone, Debug)]
pub struct ParallelVariable {
    /// The variable's name.
    pub name: String,
    /// The mean that is subtracted from the variable's values.
    pub mean: f64,
    /// The standard deviation that the variable's values are divided by.
    pub sd: f64,
}

impl ParallelPlot {
    /// Chooses at most 24 variables: if there are more, those whose values differ most between divergent and other
    /// draws, or, where no transition diverged, the scalars and the elements with the worst R-hat. There are at most
    /// 200 lines of either kind, taken evenly from all chains.
    ///
    /// `posterior` holds arrays over `chain`, `draw`, ...; `sample_stats` holds `diverging`. Draws without a row in
    /// `summary`, which gives means and standard deviations, are left out.
    pub fn from_posterior(posterior: &Dataset, sample_stats: Option<&Dataset>, summary: &[SummaryRow]) -> Self {
        let diverging = sample_stats.map(draws::diverging).unwrap_or_default();
        let rows = choose::related(posterior, summary, &diverging, MOST_VARIABLES);
        let found = choose::found(posterior, &rows);
        let values: Vec<Vec<f64>> = found
            .iter()
            .map(|(element, row)| element.pooled().iter().map(|v| normalised(*v, row.mean, row.sd)).collect())
            .collect();
        let draws = values.first().map_or(0, Vec::len);
        let (divergent, others): (Vec<usize>, Vec<usize>) =
            (0..draws).partition(|&draw| diverging.get(draw) == Some(&true));
        let line = |&draw: &usize| values.iter().filter_map(|one| one.get(draw).copied()).collect();
        let variable =
            |(_, row): &(_, &SummaryRow)| ParallelVariable { name: row.name.clone(), mean: row.mean, sd: row.sd };
        Self {
            variables: found.iter().map(variable).collect(),
            divergent: evenly(&divergent, MOST_DIVERGENT).map(line).collect(),
            others: evenly(&others, MOST_OTHERS).map(line).collect(),
            divergences: divergent.len(),
            draws,
            parameters: summary.len(),
        }
    }
}

/// `value` in standard deviations from the mean; one that never varies lies at it.
fn normalised(value: f64, mean: f64, sd: f64) -> f64 {
    if sd == 0.0 && value.is_finite() { 0.0 } else { (value - mean) / sd }
}

/// Returns at most `most` of `all`, evenly apart.
fn evenly(all: &[usize], most: usize) -> impl Iterator<Item = &usize> {
    let kept = all.len().min(most);
    (0..kept).map(move |i| &all[i * all.len() / kept])
}

#[cfg(test)]
mod tests;
