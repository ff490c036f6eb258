//! Convergence of all parameters while the run went on: R-hat and effective sample sizes of the first draws.

mod draw;

use std::collections::HashSet;

use octopus_diag::{DEFAULT_PROB, DiagError, Summary, summary_of_many};
use octopus_trace::{Array, Dataset, Values};

use crate::summary::SummaryRow;

/// Points along the run.
const POINTS: usize = 12;

/// Fewer draws of a chain have no diagnostics.
const FEWEST_DRAWS: usize = 4;

/// R-hat and effective sample sizes of every parameter against the draws made so far.
#[derive(Clone, Debug)]
pub struct ConvergencePlot {
    /// How many first draws of each chain each point uses.
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
    /// Its name.
    pub name: String,
    /// R-hat.
    pub rhat: Vec<f64>,
    /// Bulk effective sample size.
    pub ess_bulk: Vec<f64>,
    /// Tail effective sample size.
    pub ess_tail: Vec<f64>,
}

impl ConvergencePlot {
    /// Every parameter of `posterior` that has a row in `summary`, by [`octopus_diag::summary`] of the first draws:
    /// twelve numbers of draws, so it takes about six times as long as the summary of all.
    ///
    /// With `superchains` R-hat is nested, as in [`octopus_diag::summary_of_many`].
    ///
    /// # Errors
    /// What those functions say of the variables that have rows.
    pub fn from_posterior(
        posterior: &Dataset,
        summary: &[SummaryRow],
        superchains: Option<usize>,
    ) -> Result<Self, DiagError> {
        let names: HashSet<&str> = summary.iter().map(|row| row.name.as_str()).collect();
        let shown = variables(posterior, &names);
        let (chains, all) = shown.first().map_or((0, 0), |(_, array)| (array.shape[0], array.shape[1]));
        let mut draws: Vec<usize> = (1..=POINTS).map(|i| i * all / POINTS).filter(|&n| n >= FEWEST_DRAWS).collect();
        draws.dedup();
        let mut parameters: Vec<ConvergenceSeries> = Vec::new();
        for &draws in &draws {
            let first = Dataset {
                variables: shown.iter().map(|(name, array)| ((*name).clone(), first_draws(array, draws))).collect(),
                coords: posterior.coords.clone(),
                attrs: Default::default(),
            };
            let mut rows = summarise(&first, superchains)?.parameters;
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

fn summarise(posterior: &Dataset, superchains: Option<usize>) -> Result<Summary, DiagError> {
    match superchains {
        Some(groups) => summary_of_many(posterior, DEFAULT_PROB, groups),
        None => octopus_diag::summary(posterior, DEFAULT_PROB),
    }
}

/// The variables of numbers with an element among `names`.
fn variables<'a>(posterior: &'a Dataset, names: &HashSet<&str>) -> Vec<(&'a String, &'a Array)> {
    let mut shown: Vec<(&String, &Array)> = Vec::new();
    for element in crate::draws::elements(posterior).filter(|element| names.contains(element.name.as_str())) {
        if shown.last().is_none_or(|(name, _)| *name != element.variable)
            && let Some((name, array)) = posterior.variables.get_key_value(element.variable)
        {
            shown.push((name, array));
        }
    }
    shown
}

/// `chain x draw x ...` cut after `draws` draws.
fn first_draws(array: &Array, draws: usize) -> Array {
    let width: usize = array.shape[2..].iter().product();
    let mut shape = array.shape.clone();
    shape[1] = draws;
    let values = match &array.values {
        Values::F64(values) => Values::F64(cut(values, array.shape[1] * width, draws * width)),
        Values::I64(values) => Values::I64(cut(values, array.shape[1] * width, draws * width)),
        Values::Bool(values) => Values::Bool(cut(values, array.shape[1] * width, draws * width)),
        Values::Strings(values) => Values::Strings(cut(values, array.shape[1] * width, draws * width)),
    };
    Array { dims: array.dims.clone(), shape, values }
}

/// The first `kept` of each `row` values.
fn cut<T: Clone>(values: &[T], row: usize, kept: usize) -> Vec<T> {
    values.chunks(row.max(1)).flat_map(|chunk| &chunk[..kept.min(chunk.len())]).cloned().collect()
}

#[cfg(test)]
mod tests;
