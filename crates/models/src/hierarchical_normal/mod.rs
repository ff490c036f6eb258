//! The hierarchical normal model of phase 0: groups with normal means, and normal observations.
//!
//! Its settings, its options on the command line with their help, and sizes of simulated data are here.

mod density;
pub(crate) mod exact;
mod findings;
mod grouped_file;
mod problem;
mod simulator;
pub mod synthetic;
mod truth;

pub use density::{HierarchicalNormal, HierarchicalPrior, Likelihood};
pub use grouped_file::GroupedFile;
pub use problem::HierarchicalNormalProblem;
pub use simulator::HierarchicalSimulator;

use crate::{
    BuildError, CalibrationTest, DataSize, Model, ModelColumn, ModelError, ModelOption, OptionGroup, OptionKind,
    Problem, Simulated, TableFile, settings,
};
use octopus_formats::observations::DataTable;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use synthetic::{BALANCED, HierarchicalSpec, check_size};
use toml::Table;

/// The model `hierarchical-normal`: groups with normal means, and normal observations.
#[derive(Clone, Copy, Debug)]
pub struct HierarchicalNormalModel;

/// The source of the observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "Sources")]
pub enum DataSource {
    /// The observations are made up.
    Synthetic(HierarchicalSpec),
    /// The observations are read from the user's table.
    File(GroupedFile),
}

/// The table `data` of settings. A file may hold anything there; errors name the entry that is wrong.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sources {
    synthetic: Option<HierarchicalSpec>,
    file: Option<GroupedFile>,
}

impl TryFrom<Sources> for DataSource {
    type Error = &'static str;

    fn try_from(sources: Sources) -> Result<Self, Self::Error> {
        match (sources.synthetic, sources.file) {
            (Some(spec), None) => Ok(Self::Synthetic(spec)),
            (None, Some(file)) => Ok(Self::File(file)),
            _ => Err("data come from one source: give either [data.file], a table with path, group and value, or \
                      [data.synthetic]"),
        }
    }
}

impl Default for DataSource {
    /// Returns the made-up data of the PRD.
    fn default() -> Self {
        Self::Synthetic(HierarchicalSpec::default())
    }
}

/// The settings of a posterior; `run.toml` has them under `[model.settings]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HierarchicalSettings {
    /// The form in which the likelihood is evaluated.
    pub likelihood: Likelihood,
    /// The SHA-256 of the group of each observation, where it is known: the values alone do not tell a changed column of
    /// groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grouping: Option<String>,
    /// The source of the observations.
    pub data: DataSource,
    /// The constants of the priors.
    pub prior: HierarchicalPrior,
}

impl HierarchicalSettings {
    /// Reads the settings from a table.
    ///
    /// # Errors
    /// When a setting is unknown or has the wrong type; the error names the setting.
    pub fn read(settings: &Table) -> Result<Self, BuildError> {
        settings::read(settings)
    }
}

const fn option(
    name: &'static str,
    setting: &'static str,
    kind: OptionKind,
    group: OptionGroup,
    help: &'static str,
) -> ModelOption {
    ModelOption { name, setting, kind, group, help }
}

/// The form in which the likelihood is evaluated.
const LIKELIHOOD: ModelOption = option(
    "likelihood",
    "likelihood",
    OptionKind::Word(&["collapsed", "pointwise"]),
    OptionGroup::Model,
    "How the likelihood is evaluated; both give the same value [default: collapsed]",
);
const MU_MEAN: ModelOption = option(
    "mu-mean",
    "prior.mu_mean",
    OptionKind::Real,
    OptionGroup::Model,
    "Mean of the normal prior of mu_pop [default: 50]",
);
const MU_SD: ModelOption = option(
    "mu-sd",
    "prior.mu_sd",
    OptionKind::Real,
    OptionGroup::Model,
    "Standard deviation of the normal prior of mu_pop [default: 20]",
);
const SIGMA_POP_SCALE: ModelOption = option(
    "sigma-pop-scale",
    "prior.sigma_pop_scale",
    OptionKind::Real,
    OptionGroup::Model,
    "Scale of the half-normal prior of sigma_pop [default: 15]",
);
const SIGMA_OBS_SCALE: ModelOption = option(
    "sigma-obs-scale",
    "prior.sigma_obs_scale",
    OptionKind::Real,
    OptionGroup::Model,
    "Scale of the half-normal prior of sigma_obs [default: 5]",
);

const OPTIONS: [ModelOption; 8] = [
    option(
        "groups",
        "data.synthetic.groups",
        OptionKind::Count,
        OptionGroup::Data,
        "Groups of made-up data [default: 100]",
    ),
    option(
        "per-group",
        "data.synthetic.per_group",
        OptionKind::Count,
        OptionGroup::Data,
        "Observations in each group of made-up data [default: 10]",
    ),
    option(
        "data-seed",
        "data.synthetic.seed",
        OptionKind::Count,
        OptionGroup::Data,
        "Seed of made-up data [default: 42]",
    ),
    LIKELIHOOD,
    MU_MEAN,
    MU_SD,
    SIGMA_POP_SCALE,
    SIGMA_OBS_SCALE,
];

const SIMULATOR_OPTIONS: [ModelOption; 8] = [
    option(
        "groups",
        "groups",
        OptionKind::Count,
        OptionGroup::Data,
        "Groups of each data set [default: 100, with --geweke 4]",
    ),
    option(
        "per-group",
        "per_group",
        OptionKind::Count,
        OptionGroup::Data,
        "Observations in each group [default: 10, with --geweke 1]",
    ),
    option(
        "group-sizes",
        "group_sizes",
        OptionKind::Counts,
        OptionGroup::Data,
        "Observations in each group, one number for each, instead of --groups and --per-group",
    ),
    LIKELIHOOD,
    MU_MEAN,
    MU_SD,
    SIGMA_POP_SCALE,
    SIGMA_OBS_SCALE,
];

/// The settings of a calibration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SimulatorSettings {
    likelihood: Likelihood,
    prior: HierarchicalPrior,
    groups: Option<usize>,
    per_group: Option<usize>,
    group_sizes: Option<Vec<usize>>,
}

/// The settings of a calibration in the form that its record keeps.
#[derive(Serialize)]
struct SimulatorRecord {
    group_sizes: Vec<usize>,
    likelihood: Likelihood,
    prior: HierarchicalPrior,
}

impl SimulatorSettings {
    /// Returns the groups and the observations in each, where all have as many.
    fn balanced(&self, test: CalibrationTest) -> (usize, usize) {
        // Geweke's sequences want few data: where data say much about the parameters, new data keep these where they
        // are.
        let (groups, per_group) = match test {
            CalibrationTest::Ranks => (100, 10),
            CalibrationTest::Geweke => (4, 1),
        };
        (self.groups.unwrap_or(groups), self.per_group.unwrap_or(per_group))
    }

    /// Returns the size of the data.
    fn size(&self, test: CalibrationTest) -> Result<DataSize, ModelError> {
        self.check(test)?;
        let (groups, per_group) = self.balanced(test);
        Ok(match &self.group_sizes {
            Some(sizes) => DataSize::of_groups(sizes.len(), sizes.iter().sum()),
            None => DataSize::of_groups(groups, groups.saturating_mul(per_group)),
        })
    }

    /// Returns the number of observations in each group.
    fn sizes(&self, test: CalibrationTest) -> Result<Vec<usize>, ModelError> {
        self.check(test)?;
        let (groups, per_group) = self.balanced(test);
        Ok(self.group_sizes.clone().unwrap_or_else(|| vec![per_group; groups]))
    }

    /// Checks what sizes the groups have.
    fn check(&self, test: CalibrationTest) -> Result<(), ModelError> {
        let fail = |field, expected| Err(ModelError::Setting { field, value: 0.0, expected });
        match &self.group_sizes {
            Some(sizes) if sizes.is_empty() || sizes.contains(&0) => {
                fail("group_sizes", "one group and one observation in each at least")
            }
            Some(_) if self.groups.is_some() || self.per_group.is_some() => {
                let value = self.groups.or(self.per_group).unwrap_or(0) as f64;
                let field = if self.groups.is_some() { "groups" } else { "per_group" };
                Err(ModelError::Setting { field, value, expected: "leave it out where each group's size is given" })
            }
            Some(sizes) => check_size("group_sizes", sizes.len(), sizes.iter().copied().max().unwrap_or(0)),
            None if self.groups == Some(0) => fail("groups", "at least one group"),
            None if self.per_group == Some(0) => fail("per_group", "at least one observation in each group"),
            None => {
                let (groups, per_group) = self.balanced(test);
                check_size(BALANCED, groups, per_group)
            }
        }
    }
}

impl Model for HierarchicalNormalModel {
    fn name(&self) -> &'static str {
        "hierarchical-normal"
    }

    fn about(&self) -> &'static str {
        "groups with normal means, and normal observations"
    }

    fn options(&self) -> &'static [ModelOption] {
        &OPTIONS
    }

    fn reads_table(&self) -> bool {
        true
    }

    fn data_size(&self, settings: &Table) -> Result<Option<DataSize>, BuildError> {
        let HierarchicalSettings { data, .. } = HierarchicalSettings::read(settings)?;
        Ok(match data {
            DataSource::Synthetic(spec) => Some(spec.size()?),
            DataSource::File(file) => DataSize::of_table(&TableFile::from(file), grouped_file::columns().len()),
        })
    }

    fn columns(&self, _settings: &Table) -> Result<Vec<ModelColumn>, BuildError> {
        Ok(grouped_file::columns())
    }

    fn build(&self, settings: &Table, table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError> {
        Ok(Arc::new(HierarchicalNormalProblem::new(HierarchicalSettings::read(settings)?, table)?))
    }

    fn simulator_options(&self) -> &'static [ModelOption] {
        &SIMULATOR_OPTIONS
    }

    fn simulated_size(&self, settings: &Table, test: CalibrationTest) -> Result<Option<DataSize>, BuildError> {
        let asked: SimulatorSettings = settings::read(settings)?;
        Ok(Some(asked.size(test)?))
    }

    fn simulator(&self, settings: &Table, test: CalibrationTest) -> Result<Option<Simulated>, BuildError> {
        let asked: SimulatorSettings = settings::read(settings)?;
        let sizes = asked.sizes(test)?;
        let (likelihood, prior) = (asked.likelihood, asked.prior);
        let simulator = Box::new(HierarchicalSimulator::new(sizes.clone(), prior, likelihood)?);
        let range = match (sizes.iter().min(), sizes.iter().max()) {
            (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
            (_, most) => most.copied().unwrap_or(0).to_string(),
        };
        let description = format!("{}, {} groups of {range}", self.name(), sizes.len());
        let settings = settings::write(&SimulatorRecord { group_sizes: sizes, likelihood, prior })?;
        Ok(Some(Simulated { simulator, settings, description, geweke_steps: 500 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulated(settings: &str, test: CalibrationTest) -> Result<Simulated, BuildError> {
        Ok(HierarchicalNormalModel.simulator(&settings.parse().unwrap(), test)?.expect("it can be simulated"))
    }

    fn told(settings: &str) -> String {
        simulated(settings, CalibrationTest::Ranks).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn simulators_in_words() {
        let of = |settings, test| simulated(settings, test).unwrap().description;
        assert_eq!(of("", CalibrationTest::Ranks), "hierarchical-normal, 100 groups of 10");
        assert_eq!(of("", CalibrationTest::Geweke), "hierarchical-normal, 4 groups of 1");
        assert_eq!(of("group_sizes = [3, 1, 7]", CalibrationTest::Ranks), "hierarchical-normal, 3 groups of 1 to 7");
        assert_eq!(of("groups = 2\nper_group = 5", CalibrationTest::Geweke), "hierarchical-normal, 2 groups of 5");
    }

    #[test]
    fn simulators_refuse_what_has_no_sense() {
        assert!(told("group_sizes = [3, 0]").starts_with("group_sizes = 0: one group"));
        assert!(told("group_sizes = []").starts_with("group_sizes = 0: one group"));
        assert!(told("groups = 0").starts_with("groups = 0: at least one group"));
        assert!(told("per_group = 0").starts_with("per_group = 0: at least one observation"));
        assert!(told("groups = 3\ngroup_sizes = [1]").starts_with("groups = 3: leave it out"));
        assert!(told("[prior]\nmu_sd = -1.0").starts_with("mu_sd = -1"));
        assert!(told("[data.synthetic]").starts_with("field `data`"));
    }

    #[test]
    fn the_form_of_a_source_of_data_is_named() {
        let read = |text: &str| settings::read::<HierarchicalSettings>(&text.parse().unwrap());
        let told = |text: &str| read(text).unwrap_err().to_string();
        let flat = told("[data]\nfile = 'y.csv'\ngroup = 'g'\nvalue = 'v'");
        assert!(flat.starts_with("field `data.file`") && flat.contains("[data.file] with path, group"), "{flat}");
        assert!(told("[data]\npath = 'y.csv'").contains("`data.path`: unknown field `path`, expected `synthetic` or"));
        for both in ["[data]", "[data.synthetic]\n[data.file]\npath = 'y.csv'\ngroup = 'g'\nvalue = 'v'"] {
            assert!(told(both).contains("one source: give either [data.file], a table with path"), "{}", told(both));
        }
        let file = read("[data.file]\npath = 'y.csv'\ngroup = 'g'\nvalue = 'v'").unwrap();
        assert_eq!(read(&settings::write(&file).unwrap().to_string()).unwrap(), file);
    }

    /// Checks that the settings that a record keeps make the same simulator.
    #[test]
    fn a_simulators_settings_make_it_again() {
        let first = simulated("groups = 3\n[prior]\nmu_sd = 2.0", CalibrationTest::Geweke).unwrap();
        let again = HierarchicalNormalModel.simulator(&first.settings, CalibrationTest::Ranks).unwrap().unwrap();
        assert_eq!((again.settings, again.description), (first.settings, first.description));
    }

    #[test]
    fn simulators_keep_their_settings_and_have_500_steps() {
        let made =
            simulated("groups = 2\nlikelihood = 'pointwise'\n[prior]\nmu_sd = 2.0", CalibrationTest::Ranks).unwrap();
        assert_eq!(made.geweke_steps, 500);
        assert_eq!(made.settings["likelihood"].as_str(), Some("pointwise"));
        assert_eq!(made.settings["prior"]["mu_sd"].as_float(), Some(2.0));
        assert_eq!(made.settings["group_sizes"].as_array().map(Vec::len), Some(2));
        assert_eq!(
            HierarchicalNormalModel.simulated_size(&Table::new(), CalibrationTest::Geweke).unwrap().unwrap(),
            DataSize::of_groups(4, 4)
        );
    }
}
