//! The errors of making a density of data, and of building a posterior from the name of a model and its settings.

use octopus_density::DataError;
use octopus_formats::observations::ObservationsError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a density or a simulator cannot be made of data and settings.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ModelError {
    /// The data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Effects and their standard errors differ in number.
    #[error("{effects} effects but {errors} standard errors: give one to each effect")]
    StandardErrors {
        /// Effects given.
        effects: usize,
        /// Standard errors given.
        errors: usize,
    },
    /// A density has another number of observations than were given with it.
    #[error("{given} observations were given, and the density has {expected} (LogDensity::observations)")]
    Observations {
        /// Observations given.
        given: usize,
        /// Observations of the density.
        expected: usize,
    },
    /// A standard error is not positive, or so small or large that 1 / sigma^2 is no number.
    #[error("row {}: the standard error is {value}: it must be positive, and 1 over its square a finite number", row + 1)]
    StandardError {
        /// The row, counted from 0; the message counts from 1.
        row: usize,
        /// The standard error given.
        value: f64,
    },
    /// The values do not vary where they must: no posterior is defined.
    #[error(
        "{what}: with nothing that tells sigma_obs, its posterior piles up at 0 without end, and no draws would mean \
         anything; {remedy}"
    )]
    NoSpread {
        /// What is the same, in words.
        what: String,
        /// What to do, in words.
        remedy: &'static str,
    },
    /// A simulator cannot make parameters or data, or the density does not take them.
    #[error("{0}")]
    Simulation(String),
    /// A setting of the model or its data is out of range.
    #[error("{field} = {value}: {expected}")]
    Setting {
        /// The setting's name.
        field: &'static str,
        /// The value given.
        value: f64,
        /// The values that are allowed, in words.
        expected: &'static str,
    },
}

/// Why a model cannot be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// No model has this name.
    #[error("no model is called `{name}`; those that are known: {known}")]
    Unknown {
        /// The name given.
        name: String,
        /// The names of all models, with commas between them.
        known: String,
    },
    /// A setting has a name that the model does not know, or a value of the wrong type.
    #[error("field `{field}`: {what}")]
    Form {
        /// The setting, e.g. `prior.mu_sd`; empty where the whole table is at fault.
        field: String,
        /// What is wrong with it.
        what: String,
    },
    /// A setting is out of range, or the model does not take the data.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A table of observations cannot be read.
    #[error(transparent)]
    Observations(#[from] ObservationsError),
    /// The model needs a table of observations, and the settings name none.
    #[error("the model needs a table of observations: give --data FILE, or `data.file.path` in a file of settings")]
    NoTable,
    /// The absolute path of a file cannot be found, e.g. because the working folder is gone.
    #[error("cannot find {}: {source}", path.display())]
    Path {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No row of a table belongs to the data set.
    #[error("{}: no row has `{label}` in column `{column}`", path.display())]
    NoRow {
        /// The table.
        path: PathBuf,
        /// The column that tells data sets apart.
        column: String,
        /// The label that no row has.
        label: String,
    },
    /// A program in a file is wrong, or asks for what is not supported; the messages have their places.
    #[error("{0}")]
    Program(String),
    /// The data do not fit a program, or cannot be read: a line for each fault.
    #[error("{0}")]
    ProgramData(String),
    /// Values of parameters where chains are to start cannot be used: a line for each fault.
    #[error("{0}")]
    StartingValues(String),
    /// The program's text differs from the one of the run that is built again.
    #[error(
        "the program {} is not the run's (SHA-256 then {then}, now {now}): restore it (run.toml has its text as \
         `program_text`), or begin a new run",
        path.display()
    )]
    OtherProgram {
        /// The program's file.
        path: PathBuf,
        /// The SHA-256 of the text of the run, with all that it includes.
        then: String,
        /// The SHA-256 of the text now.
        now: String,
    },
    /// The data differ from those of the run that is built again.
    #[error(
        "the data in {data} are not those of the run (SHA-256 of the {what} then {then}, now {now}): restore them, or \
         begin a new run"
    )]
    OtherData {
        /// The source of the data, in words.
        data: String,
        /// The part of the data that differs: `values` or `groups`.
        what: &'static str,
        /// The SHA-256 of the data of the run.
        then: String,
        /// The SHA-256 of the data now.
        now: String,
    },
}
