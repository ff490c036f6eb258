//! What a program knows of a model by its name, and of its posterior given data.

use crate::{BuildError, ModelOption, Simulator};
use octopus_density::{Dim, GroupedData, LogDensity};
use octopus_trace::{DataRecord, InferenceData};
use std::collections::HashMap;
use std::sync::Arc;
use toml::Table;

/// A model: a name, settings, and what builds a posterior from them.
///
/// Commands, records of runs and calibrations know models through this trait only; `docs/models.md` shows a new one from
/// end to end.
pub trait Model: Send + Sync {
    /// The model's name on the command line and in records, that of its densities.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn about(&self) -> &'static str;

    /// The settings of a posterior that a command line may give. A file of settings may have others besides.
    fn options(&self) -> &'static [ModelOption] {
        &[]
    }

    /// Whether it reads a [table of groups and values](crate::TableFile), from the setting `data.file`.
    fn reads_table(&self) -> bool {
        false
    }

    /// The posterior that `settings` describe; settings that are left out have their defaults. `read` are the observations
    /// of `data.file` where they have been read already, as those of a table of many data sets are.
    ///
    /// # Errors
    /// When a setting is unknown or out of range, or the data cannot be read.
    fn build(&self, settings: &Table, read: Option<GroupedData>) -> Result<Arc<dyn Problem>, BuildError>;

    /// The settings of a [simulator](Self::simulator) that a command line may give.
    fn simulator_options(&self) -> &'static [ModelOption] {
        &[]
    }

    /// What draws parameters and data of the model, for a calibration. A model without one cannot be calibrated.
    ///
    /// # Errors
    /// When a setting is unknown or out of range.
    fn simulator(&self, settings: &Table, test: CalibrationTest) -> Result<Option<Simulated>, BuildError>;
}

/// A test of a calibration, for which simulated data of different sizes suit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalibrationTest {
    /// Ranks of true values among posterior draws.
    Ranks,
    /// Geweke's test.
    Geweke,
}

/// A simulator, and what a calibration says of it.
pub struct Simulated {
    /// The simulator.
    pub simulator: Box<dyn Simulator>,
    /// All settings, those that were left out too: they stand in the calibration's record.
    pub settings: Table,
    /// The model in a few words, e.g. `hierarchical-normal, 100 groups of 10`.
    pub description: String,
    /// Steps in which sequences of Geweke's test get about.
    pub geweke_steps: usize,
}

/// A model with its data: what is sampled, and what is known of it.
pub trait Problem: Send + Sync {
    /// The density of the posterior.
    fn density(&self) -> &(dyn LogDensity + 'static);

    /// All settings: [`Model::build`] makes the same problem of them.
    fn settings(&self) -> &Table;

    /// Where the data come from, and their fingerprint.
    fn data(&self) -> &DataRecord;

    /// The axis of observations in `posterior_predictive` and `log_likelihood`, as long as
    /// [`LogDensity::observations`].
    fn observation_dim(&self) -> Dim;

    /// Adds `observed_data` and, where the model has any, `constant_data`.
    fn add_observations(&self, data: &mut InferenceData);

    /// Parameters and observations drawn from the model, with as many observations as these data; none where the model
    /// cannot be simulated.
    fn simulator(&self) -> Option<&dyn Simulator> {
        None
    }

    /// The values that made the data, by element name such as `mu_group[7]`; empty where nobody knows them.
    fn truth(&self) -> HashMap<String, f64> {
        HashMap::new()
    }

    /// The observations of each effect, where the model has effects: what shrinks, and to what.
    fn effects(&self) -> Option<Effects<'_>> {
        None
    }
}

/// Effects of groups, which a hierarchy shrinks to their common mean.
#[derive(Clone, Copy, Debug)]
pub struct Effects<'a> {
    /// The variable of the effects, e.g. `mu_group`.
    pub variable: &'static str,
    /// The variable of their mean, e.g. `mu_pop`.
    pub mean: &'static str,
    /// The observations, each in its group.
    pub data: &'a GroupedData,
}
