//! Convergence of all parameters while the run went on: R-hat and effective sample sizes of the first draws.
//!
//! How many points along the run there are stands here.

mod draw;

use std::collections::HashSet;

use octopus_diag::DiagError;
use octopus_trace::Dataset;

use crate::draws::{elements, first_draws, summarise};
use crate::summary::SummaryRow;

/// Points along the run.
const POINTS: usize = 12;

/// Fewer draws of a chain have no diagnostics.
const FEWEST_DRAWS: usize = 4;

/// R-hat and effective sample sizes of every parameter against the draws made so far.
#[derive(Clone, Debug)]
pub struct ConvergencePlot {
    /// The numbers of first draws of each chain, one for each point.
    pub draws: Vec<usize>,
    /// The number of chains.
    pub chains: usize,
    /// The groups of chains that began together, for which R-hat is nested; none where each began apart.
    pub superchains: Option<usize>,
    /// One for each parameter.
    pub parameters: Vec<ConvergenceSeries>,
}

/// One parameter's diagnostics at each point; NaN where one is not defined.
#[derive(Clone, Debug)]
pub struct ConvergenceSeries {
    /// The parameter's name.
    pub name: String,
    /// R-hat.
    pub rhat: Vec<f64>,
    /// Bulk effective sample size.
    pub ess_bulk: Vec<f64>,
    /// Tail effective sample size.
    pub ess_tail: Vec<f64>,
}

impl ConvergencePlot {
    /// Takes every parameter of `posterior` that has a row in `summary`, by [`octopus_diag::summary`] of the first
    /// draws: twelve numbers of draws, so it takes about six times as long as the summary of all.
    ///
    /// With `superchains` R-hat is nested, as in [`octopus_diag::summary_of_many`].
    ///
    /// # Errors
    /// When the diagnostics fail for a variable that has rows.
    pub fn from_posterior(
        posterior: &Dataset,
        summary: &[SummaryRow],
        superchains: Option<usize>,
    ) -> Result<Self, DiagError> {
        let names: HashSet<&str> = summary.iter().map(|row| row.name.as_str()).collect();
        let shown = variables(posterior, &names);
        let (chains, all) = shown.variables.values().next().map_or((0, 0), |array| (array.shape[0], array.shape[1]));
        let mut draws: Vec<usize> = (1..=POINTS).map(|i| i * all / POINTS).filter(|&n| n >= FEWEST_DRAWS).collect();
        draws.dedup();
        let mut parameters: Vec<ConvergenceSeries> = Vec::new();
        for &draws in &draws {
            let mut rows = summarise(&first_draws(&shown, draws), superchains)?.parameters;
            rows.retain(|row| names.contains(row.name.as_str()));
            if parameters.is_empty() {
                let empty = |name: &String| ConvergenceSeries {
                    name: name.clone(),
                    rhat: Vec::new(),
                    ess_bulk: Vec::new(),
                    ess_tail: Vec::new(),
                };
                parameters = rows.iter().map(|row| empty(&row.name)).collect();
            }
            // The same variables each time, so the same order.
            for (series, row) in parameters.iter_mut().zip(rows) {
                series.rhat.push(row.rhat);
                series.ess_bulk.push(row.ess_bulk);
                series.ess_tail.push(row.ess_tail);
            }
        }
        Ok(Self { draws, chains, superchains, parameters })
    }
}

/// Returns the variables of numbers with an element among `names`.
fn variables(posterior: &Dataset, names: &HashSet<&str>) -> Dataset {
    let mut shown = Dataset { coords: posterior.coords.clone(), ..Dataset::default() };
    for element in elements(posterior).filter(|element| names.contains(element.name.as_str())) {
        if !shown.variables.contains_key(element.variable)
            && let Some(array) = posterior.variables.get(element.variable)
        {
            shown.variables.insert(element.variable.to_owned(), array.clone());
        }
    }
    shown
}

#[cfg(test)]
mod tests;
