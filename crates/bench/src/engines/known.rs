//! What is known exactly of the posterior, and how far the draws' means are from it.

use octopus_density::{Layout, LogDensity, Variable};
use octopus_diag::Summary;
use octopus_models::exact::{Exact, Moments};
use std::collections::HashMap;

/// Lists every parameter whose exact moments are known: its variable, its name and its moments.
pub fn known<'a>(
    layout: &'a Layout,
    exact: &'a dyn Exact,
) -> impl Iterator<Item = (&'a Variable, String, Moments)> + 'a {
    let elements = layout.variables.iter().flat_map(|variable| (0..variable.len()).map(move |index| (variable, index)));
    elements.filter_map(|(variable, index)| {
        Some((variable, variable.element_name(index), exact.moments_of(&variable.name, index)?))
    })
}

/// Returns the root mean square error of the means, in exact standard deviations.
pub(super) fn error_of_means(model: &dyn LogDensity, summary: &Summary, exact: &dyn Exact) -> f64 {
    let found: HashMap<&str, f64> = summary.parameters.iter().map(|p| (p.name.as_str(), p.mean)).collect();
    let squares: Vec<f64> = known(model.layout(), exact)
        .filter_map(|(_, name, truth)| Some(((found.get(name.as_str())? - truth.mean) / truth.sd).powi(2)))
        .collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}
