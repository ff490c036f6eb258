//! The true values behind made-up data.

use crate::synthetic::HierarchicalSpec;
use octopus_density::Layout;
use std::collections::HashMap;

/// The parameters that made a data set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Truth {
    mu_pop: f64,
    sigma_pop: f64,
    sigma_obs: f64,
    group_means: Vec<f64>,
}

impl Truth {
    pub(super) fn new(spec: &HierarchicalSpec, group_means: Vec<f64>) -> Self {
        Self { mu_pop: spec.mean, sigma_pop: spec.between_sd, sigma_obs: spec.within_sd, group_means }
    }

    /// Returns the true value of element `index` of a variable of the model; `None` where there is none.
    pub(super) fn value(&self, variable: &str, index: usize) -> Option<f64> {
        match variable {
            "mu_pop" => Some(self.mu_pop),
            "sigma_pop" => Some(self.sigma_pop),
            "sigma_obs" => Some(self.sigma_obs),
            "mu_group" => self.group_means.get(index).copied(),
            // Without spread between groups the standardised deviation means nothing.
            "z" if self.sigma_pop > 0.0 => self.group_means.get(index).map(|m| (m - self.mu_pop) / self.sigma_pop),
            _ => None,
        }
    }

    /// Returns the true values by element name, e.g. `mu_group[7]`.
    pub(super) fn by_name(&self, layout: &Layout) -> HashMap<String, f64> {
        let elements = layout.variables.iter().flat_map(|v| (0..v.len()).map(move |index| (v, index)));
        elements.filter_map(|(v, index)| Some((v.element_name(index), self.value(&v.name, index)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_standardised() {
        let truth = Truth::new(&HierarchicalSpec::default(), vec![50.0, 65.0]);
        assert_eq!(truth.value("z", 1), Some(1.5));
        assert_eq!(truth.value("mu_group", 1), Some(65.0));
        assert_eq!((truth.value("mu_group", 2), truth.value("lp", 0)), (None, None));
    }

    #[test]
    fn groups_that_hardly_differ_are_standardised_and_those_that_do_not_are_not() {
        let truth =
            |between_sd| Truth::new(&HierarchicalSpec { between_sd, ..HierarchicalSpec::default() }, vec![50.25]);
        assert_eq!((truth(0.5).value("z", 0), truth(0.0).value("z", 0)), (Some(0.5), None));
    }
}
