//! The traits by which programs know models, and posteriors given data.

use crate::exact::{Exact, ExactError};
use crate::starting_point;
use crate::{BuildError, DataSize, ModelColumn, ModelError, ModelOption, Simulator, TableFile};
use octopus_bind::{Data, StartingPoint};
use octopus_density::{Dim, GroupedData, LogDensity};
use octopus_formats::observations::DataTable;
use octopus_random::Stream;
use octopus_trace::{DataRecord, Dataset, InferenceData};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use toml::Table;

/// A model: it has a name and settings, and builds posteriors from settings.
///
/// Commands, records of runs and calibrations know models through this trait only; `docs/models.md` shows from end to
/// end how to write a new model.
pub trait Model: Send + Sync {
    /// Returns the model's name on the command line and in records, which is also the name of its densities.
    fn name(&self) -> &'static str;

    /// Returns a description of the model, in one line.
    fn about(&self) -> &'static str;

    /// Returns the settings of a posterior that a command line may give. A file of settings may have others besides.
    fn options(&self) -> &'static [ModelOption] {
        &[]
    }

    /// Returns the ending of files that stand for the model on the command line, with the option that names the file:
    /// with `("stan", "program")` the word `funnel.stan` says `--program funnel.stan` too. The model cannot be built without
    /// such a file; `None` where it can.
    fn program_file(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Returns whether the model is a program: no kernels are compiled for it, so it runs on the CPU.
    fn is_program(&self) -> bool {
        self.program_file().is_some()
    }

    /// Returns whether the model reads [the user's table](TableFile), the setting `data.file`: then `--data` and `--batch`
    /// work for it.
    fn reads_table(&self) -> bool {
        false
    }

    /// Returns the columns that the model reads from the user's table, which may depend on other settings. An empty list
    /// stands for all columns of the file: by their names there, with the kinds that are found.
    ///
    /// # Errors
    /// When a setting is unknown or out of range.
    fn columns(&self, _settings: &Table) -> Result<Vec<ModelColumn>, BuildError> {
        Ok(Vec::new())
    }

    /// Returns how large the data of [`build`](Self::build) are, before they are made or read; `None` where they are small,
    /// or do not tell. A table that the settings name is asked here.
    ///
    /// # Errors
    /// When a setting is unknown or out of range.
    fn data_size(&self, settings: &Table) -> Result<Option<DataSize>, BuildError> {
        match TableFile::in_settings(settings).filter(|_| self.reads_table()) {
            Some(file) => Ok(DataSize::of_table(&file, self.columns(settings)?.len())),
            None => Ok(None),
        }
    }

    /// Builds the posterior that `settings` describe; settings that are left out have their defaults. `table` has the
    /// [columns](Self::columns) of `data.file`, if the settings have one: [`read_and_build`](Self::read_and_build) reads
    /// them.
    ///
    /// # Errors
    /// When a setting is unknown or out of range, or the data cannot be used.
    fn build(&self, settings: &Table, table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError>;

    /// Builds the posterior, and before it reads the user's table if `settings` have one and it is not in `table` yet. The
    /// settings that [`build`](Self::build) is given have the table's absolute path.
    ///
    /// # Errors
    /// When a setting is unknown or out of range, or the data cannot be read or used.
    fn read_and_build(&self, settings: &Table, table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError> {
        // A setting `data.file` of another form is refused by `build`, by its name.
        let Some(file) = TableFile::in_settings(settings).filter(|_| self.reads_table()) else {
            return self.build(settings, None);
        };
        let table = match table {
            Some(table) => table,
            None => file.read(&self.columns(settings)?)?,
        };
        let mut settings = settings.clone();
        file.put_into(&mut settings)?;
        self.build(&settings, Some(table))
    }

    /// Returns the settings of a [simulator](Self::simulator) that a command line may give.
    fn simulator_options(&self) -> &'static [ModelOption] {
        &[]
    }

    /// Returns how large a data set of the [simulator](Self::simulator) is, before one is made; `None` where it is small.
    ///
    /// # Errors
    /// When a setting is unknown or out of range.
    fn simulated_size(&self, _settings: &Table, _test: CalibrationTest) -> Result<Option<DataSize>, BuildError> {
        Ok(None)
    }

    /// Makes a simulator, which draws parameters and data of the model for a calibration. A model that returns `None`
    /// cannot be calibrated.
    ///
    /// # Errors
    /// When a setting is unknown or out of range.
    fn simulator(&self, settings: &Table, test: CalibrationTest) -> Result<Option<Simulated>, BuildError>;
}

/// The test that a calibration makes. Simulated data of different sizes suit different tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalibrationTest {
    /// The test by the ranks of true values among posterior draws.
    Ranks,
    /// Geweke's test.
    Geweke,
}

/// A simulator, with what a calibration needs to know of it.
pub struct Simulated {
    /// The simulator.
    pub simulator: Box<dyn Simulator>,
    /// All settings, including defaults of those that were left out, for the calibration's record.
    pub settings: Table,
    /// The model in a few words, e.g. `hierarchical-normal, 100 groups of 10`.
    pub description: String,
    /// The number of steps of each sequence of Geweke's test, unless the user gives another; it lets a sequence move
    /// through its whole distribution.
    pub geweke_steps: usize,
}

/// A model with its data: the posterior that is sampled, and facts about it.
pub trait Problem: Send + Sync {
    /// Returns the density of the posterior.
    fn density(&self) -> &(dyn LogDensity + 'static);

    /// Returns all settings; [`Model::build`] makes the same problem from them.
    fn settings(&self) -> &Table;

    /// Returns the source of the data, and their fingerprint.
    fn data(&self) -> &DataRecord;

    /// Returns the axis of observations in `posterior_predictive` and `log_likelihood`; its length is
    /// [`LogDensity::observations`].
    fn observation_dim(&self) -> Dim;

    /// Returns the variables that are observed, in the order in which the density has their numbers: one named `y` with the
    /// axis of [observations](Self::observation_dim), unless the model says otherwise.
    fn observed_variables(&self) -> Vec<ObservedVariable> {
        let axis = self.observation_dim();
        vec![ObservedVariable { name: "y".to_owned(), numbers: axis.clone(), terms: axis }]
    }

    /// Returns what in the model keeps its log likelihoods from being told apart, and what to do; `None` where it has them,
    /// or cannot have any.
    fn likelihood_obstacle(&self) -> Option<String> {
        None
    }

    /// Adds the groups `observed_data` and, where the model has any, `constant_data`.
    fn add_observations(&self, data: &mut InferenceData);

    /// Returns a simulator that draws parameters and observations from the model, with as many observations as these
    /// data have; `None` where the model cannot be simulated.
    fn simulator(&self) -> Option<&dyn Simulator> {
        None
    }

    /// Returns why the prior may not integrate to 1, so that the evidence is that of the log density as it is written; `None`
    /// where it does.
    fn prior_obstacle(&self) -> Option<String> {
        None
    }

    /// Returns what in the model keeps it from being simulated, and what to do; `None` where it can be simulated, or nothing
    /// can be done.
    fn simulator_obstacle(&self) -> Option<String> {
        None
    }

    /// Returns the position of these values of parameters, as files of starting values have them; parameters without a value
    /// keep their coordinates in `otherwise`. The layout says how, where a model says nothing else.
    ///
    /// # Errors
    /// When there is no such parameter, or a value does not fit: the error names source, element and value.
    fn position_of(&self, values: &Data, otherwise: &[f64]) -> Result<StartingPoint, BuildError> {
        starting_point::of_layout(self.density(), values, otherwise)
    }

    /// Joins the model as it was sampled with new data, which it predicts; `None` where it predicts no new data. `file` has
    /// them, and `set` values over the file's.
    ///
    /// # Errors
    /// When the data cannot be read or do not fit, or the model does not say how they are distributed.
    fn new_data(&self, _file: Option<&Path>, _set: &Table) -> Result<Option<Box<dyn Predictor + '_>>, BuildError> {
        Ok(None)
    }

    /// Returns the true values that made the data, by element name such as `mu_group[7]`; empty where they are not
    /// known.
    fn truth(&self) -> HashMap<String, f64> {
        HashMap::new()
    }

    /// Returns the effects of groups with their observations; `None` where the model has no such effects.
    fn effects(&self) -> Option<Effects<'_>> {
        None
    }

    /// Computes the exact posterior, with which draws are compared; `None` where it is not known.
    ///
    /// # Errors
    /// When it cannot be computed for these data.
    fn exact(&self) -> Result<Option<Box<dyn Exact>>, ExactError> {
        Ok(None)
    }

    /// Returns the model's statements as a report shows them, e.g. `mu_pop ~ Normal(50, 20)`; there may be none.
    fn statements(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what a user should know of the data before draws are made, such as what they cannot tell apart: sentences
    /// that say what to do.
    fn findings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what went wrong while draws were expanded, such as generated quantities that failed: sentences.
    fn failures(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the options that give priors on the scale of the data, e.g. `--mu-mean 512 --mu-sd 80`; `None` where the
    /// model has no such options, or the data show no scale.
    fn priors_of_data(&self) -> Option<String> {
        None
    }

    /// Returns the name of the form in which the density evaluates its likelihood, e.g. `collapsed`; `None` where the
    /// model has one form only.
    fn likelihood(&self) -> Option<&'static str> {
        None
    }

    /// Makes the density with each form of its likelihood; all have the same value. There are none where the model has
    /// one form only.
    ///
    /// # Errors
    /// When the density cannot be made.
    fn likelihoods(&self) -> Result<Vec<NamedLikelihood>, ModelError> {
        Ok(Vec::new())
    }
}

/// New data of a model that was sampled.
pub trait Predictor {
    /// Returns the variables that are predicted, in the order of their numbers: the axes of their terms are those of their
    /// numbers.
    fn variables(&self) -> Vec<ObservedVariable>;

    /// Returns the new data that are given, such as predictors.
    fn constant_data(&self) -> Dataset;

    /// Returns sentences that name new groups and new elements of parameters, which are drawn from their distributions.
    fn news(&self) -> Vec<String>;

    /// Draws all predicted numbers given a position of the sampled density.
    ///
    /// # Errors
    /// When they cannot be drawn, with the reason.
    fn predict(&self, position: &[f64], random: &mut Stream) -> Result<Vec<f64>, String>;
}

/// A variable that is observed.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedVariable {
    /// Its name in the groups of a trace.
    pub name: String,
    /// The axis of its numbers, observed and replicated.
    pub numbers: Dim,
    /// The axis of its log likelihoods: of vectors there is one for each.
    pub terms: Dim,
}

/// A density with one form of its likelihood.
pub struct NamedLikelihood {
    /// The name of the form, e.g. `pointwise`.
    pub name: &'static str,
    /// The density.
    pub density: Box<dyn LogDensity>,
}

/// The effects of groups, which a hierarchy shrinks to their common mean.
#[derive(Clone, Copy, Debug)]
pub struct Effects<'a> {
    /// The variable of the effects, e.g. `mu_group`.
    pub variable: &'static str,
    /// The variable of their mean, e.g. `mu_pop`.
    pub mean: &'static str,
    /// The observations, each in its group.
    pub data: &'a GroupedData,
}
