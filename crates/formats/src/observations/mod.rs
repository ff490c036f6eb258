//! The user's own observations: tables with columns of numbers, whole numbers and labels.
//!
//! | file | recognised by | notes |
//! |--|--|--|
//! | CSV, TSV | everything that is nothing else | a header line, comments (`#`) before it; comma, semicolon or tab; gzip or Zstandard |
//! | Parquet | its first bytes `PAR1`, or `.parquet` | numbers with decimals too; text, dates, times, lengths of time, whole numbers and booleans as labels |
//! | a folder of Parquet files | being a folder | one table; folders in it such as `year=2024` are columns |
//!
//! [`read_table`] reads the columns that are asked for, or all of them, and [`read_grouped`] a column of groups with a
//! column of values.
//! Columns are found by their names here, in every kind of file: one that is missing, or a duplicate, is refused.
//! Labels keep the order of their first appearance. When all are whole numbers they are kept as integers. Spaces around
//! them are dropped, and what stands for a missing label is decided here: a table has the same groups in every format.

mod columns;
mod delimited;
mod error;
mod folder;
mod foreign;
mod instant;
mod labels;
mod number;
mod parquet;
mod rows;
mod size;
mod source;
mod table;
mod text;

pub use columns::{ColumnKind, TableColumn, TableColumns};
pub use error::{CellProblem, ObservationsError, RowPlace};
pub use number::{DecimalMark, is_missing_word};
pub use size::{TableSize, table_size};
pub use table::{ColumnValues, DataTable, LabelColumn};

use columns::{Asked, GROUPS, VALUES};
use folder::PartitionFile;
use octopus_trace::{GroupedData, LeftOut};
use rows::Rows;
use source::Source;
use std::path::Path;

/// How the cells of a table are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellRules {
    /// Whether rows that lack a cell of a column that is read are left out, and counted; else they are refused.
    pub drop_missing: bool,
    /// The mark before the decimals, in text.
    pub decimal: DecimalMark,
}

impl CellRules {
    /// Returns the label in a cell without the spaces around it; `None` where it is missing.
    fn label(self, cell: &str) -> Option<&str> {
        let text = cell.trim();
        let is_missing = text.is_empty() || self.drop_missing && is_missing_word(text);
        (!is_missing).then_some(text)
    }
}

/// A table that is divided into data sets.
#[derive(Debug)]
pub struct DataSets {
    /// Each data set with its label, in the order of their first appearance.
    pub sets: Vec<(String, Result<DataTable, ObservationsError>)>,
    /// The rows that were left out since they have no label of a data set.
    pub without_set: usize,
}

/// Reads columns of the table in `path`: a row of the file is a row of the table.
///
/// # Errors
/// When the file cannot be read, is no table, lacks a column, has no rows, or has a cell that is empty or not of its
/// column's kind. The message names file, line or row, column and value, and says what to do.
pub fn read_table(path: &Path, columns: &TableColumns, rules: CellRules) -> Result<DataTable, ObservationsError> {
    let table = read(path, Asked { columns, set: None }, rules)?.into_table(path);
    if table.rows() == 0 {
        return Err(empty(path, table.left_out(), None));
    }
    Ok(table)
}

/// Reads columns as [`read_table`] does, and divides the rows into data sets by the labels in `set_column`. A data set
/// whose rows are all left out is an error of its own. [`TableColumns::All`] are all columns but this one.
///
/// # Errors
/// When the file cannot be read, is no table, lacks a column, has no rows, or has a cell that is empty or not of its
/// column's kind: see [`read_table`].
pub fn read_sets(
    path: &Path,
    columns: &TableColumns,
    set_column: &str,
    rules: CellRules,
) -> Result<DataSets, ObservationsError> {
    let rows = read(path, Asked { columns, set: Some(set_column) }, rules)?;
    let without_set = rows.without_set;
    let tables = rows.into_tables(path);
    if tables.is_empty() {
        return Err(empty(path, LeftOut::default(), None));
    }
    let one = |(name, table): (String, DataTable)| {
        let data = if table.rows() == 0 { Err(empty(path, table.left_out(), Some(&name))) } else { Ok(table) };
        (name, data)
    };
    Ok(DataSets { sets: tables.into_iter().map(one).collect(), without_set })
}

/// Reads the observations in `path`: each row is one value of column `value_column` that belongs to the
/// group named in `group_column`.
///
/// # Errors
/// When the file cannot be read, is no table, lacks a column, has no rows, or has a cell that is empty or
/// no finite number. The message names file, line or row, column and value, and says what to do.
pub fn read_grouped(
    path: &Path,
    group_column: &str,
    value_column: &str,
    rules: CellRules,
) -> Result<GroupedData, ObservationsError> {
    let columns = TableColumns::groups_and_values(group_column, value_column);
    read_table(path, &columns, rules)?.into_grouped(GROUPS, VALUES)
}

fn read(path: &Path, asked: Asked<'_>, rules: CellRules) -> Result<Rows, ObservationsError> {
    asked.check(path)?;
    let damaged = |what| ObservationsError::Damaged { path: path.to_owned(), what };
    let mut rows = Rows::default();
    match Source::read(path)? {
        Source::Folder => {
            let parts = folder::parts(path)?;
            let kinds = folder::kinds(&parts);
            for PartitionFile { path, columns } in &parts {
                let damaged = |what| ObservationsError::Damaged { path: path.clone(), what };
                let Source::ParquetFile(file) = Source::read(path)? else {
                    return Err(damaged("it is no Parquet file".to_owned()));
                };
                let of_folder = parquet::OfFolder { columns, kinds: &kinds };
                octopus_files::decode(|| parquet::read(path, file, asked, rules, of_folder, &mut rows), damaged)?;
            }
        }
        Source::ParquetFile(file) => {
            let alone = parquet::OfFolder::default();
            octopus_files::decode(|| parquet::read(path, file, asked, rules, alone, &mut rows), damaged)?;
        }
        Source::ParquetBytes(bytes) => {
            let alone = parquet::OfFolder::default();
            octopus_files::decode(|| parquet::read(path, bytes, asked, rules, alone, &mut rows), damaged)?;
        }
        Source::Text(bytes) => delimited::read(path, &bytes, asked, rules, &mut rows)?,
    }
    rows.shorten_times();
    for note in &rows.notes {
        tracing::warn!("{}: {note}", path.display());
    }
    Ok(rows)
}

/// The error of a table, or of a data set in it, that has no rows, or none that is not left out.
fn empty(path: &Path, left_out: LeftOut, set: Option<&str>) -> ObservationsError {
    let left_out = LeftOut { comments: 0, ..left_out };
    let (path, set) = (path.to_owned(), set.map(str::to_owned));
    if left_out.is_nothing() {
        return ObservationsError::NoRows { path };
    }
    ObservationsError::AllLeftOut { path, set, left_out }
}

#[cfg(test)]
mod tests;
