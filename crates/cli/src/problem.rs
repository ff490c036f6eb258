//! The model with its data: built from settings, and again from a run's record.

use crate::config::{DataSource, Rows, RunConfig, setting_error};
use crate::truth::Truth;
use anyhow::{Context, Result, bail};
use octopus_density::{GroupedData, HierarchicalNormal, HierarchicalPrior, Likelihood, LogDensity, synthetic};
use octopus_formats::observations;
use octopus_runs::{DataRecord, ModelRecord, RunRecord};
use serde::{Deserialize, Serialize};
use std::path::absolute;

/// All that is needed to build the model again; it stands in `run.toml` under `[model.settings]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelSettings {
    likelihood: Likelihood,
    /// SHA-256 of the group of each observation: the values alone do not tell a changed column of groups.
    grouping: String,
    data: DataSource,
    prior: HierarchicalPrior,
}

/// A model and what is known of its data.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    /// The density.
    pub(crate) model: HierarchicalNormal,
    /// Its data's fingerprint.
    pub(crate) data: DataRecord,
    /// What made the data, if they are made up.
    pub(crate) truth: Option<Truth>,
    settings: ModelSettings,
}

impl Problem {
    /// The model of the settings.
    ///
    /// # Errors
    /// When the data cannot be read or made, or a setting is out of range.
    pub(crate) fn new(config: &RunConfig) -> Result<Self> {
        Self::build(&config.data, config.prior, config.likelihood)
    }

    /// The model of a run, with the same data as then.
    ///
    /// # Errors
    /// When the record is of another model, or the data have gone or changed.
    pub(crate) fn of_run(record: &RunRecord) -> Result<Self> {
        if record.model.name != "hierarchical-normal" {
            bail!("the run's model is `{}`, this octopus knows hierarchical-normal only", record.model.name);
        }
        let settings: ModelSettings =
            serde_path_to_error::deserialize(toml::Value::Table(record.model.settings.clone())).map_err(|error| {
                let (field, what) = (error.path().to_string(), error.inner().message().to_owned());
                anyhow::anyhow!("run.toml: field `model.settings.{field}`: {what}; repair it, or make the run again")
            })?;
        let problem = Self::build(&settings.data, settings.prior, settings.likelihood)?;
        let same = record.data.as_ref().is_some_and(|data| data.sha256 == problem.data.sha256)
            && settings.grouping == problem.settings.grouping
            && record.layout == *problem.model.layout();
        if !same {
            let then = record.data.as_ref().map_or("unknown", |data| data.sha256.as_str());
            let source = &problem.data.source;
            bail!(
                "the data in {source} are not those of the run (SHA-256 of the values then {then}, now {}): \
                 restore them, or begin a new run",
                problem.data.sha256
            );
        }
        Ok(problem)
    }

    /// For `run.toml`.
    ///
    /// # Errors
    /// When the settings cannot be written as TOML.
    pub(crate) fn model_record(&self) -> Result<ModelRecord> {
        let settings = toml::Table::try_from(&self.settings).context("cannot write the model's settings")?;
        Ok(ModelRecord { name: self.model.name().to_owned(), settings })
    }

    /// The same data under another form of the likelihood.
    ///
    /// # Errors
    /// Never for settings that have built a model before.
    pub(crate) fn with_likelihood(&self, likelihood: Likelihood) -> Result<HierarchicalNormal> {
        Ok(HierarchicalNormal::new(self.model.data().clone(), *self.model.prior(), likelihood)?)
    }

    fn build(source: &DataSource, prior: HierarchicalPrior, likelihood: Likelihood) -> Result<Self> {
        let (data, truth) = match source {
            DataSource::Synthetic(spec) => {
                let made = spec.generate().map_err(|error| setting_error(&error))?;
                (made.data, Some(Truth::new(spec, made.group_means)))
            }
            DataSource::File { path, group, value, only: None } => {
                (observations::read_grouped(path, group, value)?, None)
            }
            DataSource::File { path, group, value, only: Some(Rows { column, label }) } => {
                let sets = observations::read_sets(path, group, value, column)?;
                let own = sets.into_iter().find(|(name, _)| name == label);
                let absent = || format!("{}: no row has `{label}` in column `{column}`", path.display());
                (own.with_context(absent)?.1, None)
            }
        };
        Self::of_data(source, data, truth, prior, likelihood)
    }

    /// The model of data that have been read, and where from.
    ///
    /// # Errors
    /// When a setting is out of range, or a file has gone.
    pub(crate) fn of_data(
        source: &DataSource,
        data: GroupedData,
        truth: Option<Truth>,
        prior: HierarchicalPrior,
        likelihood: Likelihood,
    ) -> Result<Self> {
        let (source, described) = match source {
            DataSource::Synthetic(spec) => {
                let described = format!(
                    "synthetic: {} groups x {}, mean {}, sd {} between and {} within groups, np.random.seed({})",
                    spec.groups, spec.per_group, spec.mean, spec.between_sd, spec.within_sd, spec.seed
                );
                (source.clone(), described)
            }
            DataSource::File { path, group, value, only } => {
                let path = absolute(path).with_context(|| format!("cannot find {}", path.display()))?;
                let rows = only.as_ref().map(|Rows { column, label }| format!(", rows with {column} = {label}"));
                let described = format!("{}{}", path.display(), rows.unwrap_or_default());
                (DataSource::File { path, group: group.clone(), value: value.clone(), only: only.clone() }, described)
            }
        };
        let record = DataRecord {
            source: described,
            sha256: synthetic::sha256(data.values()),
            observations: data.values().len(),
            groups: data.groups(),
        };
        let settings = ModelSettings { likelihood, grouping: grouping(&data), data: source, prior };
        let model = HierarchicalNormal::new(data, prior, likelihood).map_err(|error| setting_error(&error))?;
        Ok(Self { model, data: record, truth, settings })
    }
}

fn grouping(data: &GroupedData) -> String {
    let index: Vec<f64> = data.group_index().into_iter().map(|j| j as f64).collect();
    synthetic::sha256(&index)
}
