//! Log likelihoods of observations at draws, seen in place, and worked through in parallel.

use crate::error::DiagError;
use crate::numbers::columns;
use crate::numbers::pool::WorkspacePool;
use crate::summary::sampled_shape;
use octopus_trace::{Array, Dataset, Values};
use rayon::prelude::*;
use std::borrow::Cow;

/// The log likelihood of each observation at each draw: what [`loo`](crate::loo), [`waic`](crate::waic) and
/// [`loo_pit`](crate::loo_pit) read. It borrows the values and copies none but those of the observations at work.
///
/// ```
/// use octopus_diag::{LogLikelihood, waic};
/// // 3 draws of 2 observations.
/// let values = [-1.0, -2.0, -1.1, -2.1, -0.9, -1.9];
/// let found = waic(&LogLikelihood::new(&values, 3, 2)?);
/// assert_eq!(found.pointwise.len(), 2);
/// # Ok::<(), octopus_diag::DiagError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogLikelihood<'a> {
    samples: usize,
    parts: Vec<LikelihoodVariable<'a>>,
    /// The group that was read, which names observations.
    group: Option<&'a Dataset>,
}

/// One variable: `samples x width`, row-major.
#[derive(Clone, Debug)]
struct LikelihoodVariable<'a> {
    name: String,
    values: Cow<'a, [f64]>,
    width: usize,
}

impl<'a> LogLikelihood<'a> {
    /// Views `values` as `samples` rows (the draws, of all chains one after the other) of `observations` values.
    ///
    /// # Errors
    /// [`DiagError::Empty`] without samples or observations, [`DiagError::Shape`] when `values` has another length.
    pub fn new(values: &'a [f64], samples: usize, observations: usize) -> Result<Self, DiagError> {
        if samples == 0 || observations == 0 {
            return Err(DiagError::Empty { chains: samples, draws: observations });
        }
        if samples.checked_mul(observations) != Some(values.len()) {
            return Err(DiagError::Shape { chains: samples, draws: observations, values: values.len() });
        }
        let part = LikelihoodVariable { name: String::new(), values: Cow::Borrowed(values), width: observations };
        Ok(Self { samples, parts: vec![part], group: None })
    }

    /// Takes the variables `names` of a group `log_likelihood`, each `chain x draw x ...`; without names its only
    /// variable. Every element of every variable is an observation, in the order of the names.
    ///
    /// # Errors
    /// [`DiagError::Variable`] when a name is not there, [`DiagError::Several`] when none is given and there is not
    /// exactly one variable; [`DiagError::Dimensions`], [`DiagError::Values`] and [`DiagError::Disagree`] when a
    /// variable is not `chain x draw x ...`, is damaged, or has another number of chains or draws than the first.
    pub fn read(group: &'a Dataset, names: &[&str]) -> Result<Self, DiagError> {
        let names = if names.is_empty() { vec![only_variable(group)?] } else { names.to_vec() };
        let mut parts = Vec::new();
        let mut shape = None;
        for name in &names {
            let array = variable(group, name)?;
            let found = sampled_shape(name, array)?;
            let expected = *shape.get_or_insert(found);
            if found != expected {
                let (variable, first) = ((*name).to_owned(), names[0].to_owned());
                return Err(DiagError::Disagree { variable, first, found, expected });
            }
            parts.push(LikelihoodVariable { name: (*name).to_owned(), values: reals(array), width: array.elements(2) });
        }
        let samples = shape.map_or(0, |(chains, draws)| chains * draws);
        let found = Self { samples, parts, group: Some(group) };
        if samples == 0 || found.observations() == 0 {
            return Err(DiagError::Empty { chains: samples, draws: found.observations() });
        }
        Ok(found)
    }

    /// Returns the number of draws, of all chains together.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Returns the number of observations.
    pub fn observations(&self) -> usize {
        self.parts.iter().map(|part| part.width).sum()
    }

    /// Returns the name of an observation, with its labels, e.g. `y[berlin]`; its number where no group was read.
    pub fn name(&self, observation: usize) -> String {
        let mut rest = observation;
        for part in &self.parts {
            match self.group {
                Some(group) if rest < part.width => return group.element_name(&part.name, 2, rest),
                Some(_) => rest -= part.width,
                None => break,
            }
        }
        observation.to_string()
    }

    /// Returns what tells the observations apart, in order: their labels alone where one variable was read, else their
    /// names.
    pub fn labels(&self) -> Vec<String> {
        let only = self.parts.len() == 1;
        let label = |observation: usize| {
            let name = self.name(observation);
            match name.split_once('[').and_then(|(_, labels)| labels.strip_suffix(']')) {
                Some(labels) if only => labels.to_owned(),
                _ => name,
            }
        };
        (0..self.observations()).map(label).collect()
    }

    /// Returns how many log likelihoods of an observation are NaN or infinite.
    pub fn not_finite(&self, observation: usize) -> usize {
        let mut rest = observation;
        for part in &self.parts {
            if rest < part.width {
                return part.values.iter().skip(rest).step_by(part.width).filter(|v| !v.is_finite()).count();
            }
            rest -= part.width;
        }
        0
    }

    /// Applies `f` to each observation's log likelihoods, and returns the results in order. `make` makes what `f` keeps
    /// between calls.
    pub(crate) fn map<W: Send, T: Send>(
        &self,
        make: impl Fn() -> W + Sync,
        f: impl Fn(&mut W, usize, &[f64]) -> T + Sync,
    ) -> Vec<T> {
        let make = || (make(), Vec::new());
        let block = columns::block(self.samples, self.observations());
        let pool = WorkspacePool::new(make);
        let found: Vec<Vec<T>> = (self.blocks(block).into_par_iter())
            .map(|(first, columns)| {
                pool.with(|(work, buffer)| {
                    buffer.resize(columns.count * self.samples, 0.0);
                    columns::gather(columns.values, columns.width, columns.first, columns.count, |v| v, buffer);
                    (buffer.chunks_exact(self.samples).zip(first..))
                        .map(|(column, observation)| f(work, observation, column))
                        .collect()
                })
            })
            .collect();
        found.into_iter().flatten().collect()
    }

    /// Divides the observations into blocks of at most `most` neighbours of one variable, each with the number of its
    /// first.
    pub(crate) fn blocks(&self, most: usize) -> Vec<(usize, Columns<'_>)> {
        let starts = self.parts.iter().scan(0, |start, part| Some(std::mem::replace(start, *start + part.width)));
        (starts.zip(&self.parts))
            .flat_map(|(start, part)| {
                let (values, width) = (&*part.values, part.width);
                (0..width)
                    .step_by(most)
                    .map(move |first| (start + first, Columns { values, width, first, count: most.min(width - first) }))
            })
            .collect()
    }
}

/// Neighbouring columns of a row-major matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a> {
    /// The whole matrix.
    pub(crate) values: &'a [f64],
    /// The number of columns of `values`.
    pub(crate) width: usize,
    /// The number of the first column.
    pub(crate) first: usize,
    /// How many these are.
    pub(crate) count: usize,
}

/// Returns the values as real numbers, in place where they are.
pub(crate) fn reals(array: &Array) -> Cow<'_, [f64]> {
    match &array.values {
        Values::F64(values) => Cow::Borrowed(values),
        other => Cow::Owned(other.to_f64()),
    }
}

/// Returns the variable `name` of a group; it must be there.
pub(crate) fn variable<'a>(group: &'a Dataset, name: &str) -> Result<&'a Array, DiagError> {
    group.get(name).ok_or_else(|| DiagError::Variable { variable: name.to_owned(), known: names_of(group) })
}

fn only_variable(group: &Dataset) -> Result<&str, DiagError> {
    let mut names = group.variables.keys();
    match (names.next(), names.next()) {
        (Some(name), None) => Ok(name),
        _ => Err(DiagError::Several { known: names_of(group) }),
    }
}

fn names_of(group: &Dataset) -> Vec<String> {
    group.variables.keys().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::Labels;

    fn group() -> Dataset {
        let mut group = Dataset::default();
        let values = |n: usize| Values::F64((0..n).map(|i| i as f64).collect());
        group.insert("y", Array::new([("chain", 2), ("draw", 3), ("i", 20)], values(120)));
        group.insert("n", Array::new([("chain", 2), ("draw", 3)], Values::I64((0..6).collect())));
        group.insert("short", Array::new([("chain", 2), ("draw", 2)], values(4)));
        group
    }

    #[test]
    fn every_element_is_an_observation_in_order() {
        let group = group();
        let both = LogLikelihood::read(&group, &["n", "y"]).unwrap();
        assert_eq!((both.samples(), both.observations()), (6, 21));
        let columns = both.map(|| (), |(), i, column| (i, column.to_vec()));
        assert_eq!(columns[0], (0, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(columns[19], (19, vec![18.0, 38.0, 58.0, 78.0, 98.0, 118.0]));
        assert_eq!(columns.len(), 21);
    }

    #[test]
    fn observations_have_names_and_labels() {
        let mut group = group();
        group.coords.insert("i".into(), Labels::Strings((0..20).map(|i| format!("city {i}")).collect()));
        let (both, one) =
            (LogLikelihood::read(&group, &["n", "y"]).unwrap(), LogLikelihood::read(&group, &["y"]).unwrap());
        assert_eq!([both.name(0), both.name(3)], ["n", "y[city 2]"]);
        assert_eq!(one.labels()[19], "city 19");
        assert_eq!(both.labels()[..2], ["n", "y[city 0]"]);
        let values = [1.0, f64::NAN, 2.0, f64::INFINITY, 0.0, 3.0];
        let plain = LogLikelihood::new(&values, 3, 2).unwrap();
        assert_eq!((plain.name(1), [0, 1, 2].map(|i| plain.not_finite(i))), ("1".to_owned(), [0, 2, 0]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let group = group();
        let error = |names: &[&str]| LogLikelihood::read(&group, names).unwrap_err();
        assert!(matches!(error(&["z"]), DiagError::Variable { variable, .. } if variable == "z"));
        assert!(error(&[]).to_string().contains("y, n, short"), "{}", error(&[]));
        assert!(matches!(error(&["y", "short"]), DiagError::Disagree { .. }));
        let mut empty = Dataset::default();
        empty.insert("draws", Array::new([("chain", 2), ("draw", 0), ("i", 3)], Values::F64(Vec::new())));
        empty.insert("width", Array::new([("chain", 2), ("draw", 3), ("i", 0)], Values::F64(Vec::new())));
        for (name, chains, draws) in [("draws", 0, 3), ("width", 6, 0)] {
            assert_eq!(LogLikelihood::read(&empty, &[name]).unwrap_err(), DiagError::Empty { chains, draws }, "{name}");
        }
        assert!(LogLikelihood::new(&[], 0, 1).is_err() && LogLikelihood::new(&[1.0], 1, 2).is_err());
    }
}
