//! Observations and their replicates out of a trace's groups.

use octopus_trace::{Array, Dataset};

use crate::draws::number;

/// Observations of one variable beside data sets drawn from the fitted model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Predictive {
    pub(crate) observed: Vec<f64>,
    pub(crate) replicates: Vec<Vec<f64>>,
}

impl Predictive {
    /// `variable`, or the first one of `observed_data` that `posterior_predictive` has draws of with as many values.
    /// Of more than `most` draws as many, evenly chosen, are taken.
    pub(crate) fn from_groups(
        observed_data: &Dataset,
        posterior_predictive: &Dataset,
        variable: Option<&str>,
        most: usize,
    ) -> Option<Self> {
        let wanted = observed_data.variables.iter().filter(|(name, _)| variable.is_none_or(|v| v == name.as_str()));
        wanted.into_iter().find_map(|(name, observed)| of(observed, posterior_predictive.get(name)?, most))
    }
}

fn of(observed: &Array, predictive: &Array, most: usize) -> Option<Predictive> {
    let size = observed.values.len();
    let draws = predictive.chains() * predictive.draws();
    if size == 0 || draws == 0 || predictive.values.len() != draws * size {
        return None;
    }
    let values = |array: &Array, from: usize| (from..from + size).map(|at| number(&array.values, at)).collect();
    let every = draws.div_ceil(most.max(1));
    let replicates = (0..draws).step_by(every).map(|draw| values(predictive, draw * size)).collect();
    Some(Predictive { observed: values(observed, 0), replicates })
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::Values;

    #[test]
    fn draws_of_the_observed_variable_are_evenly_chosen() {
        let (mut observed, mut predictive) = (Dataset::default(), Dataset::default());
        let ramp = |n: u32| Values::F64((0..n).map(f64::from).collect());
        observed.insert("other", Array::new([("i", 2)], ramp(2)));
        observed.insert("y", Array::new([("i", 3)], Values::I64(vec![7, 8, 9])));
        predictive.insert("y", Array::new([("chain", 2), ("draw", 2), ("i", 3)], ramp(12)));
        let all = Predictive::from_groups(&observed, &predictive, None, 9).unwrap();
        assert_eq!(all.observed, [7.0, 8.0, 9.0]);
        assert_eq!(all.replicates[1], [3.0, 4.0, 5.0]);
        let few = Predictive::from_groups(&observed, &predictive, Some("y"), 3).unwrap();
        assert_eq!(few.replicates, [[0.0, 1.0, 2.0], [6.0, 7.0, 8.0]]);
        assert_eq!(Predictive::from_groups(&observed, &predictive, Some("other"), 3), None);
        predictive.insert("y", Array::new([("chain", 2), ("draw", 2), ("i", 2)], ramp(8)));
        assert_eq!(Predictive::from_groups(&observed, &predictive, None, 3), None, "another number of values");
    }
}
