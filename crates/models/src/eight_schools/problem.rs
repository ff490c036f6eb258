//! The model of eight schools with its data: the observations of a trace, the effects of schools.

use super::density::{MU_SD, TAU_SCALE};
use super::{SchoolsData, SchoolsSettings, SchoolsSimulator};
use crate::exact::{Exact, ExactError, SchoolsPosterior};
use crate::{BuildError, Effects, EightSchools, ModelError, Problem, Simulator, settings, sha256};
use octopus_density::{Dim, GroupedData, Labels, LogDensity};
use octopus_trace::{Array, DataRecord, Dataset, InferenceData, Values};
use toml::Table;

/// The name of the axis of schools.
const SCHOOL: &str = "school";

/// The model of eight schools with its data, as a [`Problem`].
#[derive(Clone, Debug)]
pub struct EightSchoolsProblem {
    density: EightSchools,
    labels: Labels,
    data: DataRecord,
    settings: Table,
    simulator: SchoolsSimulator,
    /// The data in groups: one observation for each school.
    grouped: GroupedData,
}

impl EightSchoolsProblem {
    pub(super) fn new(settings: SchoolsSettings) -> Result<Self, BuildError> {
        let (density, source) = match &settings.data {
            None => (EightSchools::rubin(), "Rubin's eight schools".to_owned()),
            Some(SchoolsData { y, sigma }) => {
                (EightSchools::new(y, sigma)?, format!("{} effects of the settings", y.len()))
            }
        };
        let schools = density.schools();
        let labels = density.layout().variables.iter().flat_map(|variable| &variable.dims).next();
        let labels = labels.map_or(Labels::Range(schools), |dim| dim.labels.clone());
        let numbers = [density.y(), density.sigma()].concat();
        let data = DataRecord {
            source,
            sha256: sha256(&numbers),
            observations: schools,
            groups: schools,
            ..Default::default()
        };
        let each: Vec<usize> = (0..schools).collect();
        let grouped = GroupedData::new(labels.clone(), &each, density.y()).map_err(ModelError::from)?;
        let simulator = SchoolsSimulator::new(&density);
        Ok(Self { density, labels, data, settings: settings::write(&settings)?, simulator, grouped })
    }
}

impl Problem for EightSchoolsProblem {
    fn density(&self) -> &(dyn LogDensity + 'static) {
        &self.density
    }

    fn settings(&self) -> &Table {
        &self.settings
    }

    fn data(&self) -> &DataRecord {
        &self.data
    }

    fn observation_dim(&self) -> Dim {
        Dim { name: SCHOOL.into(), labels: self.labels.clone() }
    }

    /// Adds the effects as `observed_data`, and their standard errors as `constant_data`.
    fn add_observations(&self, data: &mut InferenceData) {
        for (group, name, values) in
            [("observed_data", "y", self.density.y()), ("constant_data", "sigma", self.density.sigma())]
        {
            let mut dataset = Dataset::default();
            dataset.insert(name, Array::new([(SCHOOL, values.len())], Values::F64(values.to_vec())));
            dataset.coords.insert(SCHOOL.into(), self.labels.clone());
            data.insert(group, dataset);
        }
    }

    fn simulator(&self) -> Option<&dyn Simulator> {
        Some(&self.simulator)
    }

    fn effects(&self) -> Option<Effects<'_>> {
        Some(Effects { variable: "theta", mean: "mu", data: &self.grouped })
    }

    fn exact(&self) -> Result<Option<Box<dyn Exact>>, ExactError> {
        Ok(Some(Box::new(SchoolsPosterior::compute(&self.density))))
    }

    fn findings(&self) -> Vec<String> {
        let one = "there is one effect only: nothing tells tau, whose posterior is its prior; give more effects";
        if self.density.schools() == 1 { vec![one.to_owned()] } else { Vec::new() }
    }

    fn statements(&self) -> Vec<String> {
        vec![
            format!("mu ~ Normal(0, {MU_SD})"),
            format!("tau ~ HalfCauchy({TAU_SCALE})"),
            "theta_trans[j] ~ Normal(0, 1)".into(),
            "theta[j] = mu + tau theta_trans[j]".into(),
            "y[j] ~ Normal(theta[j], sigma[j]), with sigma[j] known".into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::{EightSchoolsModel, Model};
    use octopus_trace::InferenceData;

    fn built(settings: &str) -> Result<std::sync::Arc<dyn crate::Problem>, crate::BuildError> {
        EightSchoolsModel.build(&settings.parse().unwrap(), None)
    }

    #[test]
    fn schools_are_rubins_or_ones_own() {
        let rubin = built("").unwrap();
        assert_eq!((rubin.density().dim(), rubin.data().source.as_str()), (10, "Rubin's eight schools"));
        assert_eq!(rubin.observation_dim().labels.show(1), "B");
        let own = built("[data]\ny = [1.0, 2.0, 4.0]\nsigma = [1.0, 1.0, 2.0]").unwrap();
        let mut data = InferenceData::default();
        own.add_observations(&mut data);
        let of = |group: &str, name: &str| data.groups[group].variables[name].values.to_f64();
        assert_eq!(of("observed_data", "y"), [1.0, 2.0, 4.0]);
        assert_eq!(of("constant_data", "sigma"), [1.0, 1.0, 2.0]);
        let again = EightSchoolsModel.build(own.settings(), None).unwrap();
        assert_eq!((again.data(), again.density().dim()), (own.data(), 5));
        assert_ne!(rubin.data().sha256, own.data().sha256);
        let surer = built("[data]\ny = [1.0, 2.0, 4.0]\nsigma = [1.0, 1.0, 1.0]").unwrap();
        assert_ne!(surer.data().sha256, own.data().sha256, "standard errors are data");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let told = |settings| built(settings).map(|_| ()).unwrap_err().to_string();
        assert!(told("[data]\ny = [1.0]\nsigma = [1.0, 2.0]").contains("1 effects but 2 standard errors"));
        assert!(told("[data]\ny = [1.0]\nsigma = [0.0]").contains("standard error is 0"));
        assert!(told("[data]\ny = [1.0]").contains("field `data`: missing field `sigma`"));
        assert!(told("[prior]\nmu_sd = 1.0").starts_with("field `prior`"));
    }

    #[test]
    fn one_effect_alone_is_told() {
        let findings = |settings: &str| built(settings).unwrap().findings().len();
        let of = |count: usize| format!("[data]\ny = {0:?}\nsigma = {0:?}", vec![2.0; count]);
        assert_eq!((findings(&of(1)), findings(&of(2)), findings("")), (1, 0, 0));
    }
}
