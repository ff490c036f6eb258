//! Every mean and every standard deviation against the exact posterior, in Monte Carlo standard errors.

use crate::problem::Problem;
use anyhow::Result;
use octopus_density::LogDensity;
use octopus_density::exact::{ExactPosterior, Quantity};
use octopus_diag::Diagnosis;
use serde::Serialize;

/// Standard errors allowed for mu_pop, sigma_pop and sigma_obs.
pub(super) const LIMIT_SCALAR: f64 = 4.0;
/// Standard errors allowed for the many z and mu_group, of which the worst is looked at.
pub(super) const LIMIT_ELEMENT: f64 = 5.0;

/// One estimate beside the exact value.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Deviation {
    /// The parameter.
    pub(super) name: String,
    /// `mean` or `sd`.
    pub(super) what: &'static str,
    /// Of the draws.
    pub(super) estimate: f64,
    /// By quadrature.
    pub(super) exact: f64,
    /// The estimate's standard error.
    pub(super) mcse: f64,
    /// The distance in standard errors; infinite where there is no standard error.
    pub(super) distance: f64,
    /// The distance allowed.
    pub(super) limit: f64,
}

impl Deviation {
    /// Whether the distance is allowed.
    pub(super) fn good(&self) -> bool {
        self.distance < self.limit
    }
}

/// All comparisons.
pub(super) struct Comparison {
    /// The exact posterior.
    pub(super) exact: ExactPosterior,
    /// Two of each parameter.
    pub(super) deviations: Vec<Deviation>,
}

impl Comparison {
    /// The comparisons that fail.
    pub(super) fn failures(&self) -> impl Iterator<Item = &Deviation> {
        self.deviations.iter().filter(|deviation| !deviation.good())
    }

    /// The largest distance among comparisons with this limit.
    pub(super) fn worst(&self, limit: f64) -> Option<&Deviation> {
        let own = self.deviations.iter().filter(|deviation| deviation.limit == limit);
        own.max_by(|a, b| a.distance.total_cmp(&b.distance))
    }
}

/// Compares.
///
/// # Errors
/// When the exact posterior cannot be computed.
pub(super) fn run(problem: &Problem, diagnosis: &Diagnosis) -> Result<Comparison> {
    let model = &problem.model;
    let exact = ExactPosterior::compute(model.data(), model.prior())?;
    let variables = model.layout().variables.iter();
    let elements = variables.flat_map(|variable| (0..variable.len()).map(move |index| (variable, index)));
    let mut deviations = Vec::new();
    for (variable, index) in elements {
        let name = variable.element_name(index);
        let quantity = Quantity::named(&variable.name, index);
        let (Some(quantity), Some(found)) = (quantity, diagnosis.summary.get(&name)) else { continue };
        let truth = exact.moments(quantity);
        let limit = if variable.dims.is_empty() { LIMIT_SCALAR } else { LIMIT_ELEMENT };
        let rows = [("mean", found.mean, truth.mean, found.mcse_mean), ("sd", found.sd, truth.sd, found.mcse_sd)];
        deviations.extend(rows.map(|(what, estimate, exact, mcse)| {
            let distance = (estimate - exact).abs() / mcse;
            // NaN, where a chain never moved, must not pass.
            let distance = if distance.is_nan() { f64::INFINITY } else { distance };
            Deviation { name: name.clone(), what, estimate, exact, mcse, distance, limit }
        }));
    }
    Ok(Comparison { exact, deviations })
}
