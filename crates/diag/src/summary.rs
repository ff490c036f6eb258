//! The summary of a posterior: one row for each number of it, computed in parallel.
//!
//! The default share of the draws inside intervals (HDI and ETI, 89%; `--prob`) stands here; columns are in
//! `parameter.rs`, statistics in `element.rs`.

pub(crate) mod digits;
pub(crate) mod element;
mod json;
pub mod parameter;
pub(crate) mod table;

pub(crate) use json::summary_fields;

use crate::chains::Chains;
use crate::error::{DiagError, interval_probability};
use crate::estimators::ess::ess_mean;
use crate::numbers::columns;
use crate::numbers::pool::WorkspacePool;
use crate::summary::element::ElementWorkspace;
use crate::summary::parameter::ParameterSummary;
use octopus_trace::{Array, Dataset, Values};
use rayon::prelude::*;

/// The share of the draws inside the intervals of a summary, unless told otherwise.
pub const DEFAULT_PROB: f64 = 0.89;

/// The summary of a posterior: one row for each element of each variable, in the variables' order.
///
/// As JSON it is the first half of [`Diagnosis`](crate::Diagnosis); what is not finite is `null`.
/// `Display` shows a table, [`to_text`](Self::to_text) one of any length.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The share of the draws inside the intervals.
    pub prob: f64,
    /// The number of chains.
    pub chains: usize,
    /// The number of draws of each chain.
    pub draws: usize,
    /// The number of superchains that it was made with; none for [`summary`].
    pub superchains: Option<usize>,
    /// The rows.
    pub parameters: Vec<ParameterSummary>,
}

impl Summary {
    /// Returns the row with the largest R-hat; none where no R-hat is defined.
    pub fn worst_rhat(&self) -> Option<&ParameterSummary> {
        self.defined(|p| p.rhat).max_by(|a, b| a.rhat.total_cmp(&b.rhat))
    }

    /// Returns the row with the smallest bulk effective sample size; none where none is defined.
    pub fn worst_ess_bulk(&self) -> Option<&ParameterSummary> {
        self.defined(|p| p.ess_bulk).min_by(|a, b| a.ess_bulk.total_cmp(&b.ess_bulk))
    }

    /// Returns the row with the smallest tail effective sample size; none where none is defined.
    pub fn worst_ess_tail(&self) -> Option<&ParameterSummary> {
        self.defined(|p| p.ess_tail).min_by(|a, b| a.ess_tail.total_cmp(&b.ess_tail))
    }

    /// Returns the largest R-hat; NaN where none is defined.
    pub fn max_rhat(&self) -> f64 {
        self.worst_rhat().map_or(f64::NAN, |p| p.rhat)
    }

    /// Returns the smallest bulk effective sample size; NaN where none is defined.
    pub fn min_ess_bulk(&self) -> f64 {
        self.worst_ess_bulk().map_or(f64::NAN, |p| p.ess_bulk)
    }

    /// Returns the smallest tail effective sample size; NaN where none is defined.
    pub fn min_ess_tail(&self) -> f64 {
        self.worst_ess_tail().map_or(f64::NAN, |p| p.ess_tail)
    }

    /// Returns the row called `name`.
    pub fn get(&self, name: &str) -> Option<&ParameterSummary> {
        self.parameters.iter().find(|p| p.name == name)
    }

    fn defined(&self, f: impl Fn(&ParameterSummary) -> f64) -> impl Iterator<Item = &ParameterSummary> {
        self.parameters.iter().filter(move |p| !f(p).is_nan())
    }
}

/// Summarises every element of every variable of `posterior`, whose variables are
/// `chain x draw x ...`, with intervals that hold a share `prob` of the draws. `az.summary`. Variables of
/// words, or without chains and draws, which other programs' traces may hold, are left out.
///
/// # Errors
/// [`DiagError::Probability`] when `prob` is not above 0 and at most 1; [`DiagError::NoVariables`] when
/// there is nothing to summarise; [`DiagError::Dimensions`], [`DiagError::Values`] and
/// [`DiagError::Disagree`] name the variable that is not `chain x draw x ...` where none is, is damaged, or has another
/// number of chains or draws than the first.
pub fn summary(posterior: &Dataset, prob: f64) -> Result<Summary, DiagError> {
    summarise(posterior, prob, None)
}

/// Summarises many short chains in `superchains` groups of consecutive chains that began together. R-hat is the larger
/// [nested R-hat](crate::rhat_nested) of the normal scores of the ranks and of the folded ranks. For chains with fewer
/// than 100 draws, effective sample sizes and standard errors are estimated from the [spread of the chains'
/// means](crate::ess_mean_of_chains). All else is as in [`summary`].
///
/// # Errors
/// When [`summary`] fails; [`DiagError::Superchains`] when the chains cannot be divided into `superchains` equal
/// groups.
pub fn summary_of_many(posterior: &Dataset, prob: f64, superchains: usize) -> Result<Summary, DiagError> {
    summarise(posterior, prob, Some(superchains))
}

pub(crate) fn summarise(posterior: &Dataset, prob: f64, superchains: Option<usize>) -> Result<Summary, DiagError> {
    interval_probability("prob", prob)?;
    let (chains, draws) = common_shape(posterior)?;
    if let Some(groups) = superchains.filter(|&groups| groups < 2 || !chains.is_multiple_of(groups)) {
        return Err(DiagError::Superchains { what: format!("{groups} of {chains} chains") });
    }
    let workspace = ElementWorkspace::new(chains, draws, superchains);
    let parameters = for_each_element(
        posterior,
        chains * draws,
        || workspace.clone(),
        |workspace, name, element, values| {
            let name = posterior.element_name(name, 2, element);
            Ok(ParameterSummary { name, ..workspace.statistics(values, prob) })
        },
    )?;
    Ok(Summary { prob, chains, draws, superchains, parameters })
}

/// Returns the effective sample size for the mean of each element, with the numbers of chains and draws.
pub(crate) fn summarise_means(posterior: &Dataset) -> Result<(Vec<f64>, usize, usize), DiagError> {
    let (chains, draws) = common_shape(posterior)?;
    let found = for_each_element(
        posterior,
        chains * draws,
        || (),
        |(), _, _, values| Ok(ess_mean(&Chains::new(values, chains, draws)?)),
    )?;
    Ok((found, chains, draws))
}

/// Applies `f` to the `size` values of every element, in parallel, and returns the results in order. `f` is given what
/// `make` made for its thread, the variable's name, the element's place in a draw, and a copy of its values to change.
fn for_each_element<W: Send, T: Send>(
    posterior: &Dataset,
    size: usize,
    make: impl Fn() -> W + Sync,
    f: impl Fn(&mut W, &str, usize, &mut [f64]) -> Result<T, DiagError> + Sync,
) -> Result<Vec<T>, DiagError> {
    let block = columns::block(size, numeric(posterior).map(|(_, array)| array.elements(2)).sum());
    let blocks: Vec<Block> = numeric(posterior)
        .flat_map(|(name, array)| {
            let width = array.elements(2);
            (0..width).step_by(block).map(move |first| Block {
                name,
                array,
                width,
                first,
                count: block.min(width - first),
            })
        })
        .collect();
    let pool = WorkspacePool::new(|| (make(), Vec::new()));
    let work_through = |block: &Block| -> Result<Vec<T>, DiagError> {
        pool.with(|(work, buffer)| {
            block.gather(size, buffer);
            (buffer.chunks_exact_mut(size).zip(block.first..))
                .map(|(values, element)| f(work, block.name, element, values))
                .collect()
        })
    };
    let found: Vec<Vec<T>> = blocks.par_iter().map(work_through).collect::<Result<_, DiagError>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// Neighbouring elements of one variable.
struct Block<'a> {
    name: &'a str,
    array: &'a Array,
    width: usize,
    first: usize,
    count: usize,
}

impl Block<'_> {
    /// Writes the elements to `out`, one after the other, `size` values each.
    fn gather(&self, size: usize, out: &mut Vec<f64>) {
        out.resize(self.count * size, 0.0);
        let (width, first, count) = (self.width, self.first, self.count);
        match &self.array.values {
            Values::F64(values) => columns::gather(values, width, first, count, |v| v, out),
            Values::I64(values) => columns::gather(values, width, first, count, |v| v as f64, out),
            Values::Bool(values) => columns::gather(values, width, first, count, |v| f64::from(u8::from(v)), out),
            Values::Strings(_) => out.fill(f64::NAN),
        }
    }
}

/// Returns the variables that have numbers for each draw: words and constants have no summary.
pub(crate) fn numeric(group: &Dataset) -> impl Iterator<Item = (&String, &Array)> {
    group.variables.iter().filter(|(_, array)| array.values.is_numeric() && array.is_sampled())
}

/// Returns the chains and draws of all variables that have values.
fn common_shape(group: &Dataset) -> Result<(usize, usize), DiagError> {
    let mut common: Option<(&str, (usize, usize))> = None;
    for (name, array) in numeric(group) {
        let found = sampled_shape(name, array)?;
        if array.values.is_empty() {
            continue;
        }
        match common {
            None => common = Some((name, found)),
            Some((first, expected)) if expected != found => {
                return Err(DiagError::Disagree { variable: name.clone(), first: first.to_owned(), found, expected });
            }
            Some(_) => {}
        }
    }
    common.map(|(_, shape)| shape).ok_or_else(|| {
        let of_numbers = group.variables.iter().find(|(_, array)| array.values.is_numeric() && !array.is_sampled());
        of_numbers.map_or(DiagError::NoVariables, |(name, array)| not_sampled(name, array))
    })
}

fn not_sampled(name: &str, array: &Array) -> DiagError {
    DiagError::Dimensions { variable: name.to_owned(), dims: array.dims.clone() }
}

/// Returns the chains and draws of a sampled variable.
pub(crate) fn sampled_shape(name: &str, array: &Array) -> Result<(usize, usize), DiagError> {
    if !array.is_sampled() {
        return Err(not_sampled(name, array));
    }
    let size = array.shape.iter().try_fold(1usize, |n, &len| n.checked_mul(len));
    if array.shape.len() != array.dims.len() || size != Some(array.values.len()) {
        return Err(DiagError::Values {
            variable: name.to_owned(),
            shape: array.shape.clone(),
            values: array.values.len(),
        });
    }
    Ok((array.shape[0], array.shape[1]))
}
