//! The user's table as a setting of models: the file, its columns, and how its cells are read.

use crate::fingerprint::table_sha256;
use crate::{BuildError, settings};
use octopus_formats::observations::{
    self, CellRules, ColumnKind, DataSets, DataTable, DecimalMark, TableColumn, TableColumns,
};
use octopus_trace::{DataRecord, Labels};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{PathBuf, absolute};
use toml::{Table, Value};

/// The setting that has the table.
const SETTING: &str = "data.file";

/// The entries of the setting beside names of columns.
const ENTRIES: [&str; 4] = ["path", "drop_missing", "decimal", "only"];

/// A column that a model reads from the user's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelColumn {
    /// The model's name for it, by which [`DataTable`] has it.
    pub name: Cow<'static, str>,
    /// The kind of its values; `None` for the kind that is found.
    pub kind: Option<ColumnKind>,
    /// Whether the user has to say which column of the file it is. Otherwise it is the column of the model's name, unless
    /// the user says another.
    pub must_be_named: bool,
}

impl ModelColumn {
    /// Returns the column that files call as the model does. The setting `data.file.NAME` may say another.
    pub fn new(name: impl Into<Cow<'static, str>>, kind: ColumnKind) -> Self {
        Self { name: name.into(), kind: Some(kind), must_be_named: false }
    }

    /// Returns a column that the user has to name: in the setting `data.file.NAME`, or by its option. The options
    /// `--group` and `--value` name the columns `group` and `value`; for another one the model lists an option of its own.
    pub fn named_by_user(name: impl Into<Cow<'static, str>>, kind: ColumnKind) -> Self {
        Self { must_be_named: true, ..Self::new(name, kind) }
    }
}

/// The data of a model that reads the user's table and nothing else: the table `data` of its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the table [data] with the table [data.file]")]
pub struct FileData {
    /// The table.
    pub file: TableFile,
}

/// The user's table: the setting `data.file` of models that [read a table](crate::Model::reads_table).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "the table [data.file] with path and names of columns, such as path = \"y.csv\"")]
pub struct TableFile {
    /// The file or folder.
    pub path: PathBuf,
    /// The names of columns in the file, by the names that the model has for them.
    #[serde(flatten)]
    pub columns: BTreeMap<String, String>,
    /// Whether rows that lack a cell are left out; else they are refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drop_missing: bool,
    /// The mark before the decimals, `.` or `,`.
    #[serde(default, skip_serializing_if = "is_point")]
    pub decimal: DecimalMark,
    /// The rows that belong to the data set; `None` stands for all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<RowFilter>,
}

/// The rows of a table that have `label` in `column`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowFilter {
    /// The column.
    pub column: String,
    /// The label.
    pub label: String,
}

pub(crate) fn is_point(mark: &DecimalMark) -> bool {
    *mark == DecimalMark::Point
}

impl TableFile {
    /// Returns the table in a file whose columns have the model's names.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            columns: BTreeMap::new(),
            drop_missing: false,
            decimal: DecimalMark::Point,
            only: None,
        }
    }

    /// Returns the table that settings name; `None` where they name none, or not in this form.
    pub fn in_settings(settings: &Table) -> Option<Self> {
        settings.get("data")?.get("file")?.clone().try_into().ok()
    }

    /// Puts the table into settings, in place of all other data. Its path is made absolute, so that the settings name it
    /// from any folder.
    ///
    /// # Errors
    /// When the path is no text, or the working folder is gone.
    pub fn put_into(&self, settings: &mut Table) -> Result<(), BuildError> {
        let path = absolute(&self.path).map_err(|source| BuildError::Path { path: self.path.clone(), source })?;
        let file = settings::write(&Self { path, ..self.clone() })?;
        settings::put(settings, SETTING, Value::Table(file));
        Ok(())
    }

    /// Returns how the cells are read.
    pub fn rules(&self) -> CellRules {
        CellRules { drop_missing: self.drop_missing, decimal: self.decimal }
    }

    /// Returns a model's columns with their names in the file; all of the file where the model lists none.
    ///
    /// # Errors
    /// When a column has no name, or one is named that the model does not read.
    fn table_columns(&self, columns: &[ModelColumn]) -> Result<TableColumns, BuildError> {
        if let Some(other) = self.columns.keys().find(|name| columns.iter().all(|column| column.name != **name)) {
            let names = columns.iter().map(|column| &*column.name);
            let known: Vec<String> = ENTRIES[..1]
                .iter()
                .copied()
                .chain(names)
                .chain(ENTRIES[1..].iter().copied())
                .map(|name| format!("`{name}`"))
                .collect();
            let what = format!("unknown field `{other}`, expected one of {}", known.join(", "));
            return Err(BuildError::Form { field: format!("{SETTING}.{other}"), what });
        }
        let read = |wanted: &ModelColumn| {
            let column = match self.columns.get(&*wanted.name) {
                Some(column) => column.clone(),
                None if wanted.must_be_named => {
                    let what = format!("missing field `{}`", wanted.name);
                    return Err(BuildError::Form { field: SETTING.to_owned(), what });
                }
                None => wanted.name.clone().into_owned(),
            };
            Ok(TableColumn { name: wanted.name.clone().into_owned(), column, kind: wanted.kind })
        };
        if columns.is_empty() {
            return Ok(TableColumns::All);
        }
        Ok(TableColumns::These(columns.iter().map(read).collect::<Result<_, _>>()?))
    }

    /// Reads the [columns](crate::Model::columns) of a model.
    ///
    /// # Errors
    /// When a column is not named or the table cannot be read, or no row belongs to the data set.
    pub fn read(&self, columns: &[ModelColumn]) -> Result<DataTable, BuildError> {
        let Some(RowFilter { column, label }) = &self.only else {
            return Ok(observations::read_table(&self.path, &self.table_columns(columns)?, self.rules())?);
        };
        let sets = self.read_sets(columns, column)?.sets;
        match sets.into_iter().find(|(name, _)| name == label) {
            Some((_, data)) => Ok(data?),
            None => Err(BuildError::NoRow { path: self.path.clone(), column: column.clone(), label: label.clone() }),
        }
    }

    /// Reads the columns of a model, and divides the rows into data sets by the labels in `set_column`.
    ///
    /// # Errors
    /// When a column is not named, or the table cannot be read.
    pub fn read_sets(&self, columns: &[ModelColumn], set_column: &str) -> Result<DataSets, BuildError> {
        Ok(observations::read_sets(&self.path, &self.table_columns(columns)?, set_column, self.rules())?)
    }

    /// Returns where the rows are, in words.
    pub fn describe(&self) -> String {
        let rows = self.only.as_ref().map(|RowFilter { column, label }| format!(", rows with {column} = {label}"));
        format!("{}{}", self.path.display(), rows.unwrap_or_default())
    }

    /// Returns the record of a table that was read from this file: its source, its rows, its fingerprint. Its groups are
    /// the labels of the column that has the most.
    pub fn record(&self, table: &DataTable) -> DataRecord {
        let labels = table.columns().filter_map(|(_, column)| column.as_labels()).map(|column| column.labels());
        DataRecord {
            source: self.describe(),
            sha256: table_sha256(table),
            observations: table.rows(),
            groups: labels.map(Labels::len).max().unwrap_or(0),
            left_out: table.left_out(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<ModelColumn> {
        let group = ModelColumn::named_by_user("group", ColumnKind::Label);
        vec![group, ModelColumn::new("age", ColumnKind::Real)]
    }

    fn file(text: &str) -> TableFile {
        TableFile::in_settings(&format!("[data.file]\n{text}").parse().unwrap()).unwrap()
    }

    #[test]
    fn columns_have_the_model_s_names_or_the_user_s() {
        let wanted = |text: &str| match file(text).table_columns(&columns()) {
            Ok(TableColumns::These(found)) => found.into_iter().map(|one| (one.name, one.column)).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let names =
            |group: &str, age: &str| vec![("group".to_owned(), group.to_owned()), ("age".to_owned(), age.to_owned())];
        assert_eq!(wanted("path = 'a.csv'\ngroup = 'city'"), names("city", "age"));
        assert_eq!(wanted("path = 'a.csv'\ngroup = 'city'\nage = 'AGE'"), names("city", "AGE"));
        let told = |text: &str| file(text).table_columns(&columns()).unwrap_err().to_string();
        assert_eq!(told("path = 'a.csv'"), "field `data.file`: missing field `group`");
        assert_eq!(
            told("path = 'a.csv'\ngroup = 'g'\nsex = 's'"),
            "field `data.file.sex`: unknown field `sex`, expected one of `path`, `group`, `age`, `drop_missing`, \
             `decimal`, `only`"
        );
        assert_eq!(file("path = 'a.csv'").table_columns(&[]).unwrap(), TableColumns::All);
        assert!(file("path = 'a.csv'\nx = 'y'").table_columns(&[]).is_err());
    }

    /// What settings say of a table comes back from them, with an absolute path.
    #[test]
    fn settings_keep_the_table() {
        let first = file(
            "path = 'a.csv'\ngroup = 'city'\ndrop_missing = true\ndecimal = ','\n[data.file.only]\ncolumn = 'c'\nlabel = 'l'",
        );
        let mut settings = "[data.synthetic]\nseed = 1".parse().unwrap();
        first.put_into(&mut settings).unwrap();
        let again = TableFile::in_settings(&settings).unwrap();
        assert_eq!(again, TableFile { path: absolute("a.csv").unwrap(), ..first });
        assert!(again.describe().ends_with("/a.csv, rows with c = l"), "{}", again.describe());
        assert!(settings["data"].get("synthetic").is_none());
        for none in ["", "[data.file]\ngroup = 'g'", "data = 1", "[data.file]\npath = 'a'\nage = 1"] {
            assert_eq!(TableFile::in_settings(&none.parse().unwrap()), None, "{none}");
        }
    }

    /// Each value, each label and each column's kind is in the fingerprint.
    #[test]
    fn a_changed_table_has_another_fingerprint() {
        let dir = tempfile::tempdir().unwrap();
        let mut seen = std::collections::BTreeSet::new();
        let texts = [
            "g,x\na,1\nb,2\n",
            "g,x\na,1\nc,2\n",
            "g,x\na,1\na,2\n",
            "g,x\na,1\nb,3\n",
            "g,x\na,1\nb,2.0\n",
            "g,z\na,1\nb,2\n",
            "g,x\na,1\nb,2\nb,2\n",
        ];
        for text in texts {
            let path = dir.path().join("a.csv");
            std::fs::write(&path, text).unwrap();
            let file = TableFile { path, ..file("path = 'a.csv'") };
            let table = file.read(&[]).unwrap();
            let record = file.record(&table);
            assert_eq!(record.observations, table.rows());
            assert_eq!(record.sha256, file.record(&file.read(&[]).unwrap()).sha256);
            assert!(seen.insert(record.sha256), "{text:?}");
        }
    }
}
