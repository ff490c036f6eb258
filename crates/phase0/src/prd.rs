//! What the PRD asks of its own problem and of no other: data that are NumPy's to the last bit, in several sizes.

use crate::error::Phase0Error;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{DataSource, HierarchicalNormalProblem, HierarchicalPrior, HierarchicalSettings, Problem};
use std::sync::Arc;

/// The PRD's model.
const MODEL: &str = "hierarchical-normal";

/// The PRD's sizes in groups of 10, each with the SHA-256 of y as NumPy makes it: `np.random.seed(42)`, little-endian
/// f64.
const SIZES: [(usize, &str); 3] = [
    (100, "6f909ab7a3029624491e4f8446c59a8787d5c6adcd6e60a83eeda6560adf1efe"),
    (500, "004cf66d5ff503dc12dbbbfd81d33356b604b9ffeffbeca66dbf79f57b6393f5"),
    (1000, "bf4a18f38c104e57fd4b9ec942871808f3cdb02ac074443ea0027593c92f64ab"),
];

/// The PRD's problem: its model and priors, with its made-up data of any number of groups.
pub(super) struct Prd {
    settings: HierarchicalSettings,
    groups: usize,
    /// Whether the data are NumPy's; `None` for a size whose hash is not known.
    pub(super) is_numpys: Option<bool>,
}

impl Prd {
    /// Returns what the PRD asks of `problem`, if that is its problem.
    pub(super) fn of(problem: &dyn Problem) -> Option<Self> {
        if problem.density().name() != MODEL {
            return None;
        }
        let settings = HierarchicalSettings::read(problem.settings()).ok()?;
        let DataSource::Synthetic(spec) = &settings.data else { return None };
        let groups = spec.groups;
        let prds = *spec == of_size(groups) && settings.prior == HierarchicalPrior::default();
        let known = SIZES.iter().find(|(size, _)| *size == groups);
        let is_numpys = known.map(|(_, sha256)| *sha256 == problem.data().sha256);
        prds.then_some(Self { settings, groups, is_numpys })
    }

    /// Makes the problem in the PRD's other sizes.
    ///
    /// # Errors
    /// Never for the PRD's settings.
    pub(super) fn other_sizes(&self) -> Result<Vec<Arc<dyn Problem>>, Phase0Error> {
        let others = SIZES.into_iter().map(|(size, _)| size).filter(|size| *size != self.groups);
        let of = |groups| -> Result<Arc<dyn Problem>, Phase0Error> {
            let data = DataSource::Synthetic(of_size(groups));
            let settings = HierarchicalSettings { data, grouping: None, ..self.settings.clone() };
            Ok(Arc::new(HierarchicalNormalProblem::new(settings, None)?))
        };
        others.map(of).collect()
    }
}

/// Returns the PRD's data with this many groups.
fn of_size(groups: usize) -> HierarchicalSpec {
    HierarchicalSpec { groups, ..HierarchicalSpec::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::Registry;

    fn prd(model: &str, settings: &str) -> Option<Prd> {
        let model = Registry::shipped().find(model).unwrap();
        Prd::of(&*model.build(&settings.parse().unwrap(), None).unwrap())
    }

    #[test]
    fn the_prds_sizes_are_numpys() {
        for groups in [100, 500, 1000] {
            let prd = prd(MODEL, &format!("[data.synthetic]\ngroups = {groups}")).unwrap();
            assert_eq!(prd.is_numpys, Some(true), "{groups} groups");
            let others: Vec<usize> = prd.other_sizes().unwrap().iter().map(|size| size.data().groups).collect();
            assert!(others.len() == 2 && !others.contains(&groups), "{others:?}");
        }
        assert_eq!(prd(MODEL, "[data.synthetic]\ngroups = 7").unwrap().is_numpys, None);
    }

    #[test]
    fn other_data_and_models_are_not_the_prds() {
        assert!(prd(MODEL, "likelihood = 'pointwise'").is_some(), "another form of the same posterior");
        assert!(prd(MODEL, "[data.synthetic]\nper_group = 5").is_none());
        assert!(prd(MODEL, "[prior]\nmu_sd = 3.0").is_none());
        assert!(prd("eight-schools", "").is_none());
    }
}
