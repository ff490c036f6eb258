//! The hierarchical normal model with its data: made up or read from a file, true values, effects of groups.

use super::truth::Truth;
use super::{DataSource, GroupedFile, HierarchicalSettings, HierarchicalSimulator, findings, grouped_file};
use crate::exact::{Exact, ExactError, ExactPosterior};
use crate::{
    BuildError, Effects, HierarchicalNormal, Likelihood, ModelError, NamedLikelihood, Problem, Simulator, TableFile,
    settings, sha256,
};
use octopus_density::{Dim, Labels, LogDensity};
use octopus_formats::observations::DataTable;
use octopus_trace::{Array, DataRecord, Dataset, InferenceData, Values};
use std::collections::HashMap;
use std::path::absolute;
use toml::Table;

/// The name of the axis of observations.
const OBSERVATION: &str = "observation";

/// The hierarchical normal model with its data, as a [`Problem`].
#[derive(Clone, Debug)]
pub struct HierarchicalNormalProblem {
    model: HierarchicalNormal,
    data: DataRecord,
    truth: Option<Truth>,
    settings: Table,
    simulator: HierarchicalSimulator,
}

impl HierarchicalNormalProblem {
    /// Makes the problem that `settings` describe. `table` has the columns `group` and `value` of the user's table if they
    /// have been read already.
    ///
    /// # Errors
    /// When a setting is out of range, the data cannot be read, or their groups differ from those recorded in the
    /// settings.
    pub fn new(settings: HierarchicalSettings, table: Option<DataTable>) -> Result<Self, BuildError> {
        let HierarchicalSettings { likelihood, grouping: expected, data: source, prior } = settings;
        let (observed, truth) = match (&source, table) {
            (_, Some(table)) => (grouped_file::grouped(table)?, None),
            (DataSource::Synthetic(spec), None) => {
                let made = spec.generate()?;
                (made.data, Some(Truth::new(spec, made.group_means)))
            }
            (DataSource::File(file), None) => {
                let table = TableFile::from(file.clone()).read(&grouped_file::columns())?;
                (grouped_file::grouped(table)?, None)
            }
        };
        let (source, described) = described(source)?;
        let data = DataRecord {
            source: described,
            sha256: sha256(observed.values()),
            observations: observed.values().len(),
            groups: observed.groups(),
            left_out: observed.left_out(),
        };
        let index: Vec<f64> = observed.group_index().into_iter().map(|j| j as f64).collect();
        let grouping = sha256(&index);
        if let Some(then) = expected.filter(|then| *then != grouping) {
            return Err(BuildError::OtherData { data: data.source, what: "groups", then, now: grouping });
        }
        findings::check_spread(&observed)?;
        let sizes = (0..observed.groups()).map(|group| observed.group(group).len()).collect();
        let simulator = HierarchicalSimulator::new(sizes, prior, likelihood)?;
        let model = HierarchicalNormal::new(observed, prior, likelihood)?;
        let settings = HierarchicalSettings { likelihood, grouping: Some(grouping), data: source, prior };
        Ok(Self { model, data, truth, settings: settings::write(&settings)?, simulator })
    }
}

impl Problem for HierarchicalNormalProblem {
    fn density(&self) -> &(dyn LogDensity + 'static) {
        &self.model
    }

    fn settings(&self) -> &Table {
        &self.settings
    }

    fn data(&self) -> &DataRecord {
        &self.data
    }

    fn observation_dim(&self) -> Dim {
        Dim { name: OBSERVATION.into(), labels: Labels::Range(self.model.observations()) }
    }

    /// Adds the observations as `observed_data`, group after group, and the group of each as `constant_data`.
    fn add_observations(&self, data: &mut InferenceData) {
        let observed = self.model.data();
        let count = observed.values().len();
        let with_axis = |name: &str, values: Values| {
            let mut dataset = Dataset::default();
            dataset.insert(name, Array::new([(OBSERVATION, count)], values));
            dataset.coords.insert(OBSERVATION.into(), Labels::Range(count));
            dataset
        };
        data.insert("observed_data", with_axis("y", Values::F64(observed.values().to_vec())));
        let index = observed.group_index().into_iter().map(|j| j as i64).collect();
        data.insert("constant_data", with_axis("group_idx", Values::I64(index)));
    }

    fn simulator(&self) -> Option<&dyn Simulator> {
        Some(&self.simulator)
    }

    fn truth(&self) -> HashMap<String, f64> {
        self.truth.as_ref().map(|truth| truth.by_name(self.model.layout())).unwrap_or_default()
    }

    fn effects(&self) -> Option<Effects<'_>> {
        Some(Effects { variable: "mu_group", mean: "mu_pop", data: self.model.data() })
    }

    fn exact(&self) -> Result<Option<Box<dyn Exact>>, ExactError> {
        Ok(Some(Box::new(ExactPosterior::compute(self.model.data(), self.model.prior())?)))
    }

    fn statements(&self) -> Vec<String> {
        let prior = self.model.prior();
        vec![
            format!("mu_pop ~ Normal({}, {})", prior.mu_mean, prior.mu_sd),
            format!("sigma_pop ~ HalfNormal({})", prior.sigma_pop_scale),
            "z[j] ~ Normal(0, 1)".into(),
            "mu_group[j] = mu_pop + sigma_pop z[j]".into(),
            format!("sigma_obs ~ HalfNormal({})", prior.sigma_obs_scale),
            "y[i] ~ Normal(mu_group[group[i]], sigma_obs)".into(),
        ]
    }

    fn findings(&self) -> Vec<String> {
        findings::of_data(self.model.data(), self.model.prior())
    }

    fn priors_of_data(&self) -> Option<String> {
        findings::priors_of_data(self.model.data())
    }

    fn likelihood(&self) -> Option<&'static str> {
        Some(self.model.likelihood().name())
    }

    fn likelihoods(&self) -> Result<Vec<NamedLikelihood>, ModelError> {
        let of = |likelihood: Likelihood| {
            let density = HierarchicalNormal::new(self.model.data().clone(), *self.model.prior(), likelihood)?;
            Ok(NamedLikelihood { name: likelihood.name(), density: Box::new(density) })
        };
        Likelihood::ALL.into_iter().map(of).collect()
    }
}

/// Returns the source as a record keeps it, with an absolute path, and a description of it in words.
fn described(source: DataSource) -> Result<(DataSource, String), BuildError> {
    Ok(match source {
        DataSource::Synthetic(spec) => {
            let described = format!(
                "synthetic: {} groups x {}, mean {}, sd {} between and {} within groups, np.random.seed({})",
                spec.groups, spec.per_group, spec.mean, spec.between_sd, spec.within_sd, spec.seed
            );
            (source, described)
        }
        DataSource::File(file) => {
            let path = absolute(&file.path).map_err(|source| BuildError::Path { path: file.path.clone(), source })?;
            let file = GroupedFile { path, ..file };
            let described = TableFile::from(file.clone()).describe();
            (DataSource::File(file), described)
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::{BuildError, HierarchicalNormalModel, Model, Problem};
    use std::sync::Arc;
    use toml::Table;

    fn built(settings: &Table) -> Result<Arc<dyn Problem>, BuildError> {
        HierarchicalNormalModel.build(settings, None)
    }

    fn told(settings: &Table) -> String {
        built(settings).map(|_| ()).unwrap_err().to_string()
    }

    /// The values of a file may stay while its column of groups changes: that is another posterior.
    #[test]
    fn a_changed_column_of_groups_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("y.csv");
        std::fs::write(&path, "city,y\nrio,1\nrio,2\noslo,5\n").unwrap();
        let text = format!("[data.file]\npath = '{}'\ngroup = 'city'\nvalue = 'y'", path.display());
        let problem = built(&text.parse().unwrap()).unwrap();
        assert_eq!((problem.data().observations, problem.data().groups), (3, 2));
        assert_eq!(built(problem.settings()).unwrap().data(), problem.data());
        std::fs::write(&path, "city,y\nrio,1\noslo,2\noslo,5\n").unwrap();
        let changed = told(problem.settings());
        assert!(changed.contains("y.csv") && changed.contains("SHA-256 of the groups then "), "{changed}");
        std::fs::write(&path, "city,set,y\nrio,a,1\noslo,b,2\noslo,b,5\n").unwrap();
        let only = |label: &str| {
            let rows = format!("{text}\n[data.file.only]\ncolumn = 'set'\nlabel = '{label}'");
            rows.parse().unwrap()
        };
        assert_eq!(built(&only("b")).unwrap().data().observations, 2);
        assert!(told(&only("c")).contains("no row has `c` in column `set`"));
    }

    #[test]
    fn made_up_data_have_a_truth_and_files_have_none() {
        let settings = "[data.synthetic]\ngroups = 3\nmean = 7.0".parse().unwrap();
        let truth = built(&settings).unwrap().truth();
        assert_eq!((truth["mu_pop"], truth["sigma_pop"], truth["sigma_obs"]), (7.0, 10.0, 2.0));
        assert_eq!(truth.len(), 3 + 2 * 3, "the groups' means and their standardised deviations");
        assert!(told(&"[data.synthetic]\ngroups = 0".parse().unwrap()).starts_with("groups = 0"));
    }

    #[test]
    fn settings_keep_the_likelihood() {
        let settings = "likelihood = 'pointwise'\n[data.synthetic]\ngroups = 3".parse().unwrap();
        let problem = built(&settings).unwrap();
        assert_eq!(problem.settings()["likelihood"].as_str(), Some("pointwise"));
    }
}
