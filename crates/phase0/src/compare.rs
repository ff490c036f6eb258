//! Comparison of every mean and every standard deviation with the exact posterior, in Monte Carlo standard errors.
//!
//! The limits in standard errors stand here.

use octopus_bench::engines::known;
use octopus_diag::Diagnosis;
use octopus_models::Problem;
use octopus_models::exact::Exact;
use serde::Serialize;

/// The standard errors allowed for scalars.
pub(super) const LIMIT_SCALAR: f64 = 4.0;
/// The standard errors allowed for each element of an array. The limit is wider because the worst of so many counts.
pub(super) const LIMIT_ELEMENT: f64 = 5.0;

/// An estimate and the exact value.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Deviation {
    /// The parameter's name.
    pub(super) name: String,
    /// `mean` or `sd`.
    pub(super) what: &'static str,
    /// The estimate from the draws.
    pub(super) estimate: f64,
    /// The exact value.
    pub(super) exact: f64,
    /// The estimate's standard error.
    pub(super) mcse: f64,
    /// The distance in standard errors; infinite where there is no standard error.
    pub(super) distance: f64,
    /// The distance allowed.
    pub(super) limit: f64,
}

impl Deviation {
    /// Returns whether the distance is allowed.
    pub(super) fn good(&self) -> bool {
        self.distance < self.limit
    }
}

/// The comparison of the draws with the exact posterior.
pub(super) struct Comparison {
    /// The exact posterior.
    pub(super) exact: Box<dyn Exact>,
    /// The names of the arrays that were compared.
    pub(super) arrays: Vec<String>,
    /// Two deviations for each parameter: of its mean and of its standard deviation.
    pub(super) deviations: Vec<Deviation>,
}

impl Comparison {
    /// Returns the deviations that are too large.
    pub(super) fn failures(&self) -> impl Iterator<Item = &Deviation> {
        self.deviations.iter().filter(|deviation| !deviation.good())
    }

    /// Returns the deviation with the largest distance among those with this limit.
    pub(super) fn worst(&self, limit: f64) -> Option<&Deviation> {
        let own = self.deviations.iter().filter(|deviation| deviation.limit == limit);
        own.max_by(|a, b| a.distance.total_cmp(&b.distance))
    }
}

/// Compares the summary of the draws with the exact posterior. Returns the reason instead where that is not known.
pub(super) fn run(problem: &dyn Problem, diagnosis: &Diagnosis) -> Result<Comparison, String> {
    let density = problem.density();
    let exact = problem.exact().map_err(|error| error.to_string())?;
    let exact = exact.ok_or_else(|| format!("the exact posterior of {} is not known", density.name()))?;
    let (mut arrays, mut deviations) = (Vec::new(), Vec::new());
    for (variable, name, truth) in known(density.layout(), &*exact) {
        let Some(found) = diagnosis.summary.get(&name) else { continue };
        let limit = if variable.dims.is_empty() { LIMIT_SCALAR } else { LIMIT_ELEMENT };
        if !variable.dims.is_empty() && !arrays.contains(&variable.name) {
            arrays.push(variable.name.clone());
        }
        let rows = [("mean", found.mean, truth.mean, found.mcse_mean), ("sd", found.sd, truth.sd, found.mcse_sd)];
        deviations.extend(rows.map(|(what, estimate, exact, mcse)| {
            let distance = (estimate - exact).abs() / mcse;
            // The distance is NaN where a chain never moved, and must not pass then.
            let distance = if distance.is_nan() { f64::INFINITY } else { distance };
            Deviation { name: name.clone(), what, estimate, exact, mcse, distance, limit }
        }));
    }
    Ok(Comparison { exact, arrays, deviations })
}
