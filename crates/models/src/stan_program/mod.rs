//! A program in Stan's language as a model: the user's file is the model, and JSON, R's dump or a table has its data.
//!
//! Here are its settings and its options on the command line. `table.rs` says how columns become data, `binding.rs` joins
//! program and data, `problem.rs` has what commands ask of the result, `simulator.rs` draws its parameters and data,
//! `new_data.rs` predicts new rows and groups, and `overview.rs` describes a program. `shipped.rs` has the programs that
//! ship.

mod axes;
mod binding;
mod new_data;
mod overview;
mod problem;
mod shipped;
mod simulator;
mod table;

pub use overview::ProgramOverview;
pub use problem::StanProblem;
pub(crate) use shipped::PROGRAMS;
pub use shipped::{ShippedProgram, TruthMoments};

use crate::fingerprint::texts_sha256;
use crate::{
    BuildError, CalibrationTest, DataSize, FileData, Model, ModelColumn, ModelOption, OptionGroup, OptionKind, Problem,
    Simulated, TableFile, settings,
};
use binding::ProgramBinding;
use octopus_bind::{Data, DeclaredVariable};
use octopus_formats::observations::{ColumnKind, DataTable};
use octopus_stan::{ProgramBlock, StanProgram};
use serde::{Deserialize, Serialize};
use simulator::ProgramSimulator;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use toml::Table;

/// The model `stan`: a program in Stan's language, the setting `program`.
///
/// ```
/// use octopus_models::{Model, StanModel};
///
/// let dir = std::env::temp_dir().join(format!("octopus-stan-{}", std::process::id()));
/// std::fs::create_dir_all(&dir)?;
/// let program = dir.join("coin.stan");
/// std::fs::write(&program, "data { int N; array[N] int y; } parameters { real<lower=0, upper=1> p; }
///                           model { y ~ bernoulli(p); }")?;
/// let settings = format!("program = {program:?}\nset = {{ N = 3, y = [1, 0, 1] }}").parse()?;
/// let problem = StanModel.build(&settings, None)?;
/// assert_eq!(problem.density().layout().variables[0].name, "p");
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StanModel;

/// The model's name.
const NAME: &str = "stan";

const PROGRAM: ModelOption = ModelOption {
    name: "program",
    setting: "program",
    kind: OptionKind::Path,
    group: OptionGroup::Model,
    help: "The Stan program; FILE.stan as the model says the same",
};
const SET: ModelOption = ModelOption {
    name: "set",
    setting: "set",
    kind: OptionKind::Entries,
    group: OptionGroup::Model,
    help: "A value of the program's data, over the file's: --set N=3 --set x=[1,2.5]; may be repeated",
};
const OPTIONS: [ModelOption; 2] = [PROGRAM, SET];

const SIMULATOR_OPTIONS: [ModelOption; 4] = [
    PROGRAM,
    SET,
    ModelOption {
        name: "data",
        setting: "data.file.path",
        kind: OptionKind::Path,
        group: OptionGroup::Data,
        help: "The program's data, of which sizes and predictors are read; what has a sampling statement is drawn",
    },
    ModelOption {
        name: "simulator",
        setting: "simulator",
        kind: OptionKind::Path,
        group: OptionGroup::Model,
        help: "A second Stan program whose generated quantities are parameters and data of the first, by their names",
    },
];

/// Steps of Geweke's test: few, since each begins with other data that are bound anew.
const GEWEKE_STEPS: usize = 200;

/// The settings of a program with its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "settings with program, and perhaps [data.file] and [set]")]
pub(crate) struct StanSettings {
    /// The program's file, or the name of a program that ships.
    program: PathBuf,
    /// The SHA-256 of its text with all that it includes, as a run's record has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program_sha256: Option<String>,
    /// The text of each of its files, as a run's record has it; nothing is built from it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    program_text: BTreeMap<String, String>,
    /// The file of data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<FileData>,
    /// Values of single data.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    set: Table,
    /// The file of a second program, which draws parameters and data for a calibration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    simulator: Option<PathBuf>,
}

impl StanSettings {
    fn read(settings: &Table) -> Result<Self, BuildError> {
        if !settings.contains_key("program") {
            let what = match settings.contains_key("program_text") {
                true => {
                    "the program that made this run has the model's text and data in itself: only it can build them"
                }
                false => "no program is given: give FILE.stan as the model, or `program` in a file of settings",
            };
            return Err(BuildError::Program(what.to_owned()));
        }
        settings::read(settings)
    }

    /// Returns the program that ships, where the settings name one.
    fn shipped(&self) -> Option<&'static ShippedProgram> {
        ShippedProgram::find(self.program.to_str()?)
    }
}

impl StanModel {
    /// Reads the program that settings name.
    ///
    /// # Errors
    /// [`BuildError::Program`] when they name none, or it cannot be read or is wrong.
    pub fn program(settings: &Table) -> Result<StanProgram, BuildError> {
        StanSettings::read(settings)?.read_program()
    }

    /// Binds the program and compiles it: its steps are what each gradient does.
    ///
    /// # Errors
    /// As [`Model::build`].
    pub fn compile(settings: &Table) -> Result<octopus_program::Program, BuildError> {
        ProgramBinding::new(StanSettings::read(settings)?, None)?.compile()
    }
}

impl Model for StanModel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "a program in Stan's language: give FILE.stan in place of the name"
    }

    fn options(&self) -> &'static [ModelOption] {
        &OPTIONS
    }

    fn program_file(&self) -> Option<(&'static str, &'static str)> {
        Some(("stan", OPTIONS[0].name))
    }

    fn reads_table(&self) -> bool {
        true
    }

    /// A program reads the columns of its data with one dimension, but for what `set` has.
    fn columns(&self, settings: &Table) -> Result<Vec<ModelColumn>, BuildError> {
        let settings = StanSettings::read(settings)?;
        let declared = DeclaredVariable::in_block(&settings.read_program()?, ProgramBlock::Data);
        let read = declared.into_iter().filter(|one| one.ty.dimensions() == 1 && !settings.set.contains_key(&one.name));
        let column = |one: DeclaredVariable| ModelColumn {
            kind: (!one.ty.is_int()).then_some(ColumnKind::Real),
            ..ModelColumn::new(one.name, ColumnKind::Real)
        };
        Ok(read.map(column).collect())
    }

    fn data_size(&self, settings: &Table) -> Result<Option<DataSize>, BuildError> {
        match TableFile::in_settings(settings).filter(|file| !Data::is_file_name(&file.path)) {
            Some(file) => Ok(DataSize::of_table(&file, self.columns(settings)?.len())),
            None => Ok(None),
        }
    }

    fn build(&self, settings: &Table, table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError> {
        Ok(Arc::new(StanProblem::new(settings, table)?))
    }

    /// Reads the data, too: they may be in a file that is no table.
    fn read_and_build(&self, settings: &Table, table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError> {
        self.build(settings, table)
    }

    fn simulator_options(&self) -> &'static [ModelOption] {
        &SIMULATOR_OPTIONS
    }

    /// Draws by the program's sampling statements, or by the second program that the setting `simulator` names.
    fn simulator(&self, settings: &Table, test: CalibrationTest) -> Result<Option<Simulated>, BuildError> {
        let own = StanSettings::read(settings)?;
        let second = own.simulator.clone();
        if second.is_some() && test == CalibrationTest::Geweke {
            let what = "Geweke's test needs data given parameters, and a second program draws both at once".to_owned();
            return Err(BuildError::Form { field: "simulator".to_owned(), what });
        }
        let ProgramBinding { program, data, labelled, mut settings, .. } = ProgramBinding::new(own, None)?;
        let name = program.files().next().map(|(name, _)| name.to_owned()).unwrap_or_default();
        let (made, description) = match second {
            None => (ProgramSimulator::new(&program, &data, &labelled), name),
            Some(path) => {
                let simulator = StanSettings::program_at(&path)?;
                // A calibration goes on with the same program only.
                let sha256 = texts_sha256(simulator.files().map(|(_, text)| text));
                settings.insert("simulator_sha256".to_owned(), sha256.into());
                let made = ProgramSimulator::by(&program, &simulator, &data, &labelled);
                (made, format!("{name}, drawn by {}", binding::shown(&path).display()))
            }
        };
        let simulator = Box::new(made.map_err(|error| binding::of_binding(&error))?);
        Ok(Some(Simulated { simulator, settings, description, geweke_steps: GEWEKE_STEPS }))
    }
}

#[cfg(test)]
mod tests;
