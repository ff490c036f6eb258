//! Comparison of every mean and every standard deviation with the exact posterior, in Monte Carlo standard errors.
//!
//! The limits in standard errors stand here.

use octopus_bench::engines::known;
use octopus_diag::{Diagnosis, ParameterSummary};
use octopus_models::Problem;
use octopus_models::exact::Exact;
use serde::Serialize;
use std::collections::HashMap;

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
    // Of 10,000 groups there are 20,003 names, each of which a search would compare with all before it.
    let summary: HashMap<&str, &ParameterSummary> =
        diagnosis.summary.parameters.iter().map(|found| (found.name.as_str(), found)).collect();
    let (mut arrays, mut deviations) = (Vec::new(), Vec::new());
    for (variable, name, truth) in known(density.layout(), &*exact) {
        let Some(found) = summary.get(name.as_str()) else { continue };
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

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_diag::Summary;
    use octopus_models::{HierarchicalNormalModel, Model as _};

    /// Returns the parameters of which the mean or the standard deviation is called wrong, when both are so many
    /// standard errors off.
    fn called_wrong(mean_off: f64, sd_off: f64) -> Vec<String> {
        let settings = "data.synthetic.groups = 2".parse().unwrap();
        let problem = HierarchicalNormalModel.build(&settings, None).unwrap();
        let exact = problem.exact().unwrap().unwrap();
        let error = 0.01;
        let parameters = known(problem.density().layout(), &*exact)
            .map(|(_, name, truth)| ParameterSummary {
                name,
                mean: truth.mean + mean_off * error,
                sd: truth.sd - sd_off * error,
                mcse_mean: error,
                mcse_sd: error,
                ..ParameterSummary::default()
            })
            .collect();
        let diagnosis = Diagnosis {
            summary: Summary { prob: 0.89, chains: 4, draws: 1000, superchains: None, parameters },
            divergences: None,
            reached_max_treedepth: None,
            bfmi: Vec::new(),
            checks: Vec::new(),
        };
        let found = run(&*problem, &diagnosis).unwrap();
        assert_eq!(found.deviations.len(), 2 * diagnosis.summary.parameters.len());
        found.failures().map(|deviation| format!("{} of {}", deviation.what, deviation.name)).collect()
    }

    /// The limits of the row Q.3.
    #[test]
    fn scalars_may_be_4_standard_errors_off_and_elements_5() {
        let scalars = |what: &str| ["mu_pop", "sigma_pop", "sigma_obs"].map(|name| format!("{what} of {name}"));
        assert_eq!(called_wrong(3.99, 3.99), [""; 0]);
        for off in [4.01, -4.01, 4.99] {
            assert_eq!(called_wrong(off, 0.0), scalars("mean"), "{off}");
            assert_eq!(called_wrong(0.0, off), scalars("sd"), "{off}");
        }
        // Three scalars, and z and mu_group of two groups.
        assert_eq!((called_wrong(5.01, 0.0).len(), called_wrong(5.01, 5.01).len()), (7, 14));
        assert_eq!(called_wrong(f64::NAN, 0.0).len(), 7, "what is not defined must not pass");
    }
}
