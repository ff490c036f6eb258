//! Observations, and what a model predicts in their place, out of a trace's groups.

use octopus_trace::{Array, Dataset};

/// Observations of one variable, and data sets drawn from the fitted model.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// The observations.
    pub observed: Vec<f64>,
    /// Data sets by observations, row-major.
    pub predicted: Vec<f64>,
}

impl Predictions {
    /// Pairs observations with predictions of the first variable that both groups have, with equally many values; where
    /// they have no name in common, of the only variable of each. Returns `None` when nothing in them belongs together.
    pub fn from_groups(observed_data: &Dataset, posterior_predictive: &Dataset) -> Option<Self> {
        pairs(observed_data, posterior_predictive).into_iter().find(fit).map(Self::of_pair)
    }

    /// Pairs observations with predictions of the variable `name`; `None` when the groups do not both have it, with equally
    /// many values.
    pub fn of_variable(observed_data: &Dataset, posterior_predictive: &Dataset, name: &str) -> Option<Self> {
        let pair = (observed_data.get(name)?, posterior_predictive.get(name)?);
        fit(&pair).then(|| Self::of_pair(pair))
    }

    fn of_pair((truth, array): (&Array, &Array)) -> Self {
        Self { observed: truth.values.to_f64(), predicted: array.values.to_f64() }
    }

    /// Returns at most `most` of the predicted data sets, evenly spread.
    pub fn replicates(&self, most: usize) -> Vec<Vec<f64>> {
        let width = self.observed.len();
        let rows = self.predicted.len() / width.max(1);
        let count = most.min(rows);
        (0..count)
            .map(|k| k * rows / count)
            .map(|row| self.predicted[row * width..(row + 1) * width].to_vec())
            .collect()
    }
}

/// Whether predictions have a value for each observation.
fn fit((truth, array): &(&Array, &Array)) -> bool {
    array.is_sampled()
        && array.elements(2) == truth.values.len()
        && !truth.values.is_empty()
        && truth.values.is_numeric()
}

/// Observed and predicted variables of one name; where there are none, the only ones.
fn pairs<'a>(observed: &'a Dataset, predicted: &'a Dataset) -> Vec<(&'a Array, &'a Array)> {
    let numeric = |group: &'a Dataset| group.variables.iter().filter(|(_, array)| array.values.is_numeric());
    let same: Vec<_> = numeric(observed).filter_map(|(name, truth)| Some((truth, predicted.get(name)?))).collect();
    if !same.is_empty() {
        return same;
    }
    let (truths, arrays): (Vec<_>, Vec<_>) = (numeric(observed).collect(), numeric(predicted).collect());
    match (truths.as_slice(), arrays.as_slice()) {
        ([(_, truth)], [(_, array)]) => vec![(*truth, *array)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::Values;

    fn ramp(n: u32) -> Values {
        Values::F64((0..n).map(f64::from).collect())
    }

    #[test]
    fn data_sets_of_the_observed_variable_are_evenly_chosen() {
        let (mut observed, mut predictive) = (Dataset::default(), Dataset::default());
        observed.insert("other", Array::new([("i", 2)], ramp(2)));
        observed.insert("y", Array::new([("i", 3)], Values::I64(vec![7, 8, 9])));
        predictive.insert("y", Array::new([("chain", 2), ("draw", 2), ("i", 3)], ramp(12)));
        let all = Predictions::from_groups(&observed, &predictive).unwrap();
        assert_eq!(all.observed, [7.0, 8.0, 9.0]);
        assert_eq!(all.replicates(9)[1], [3.0, 4.0, 5.0]);
        assert_eq!(all.replicates(2), [[0.0, 1.0, 2.0], [6.0, 7.0, 8.0]]);
        predictive.insert("y", Array::new([("chain", 2), ("draw", 2), ("i", 2)], ramp(8)));
        assert_eq!(Predictions::from_groups(&observed, &predictive), None, "another number of values");
    }

    #[test]
    fn the_only_ones_belong_together_whatever_their_names() {
        let (mut observed, mut predictive) = (Dataset::default(), Dataset::default());
        observed.insert("y", Array::new([("i", 3)], ramp(3)));
        predictive.insert("y_hat", Array::new([("chain", 1), ("draw", 2), ("i", 3)], ramp(6)));
        assert_eq!(Predictions::from_groups(&observed, &predictive).unwrap().replicates(9).len(), 2);
        predictive.insert("z", Array::new([("chain", 1), ("draw", 2), ("i", 3)], ramp(6)));
        assert_eq!(Predictions::from_groups(&observed, &predictive), None);
    }
}
