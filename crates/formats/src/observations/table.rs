//! A table of a user's observations, as a model reads it: columns of numbers, whole numbers and labels by their names.

use super::columns::nearest;
use super::{ColumnKind, ObservationsError, TableColumn};
use indexmap::IndexMap;
use octopus_trace::{GroupedData, Labels, LeftOut};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A table of observations: a row for each, columns by their names.
///
/// ```
/// use octopus_formats::observations::{CellRules, TableColumns, read_table};
///
/// let file = std::env::temp_dir().join(format!("octopus-table-{}.csv", std::process::id()));
/// std::fs::write(&file, "age,smoker,city\n31,1,oslo\n45.5,0,rio\n28,1,oslo\n")?;
/// let data = read_table(&file, &TableColumns::All, CellRules::default())?;
/// assert_eq!(data.rows(), 3);
/// assert_eq!(*data.real("age")?, [31.0, 45.5, 28.0]);
/// assert_eq!(data.integer("smoker")?, [1, 0, 1]);
/// let city = data.labels("city")?;
/// assert_eq!((city.codes(), city.labels().text(1).as_str()), (&[0, 1, 0][..], "rio"));
/// assert!(data.real("ages").unwrap_err().to_string().contains("did you mean `age`?"));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DataTable {
    path: PathBuf,
    columns: IndexMap<String, ReadColumn>,
    rows: usize,
    left_out: LeftOut,
}

/// A column with its name in the file.
#[derive(Clone, Debug, PartialEq)]
struct ReadColumn {
    column: String,
    values: ColumnValues,
}

/// The values of one column, a row each.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    /// Finite real numbers.
    Real(Vec<f64>),
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Labels.
    Label(LabelColumn),
}

impl ColumnValues {
    /// Returns the kind of the values.
    pub fn kind(&self) -> ColumnKind {
        match self {
            Self::Real(_) => ColumnKind::Real,
            Self::Integer(_) => ColumnKind::Integer,
            Self::Label(_) => ColumnKind::Label,
        }
    }

    /// Returns the labels, where the values are labels.
    pub fn as_labels(&self) -> Option<&LabelColumn> {
        if let Self::Label(column) = self { Some(column) } else { None }
    }
}

/// A column of labels, numbered from 0 in the order of their first appearance.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelColumn {
    pub(super) labels: Labels,
    pub(super) codes: Vec<u32>,
}

impl LabelColumn {
    /// Returns the labels, each once: the coordinates of an axis of groups. They are integers if all are whole numbers.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Returns the number of each row's label, from 0.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }
}

impl DataTable {
    pub(super) fn of_rows(
        path: &Path,
        columns: Vec<(TableColumn, ColumnValues)>,
        rows: usize,
        left_out: LeftOut,
    ) -> Self {
        let named =
            |(asked, values): (TableColumn, ColumnValues)| (asked.name, ReadColumn { column: asked.column, values });
        Self { path: path.to_owned(), columns: columns.into_iter().map(named).collect(), rows, left_out }
    }

    /// Returns the file or folder that the table was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns what was left out of the file.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Returns all columns with their names: in the order in which they were asked for, or else in the file's.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &ColumnValues)> {
        self.columns.iter().map(|(name, read)| (name.as_str(), &read.values))
    }

    /// Returns a column.
    ///
    /// # Errors
    /// When no column of this name was read.
    pub fn column(&self, name: &str) -> Result<&ColumnValues, ObservationsError> {
        Ok(&self.read(name)?.values)
    }

    fn read(&self, name: &str) -> Result<&ReadColumn, ObservationsError> {
        self.columns.get(name).ok_or_else(|| ObservationsError::NotRead {
            path: self.path.clone(),
            name: name.to_owned(),
            read: self.columns.keys().cloned().collect(),
            nearest: nearest(name, self.columns.keys()),
        })
    }

    /// Returns a column of numbers, a row each. Whole numbers are numbers, too.
    ///
    /// # Errors
    /// When no column of this name was read, or it has labels.
    pub fn real(&self, name: &str) -> Result<Cow<'_, [f64]>, ObservationsError> {
        let read = self.read(name)?;
        match &read.values {
            ColumnValues::Real(values) => Ok(Cow::Borrowed(values)),
            ColumnValues::Integer(values) => Ok(Cow::Owned(values.iter().map(|&value| value as f64).collect())),
            ColumnValues::Label(_) => Err(self.other_kind(read, ColumnKind::Real)),
        }
    }

    /// Returns a column of whole numbers, a row each.
    ///
    /// # Errors
    /// When no column of this name was read, or it has other values.
    pub fn integer(&self, name: &str) -> Result<&[i64], ObservationsError> {
        let read = self.read(name)?;
        match &read.values {
            ColumnValues::Integer(values) => Ok(values),
            _ => Err(self.other_kind(read, ColumnKind::Integer)),
        }
    }

    /// Returns a column of labels. Whole numbers are labels, too, in the order of their first appearance.
    ///
    /// # Errors
    /// When no column of this name was read, or it has real numbers.
    pub fn labels(&self, name: &str) -> Result<Cow<'_, LabelColumn>, ObservationsError> {
        let read = self.read(name)?;
        match &read.values {
            ColumnValues::Label(column) => Ok(Cow::Borrowed(column)),
            ColumnValues::Integer(values) => Ok(Cow::Owned(numbered(values))),
            ColumnValues::Real(_) => Err(self.other_kind(read, ColumnKind::Label)),
        }
    }

    /// Sorts the values of column `value` into the groups that column `group` names.
    ///
    /// # Errors
    /// When one of the columns was not read or is of another kind, or the table has no row.
    pub fn grouped(&self, group: &str, value: &str) -> Result<GroupedData, ObservationsError> {
        let (groups, values) = (self.labels(group)?, self.real(value)?);
        self.sorted(groups.labels.clone(), &groups.codes, &values)
    }

    /// Sorts values into groups as [`grouped`](Self::grouped) does, without a copy of the labels.
    ///
    /// # Errors
    /// See [`grouped`](Self::grouped).
    pub fn into_grouped(mut self, group: &str, value: &str) -> Result<GroupedData, ObservationsError> {
        let labels = match self.columns.get_mut(group) {
            Some(ReadColumn { values: ColumnValues::Label(column), .. }) => {
                std::mem::replace(&mut column.labels, Labels::Range(0))
            }
            _ => return self.grouped(group, value),
        };
        let (groups, values) = (self.labels(group)?, self.real(value)?);
        self.sorted(labels, &groups.codes, &values)
    }

    fn sorted(&self, labels: Labels, codes: &[u32], values: &[f64]) -> Result<GroupedData, ObservationsError> {
        GroupedData::of_codes(labels, codes, values)
            .map(|data| data.with_left_out(self.left_out))
            .map_err(|source| ObservationsError::Data { path: self.path.clone(), source })
    }

    /// Returns the error of a value that a model does not take; `expected` says which it takes, e.g. `must be 0 or 1`.
    pub fn refuse(&self, name: &str, row: usize, expected: &'static str) -> ObservationsError {
        let read = match self.read(name) {
            Ok(read) => read,
            Err(error) => return error,
        };
        let value = match &read.values {
            ColumnValues::Real(values) => values.get(row).map(f64::to_string),
            ColumnValues::Integer(values) => values.get(row).map(i64::to_string),
            ColumnValues::Label(column) => column.codes.get(row).map(|&code| column.labels.text(code as usize)),
        };
        let (path, column) = (self.path.clone(), read.column.clone());
        ObservationsError::Refused { path, column, row, value: value.unwrap_or_else(|| "nothing".to_owned()), expected }
    }

    /// The error of a column that has values of another kind than are asked for, with one of them.
    fn other_kind(&self, read: &ReadColumn, wanted: ColumnKind) -> ObservationsError {
        let is_number = |text: &str| match wanted {
            ColumnKind::Integer => text.parse::<i64>().is_ok(),
            _ => text.parse::<f64>().is_ok(),
        };
        let example = match &read.values {
            ColumnValues::Label(LabelColumn { labels, .. }) => {
                let odd = (0..labels.len()).find(|&at| !is_number(&labels.text(at)));
                (odd.unwrap_or(0) < labels.len()).then(|| labels.text(odd.unwrap_or(0)))
            }
            ColumnValues::Real(values) => {
                let odd = values.iter().find(|value| value.fract() != 0.0).or(values.first());
                odd.map(f64::to_string)
            }
            ColumnValues::Integer(values) => values.first().map(i64::to_string),
        };
        ObservationsError::OtherKind {
            path: self.path.clone(),
            column: read.column.clone(),
            found: read.values.kind(),
            example,
            wanted,
        }
    }
}

/// Returns whole numbers as labels.
fn numbered(values: &[i64]) -> LabelColumn {
    let (mut labels, mut seen) = (Vec::new(), HashMap::new());
    let codes = values.iter().map(|&value| {
        *seen.entry(value).or_insert_with(|| {
            labels.push(value);
            // A table has fewer rows than this number can count.
            (labels.len() - 1) as u32
        })
    });
    let codes = codes.collect();
    LabelColumn { labels: Labels::Integers(labels), codes }
}
