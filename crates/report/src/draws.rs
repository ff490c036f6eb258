//! Draws of single scalars out of a posterior's arrays.

use octopus_diag::{DEFAULT_PROB, DiagError, Summary, summary, summary_of_many};
use octopus_trace::{Array, Dataset, Values};

/// One scalar of a dataset whose arrays start with the axes `chain` and `draw`.
#[derive(Clone, Debug)]
pub(crate) struct ElementDraws<'a> {
    pub(crate) variable: &'a str,
    pub(crate) name: String,
    /// Whether the variable has no further axes.
    pub(crate) scalar: bool,
    values: &'a Values,
    pub(crate) chains: usize,
    pub(crate) draws: usize,
    index: usize,
    stride: usize,
}

/// Returns the first `draws` draws of each chain of all variables of numbers; what has fewer keeps all it has.
pub(crate) fn first_draws(posterior: &Dataset, draws: usize) -> Dataset {
    fn cut<T: Copy>(values: &[T], draws: usize, array: &Array) -> Vec<T> {
        let width: usize = array.elements(2);
        let chains = values.chunks((array.shape[1] * width).max(1));
        chains.flat_map(|chain| &chain[..(draws * width).min(chain.len())]).copied().collect()
    }
    let mut first = Dataset { coords: posterior.coords.clone(), ..Dataset::default() };
    for (name, array) in posterior.variables.iter().filter(|(_, array)| array.is_sampled()) {
        let values = match &array.values {
            Values::F64(values) => Values::F64(cut(values, draws, array)),
            Values::I64(values) => Values::I64(cut(values, draws, array)),
            Values::Bool(values) => Values::Bool(cut(values, draws, array)),
            Values::Strings(_) => continue,
        };
        let mut shape = array.shape.clone();
        shape[1] = shape[1].min(draws);
        first.variables.insert(name.clone(), Array { dims: array.dims.clone(), shape, values });
    }
    first
}

/// Returns the summary of all numbers; with `superchains` groups of chains that began together.
pub(crate) fn summarise(posterior: &Dataset, superchains: Option<usize>) -> Result<Summary, DiagError> {
    match superchains {
        Some(groups) => summary_of_many(posterior, DEFAULT_PROB, groups),
        None => summary(posterior, DEFAULT_PROB),
    }
}

/// All scalars, in the order of the dataset; what has no chains and draws is left out.
pub(crate) fn elements(posterior: &Dataset) -> impl Iterator<Item = ElementDraws<'_>> {
    posterior.variables.iter().filter(|(_, array)| array.is_sampled() && array.values.is_numeric()).flat_map(
        move |(variable, array)| {
            let stride: usize = array.shape[2..].iter().product();
            let (chains, draws) = (array.shape[0], array.shape[1]);
            let complete = array.values.len() == chains * draws * stride;
            (0..if complete { stride } else { 0 }).map(move |index| ElementDraws {
                variable,
                name: posterior.element_name(variable, 2, index),
                scalar: array.shape.len() == 2,
                values: &array.values,
                chains,
                draws,
                index,
                stride,
            })
        },
    )
}

impl ElementDraws<'_> {
    /// Returns the draws of each chain.
    pub(crate) fn chains(&self) -> Vec<Vec<f64>> {
        (0..self.chains)
            .map(|chain| {
                (0..self.draws).map(|draw| self.value((chain * self.draws + draw) * self.stride + self.index)).collect()
            })
            .collect()
    }

    /// Returns the draws of all chains, one chain after the other.
    pub(crate) fn pooled(&self) -> Vec<f64> {
        self.chains().concat()
    }

    fn value(&self, at: usize) -> f64 {
        number(self.values, at)
    }
}

/// One of the values as a number.
pub(crate) fn number(values: &Values, at: usize) -> f64 {
    match values {
        Values::F64(values) => values[at],
        Values::I64(values) => values[at] as f64,
        Values::Bool(values) => f64::from(u8::from(values[at])),
        // Words have no place on an axis.
        Values::Strings(_) => f64::NAN,
    }
}

/// Returns the statistic that ArviZ calls `name`, which has one value for each draw.
pub(crate) fn statistic<'a>(sample_stats: &'a Dataset, name: &str) -> Option<ElementDraws<'a>> {
    let (known, _) = sample_stats.statistic(name)?;
    elements(sample_stats).find(|element| element.scalar && element.variable == known)
}

/// Returns the draws of each chain whose transition diverged, from `sample_stats`; empty without that statistic.
pub(crate) fn divergences(sample_stats: &Dataset) -> Vec<Vec<usize>> {
    statistic(sample_stats, "diverging")
        .map(|element| {
            let marked =
                |chain: Vec<f64>| chain.iter().enumerate().filter(|&(_, &v)| v != 0.0).map(|(draw, _)| draw).collect();
            element.chains().into_iter().map(marked).collect()
        })
        .unwrap_or_default()
}

/// Returns for each draw, chain after chain, whether its transition diverged; empty where the statistic is missing.
pub(crate) fn diverging(sample_stats: &Dataset) -> Vec<bool> {
    statistic(sample_stats, "diverging")
        .map(|element| element.pooled().iter().map(|&v| v != 0.0).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_each_element_of_each_chain() {
        let mut posterior = Dataset::default();
        posterior.coords.insert("h".to_owned(), octopus_trace::Labels::Range(3));
        let array = |dims: &[&str], shape: &[usize], values: Values| Array {
            dims: dims.iter().map(|&d| d.to_owned()).collect(),
            shape: shape.to_vec(),
            values,
        };
        let values = (0..12).map(f64::from).collect();
        posterior.variables.insert("x".into(), array(&["chain", "draw", "g"], &[2, 3, 2], Values::F64(values)));
        posterior.variables.insert("n".into(), array(&["chain", "draw"], &[2, 3], Values::I64(vec![1, 2, 3, 4, 5, 6])));
        posterior.variables.insert("odd".into(), array(&["g"], &[2], Values::I64(vec![1, 2])));
        let found: Vec<_> = elements(&posterior).collect();
        assert_eq!(found.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["x[0]", "x[1]", "n"]);
        assert_eq!(found[1].chains(), [[1.0, 3.0, 5.0], [7.0, 9.0, 11.0]]);
        assert_eq!(found[2].pooled(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(found[2].scalar && !found[0].scalar);
        let first = first_draws(&posterior, 2);
        assert_eq!(first.coords, posterior.coords);
        let of_x: Vec<_> = elements(&first).map(|element| element.chains()).collect();
        assert_eq!(of_x, [[[0.0, 2.0], [6.0, 8.0]], [[1.0, 3.0], [7.0, 9.0]], [[1.0, 2.0], [4.0, 5.0]]]);
        assert_eq!(first_draws(&posterior, 9).get("x"), posterior.get("x"));

        let flags = Values::Bool(vec![false, true, false, true, false, true]);
        // ArviZ's name, CmdStan's, and BlackJAX's: pictures mark what the diagnosis counts.
        for name in ["diverging", "divergent__", "divergent"] {
            let mut stats = Dataset::default();
            stats.variables.insert(name.into(), array(&["chain", "draw"], &[2, 3], flags.clone()));
            assert_eq!(divergences(&stats), [vec![1], vec![0, 2]], "{name}");
            assert_eq!(diverging(&stats), [false, true, false, true, false, true], "{name}");
        }
        assert!(divergences(&posterior).is_empty());
    }
}
