//! A program joined with its data: where the data come from, what is checked, and how faults are told.

use super::table::{LabelledSize, of_table};
use super::{NAME, ShippedProgram, StanModel, StanSettings};
use crate::fingerprint::{data_sha256, texts_sha256};
use crate::{BuildError, FileData, Model, TableFile, settings};
use octopus_bind::{BindError, BoundModel, Data, StanDensity};
use octopus_formats::observations::DataTable;
use octopus_stan::{StanError, StanProgram};
use octopus_trace::DataRecord;
use std::path::{Path, PathBuf, absolute};
use toml::{Table, Value};

/// A program with its data.
pub(super) struct ProgramBinding {
    /// The model's name.
    pub(super) name: &'static str,
    pub(super) program: StanProgram,
    pub(super) bound: BoundModel,
    pub(super) data: Data,
    /// The sizes that are numbers of labels.
    pub(super) labelled: Vec<LabelledSize>,
    pub(super) record: DataRecord,
    /// All settings, for the run's record.
    pub(super) settings: Table,
}

impl StanSettings {
    /// Reads the program. Messages name its file from the working folder.
    pub(super) fn read_program(&self) -> Result<StanProgram, BuildError> {
        match self.shipped() {
            Some(shipped) => StanProgram::parse(&shipped.file_name(), shipped.text).map_err(|error| of_text(&error)),
            None => Self::program_at(&self.program),
        }
    }

    /// Reads a program.
    pub(super) fn program_at(path: &Path) -> Result<StanProgram, BuildError> {
        StanProgram::read(shown(path)).map_err(|error| of_text(&error))
    }
}

impl ProgramBinding {
    /// Reads the program and its data, and binds them; `table` has the columns of a table that has been read already.
    ///
    /// # Errors
    /// When the program is wrong, or not the run's, or the data cannot be read or do not fit.
    pub(super) fn new(mut own: StanSettings, table: Option<DataTable>) -> Result<Self, BuildError> {
        let program = own.read_program()?;
        let shipped = own.shipped();
        if shipped.is_none() {
            own.program = whole(&own.program)?;
        }
        let now = texts_sha256(program.files().map(|(_, text)| text));
        if let Some(then) = own.program_sha256.take().filter(|then| *then != now) {
            return Err(BuildError::OtherProgram { path: own.program, then, now });
        }
        let texts = program.files().map(|(name, text)| {
            let name = if shipped.is_some() { name.to_owned() } else { beside(&own.program, Path::new(name))? };
            Ok((name, text.to_owned()))
        });
        own.program_text = texts.collect::<Result<_, BuildError>>()?;
        own.program_sha256 = Some(now);
        if let Some(FileData { file }) = &mut own.data {
            file.path = whole(&file.path)?;
        }
        let set = of_set(&own.set)?;
        let (data, labelled, record) = match &own.data {
            None => {
                let (data, source) = match shipped {
                    Some(shipped) => (shipped_data(shipped)?, "the data that ship with the program"),
                    None => (Data::new("the data"), "no file"),
                };
                (data, Vec::new(), DataRecord { source: source.into(), ..DataRecord::default() })
            }
            Some(FileData { file }) if Data::is_file_name(&file.path) => {
                of_table_alone(file)?;
                let data = Data::read(shown(&file.path)).map_err(|error| BuildError::ProgramData(error.to_string()))?;
                (data, Vec::new(), DataRecord { source: file.describe(), ..DataRecord::default() })
            }
            Some(FileData { file }) => {
                let table = match table {
                    Some(table) => table,
                    None => file.read(&StanModel.columns(&settings::write(&own)?)?)?,
                };
                let (data, labelled) = of_table(&program, &table, &shown(&file.path).display().to_string(), &set, None);
                (data, labelled, file.record(&table))
            }
        };
        let name = shipped.map_or(NAME, |shipped| shipped.name);
        Self::join(name, program, data.overlaid(set), labelled, record, settings::write(&own)?)
    }

    /// Binds a program to data that are here already. The settings have its text for the record; they build nothing again.
    pub(super) fn given(program: StanProgram, data: Data) -> Result<Self, BuildError> {
        let texts = program.files().map(|(name, text)| (name.to_owned(), Value::from(text))).collect();
        let settings = Table::from_iter([("program_text".to_owned(), Value::Table(texts))]);
        let record = DataRecord { source: data.source().to_owned(), ..DataRecord::default() };
        Self::join(NAME, program, data, Vec::new(), record, settings)
    }

    fn join(
        name: &'static str,
        program: StanProgram,
        data: Data,
        labelled: Vec<LabelledSize>,
        record: DataRecord,
        settings: Table,
    ) -> Result<Self, BuildError> {
        let sha256 = data_sha256(&data, labelled.iter().map(|size| &size.labels));
        let bound = BoundModel::new(&program, &data).map_err(|error| of_binding(&error))?;
        Ok(Self { name, program, bound, data, labelled, record: DataRecord { sha256, ..record }, settings })
    }

    pub(super) fn compile(&self) -> Result<octopus_program::Program, BuildError> {
        self.bound.compile().map_err(|error| of_binding(&error))
    }

    pub(super) fn density(&self) -> Result<StanDensity, BuildError> {
        self.bound.density(self.name).map_err(|error| of_binding(&error))
    }
}

pub(super) fn shipped_data(shipped: &ShippedProgram) -> Result<Data, BuildError> {
    Data::json(&shipped.data_name(), shipped.data).map_err(|error| BuildError::ProgramData(error.to_string()))
}

/// Returns a path as messages show it: from the working folder, where it is below.
pub(super) fn shown(path: &Path) -> PathBuf {
    let folder = std::env::current_dir().ok();
    folder.and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path).to_owned()
}

pub(super) fn whole(path: &Path) -> Result<PathBuf, BuildError> {
    absolute(path).map_err(|source| BuildError::Path { path: path.to_owned(), source })
}

/// Returns a path as a record has it: from the program's folder, where it is below.
fn beside(program: &Path, path: &Path) -> Result<String, BuildError> {
    let path = whole(path)?;
    let inside = program.parent().and_then(|folder| path.strip_prefix(folder).ok());
    Ok(inside.unwrap_or(&path).to_string_lossy().into_owned())
}

/// What is said after `error:`, which the first message says itself.
pub(super) fn without_title(text: &str) -> String {
    let title = ["warning: ", "error: "].into_iter().find_map(|title| text.strip_prefix(title));
    title.unwrap_or(text).to_owned()
}

fn of_text(error: &StanError) -> BuildError {
    BuildError::Program(without_title(&error.to_string()))
}

pub(super) fn of_binding(error: &BindError) -> BuildError {
    let text = without_title(&error.to_string());
    match error {
        BindError::Unreadable { .. } | BindError::Format { .. } | BindError::Data(_) => BuildError::ProgramData(text),
        BindError::Refused(_) | BindError::Program(_) => BuildError::Program(text),
    }
}

/// Refuses settings of columns and cells where the file is no table.
pub(super) fn of_table_alone(file: &TableFile) -> Result<(), BuildError> {
    if *file == TableFile::at(&file.path) {
        return Ok(());
    }
    let what = format!("{} is no table: it has no columns or cells to say anything about", file.path.display());
    Err(BuildError::Form { field: "data.file".to_owned(), what })
}

/// Returns the data of the setting `set`.
pub(super) fn of_set(set: &Table) -> Result<Data, BuildError> {
    let mut all = Data::new("--set");
    for (name, value) in set {
        let mut text = String::new();
        let wrong = |what: String| BuildError::Form { field: format!("set.{name}"), what };
        write_json(value, &mut text).map_err(wrong)?;
        let one = Data::json("--set", &format!("{{\"x\": {text}}}"));
        let one = one.map_err(|error| wrong(error.to_string().replace("--set:0: `x`: ", "")))?;
        if let Some(value) = one.get("x") {
            all = all.with(name, value.clone());
        }
    }
    Ok(all)
}

/// Writes a value as Stan's JSON has it.
fn write_json(value: &Value, text: &mut String) -> Result<(), String> {
    match value {
        Value::Integer(number) => text.push_str(&number.to_string()),
        Value::Float(number) if number.is_finite() => text.push_str(&format!("{number:?}")),
        Value::Float(number) if number.is_nan() => text.push_str("\"NaN\""),
        Value::Float(number) => text.push_str(if *number > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" }),
        Value::Array(values) => {
            text.push('[');
            for (at, value) in values.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                write_json(value, text)?;
            }
            text.push(']');
        }
        other => return Err(format!("{other} is no number and no list of numbers: give 3, 2.5 or [1, 2]")),
    }
    Ok(())
}
