//! A density as a problem, for programs that sample it without a [`Model`](crate::Model).

use crate::{BuildError, ModelError, Problem, TableFile, settings, sha256};
use octopus_density::{Dim, Labels, LogDensity};
use octopus_formats::observations::DataTable;
use octopus_trace::{Array, DataRecord, Dataset, InferenceData, Values};
use serde::Serialize;
use toml::Table;

/// The axis of observations.
const OBSERVATION: &str = "observation";

/// A density with the observations that it was made with, as a [`Problem`].
///
/// Without a model in a [`Registry`](crate::Registry) a run of it in a folder can be read and diagnosed by every command,
/// but `octopus resume` cannot build it again. A model's [`build`](crate::Model::build) adds what it is
/// [built from](Self::built_from).
#[derive(Clone, Debug)]
pub struct DensityProblem<D> {
    density: D,
    observed: Vec<f64>,
    data: DataRecord,
    settings: Table,
}

impl<D: LogDensity + 'static> DensityProblem<D> {
    /// Makes a problem of a density. `observed` has the observations in the order of
    /// [`LogDensity::log_likelihood`] and [`LogDensity::predict`]; it is empty where the density has none.
    ///
    /// # Errors
    /// When there are more or fewer of them than [`LogDensity::observations`].
    pub fn new(density: D, observed: Vec<f64>) -> Result<Self, ModelError> {
        let (given, expected) = (observed.len(), density.observations());
        if given != expected {
            return Err(ModelError::Observations { given, expected });
        }
        let data = DataRecord {
            source: "given by the program".to_owned(),
            sha256: sha256(&observed),
            observations: observed.len(),
            ..DataRecord::default()
        };
        Ok(Self { density, observed, data, settings: Table::new() })
    }

    /// Adds the settings from which a model builds the problem again, and the record of the user's table if the model has
    /// read one: `settings` have the table as `data.file`.
    ///
    /// # Errors
    /// When TOML has no form for a value, or `settings` lack the table.
    pub fn built_from(self, settings: &impl Serialize, table: Option<&DataTable>) -> Result<Self, BuildError> {
        let settings = settings::write(settings)?;
        let data = match table {
            Some(table) => TableFile::in_settings(&settings).ok_or(BuildError::NoTable)?.record(table),
            None => self.data,
        };
        Ok(Self { data, settings, ..self })
    }
}

impl<D: LogDensity + 'static> Problem for DensityProblem<D> {
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
        Dim { name: OBSERVATION.to_owned(), labels: Labels::Range(self.observed.len()) }
    }

    fn add_observations(&self, data: &mut InferenceData) {
        if self.observed.is_empty() {
            return;
        }
        let mut observed = Dataset::default();
        let axes = [(OBSERVATION, self.observed.len())];
        observed.insert("y", Array::new(axes, Values::F64(self.observed.clone())));
        data.insert("observed_data", observed);
    }
}
