//! The user's own observations: a table with a column of groups and a column of values.
//!
//! | file | recognised by | notes |
//! |--|--|--|
//! | CSV, TSV | everything that is not Parquet | a header line; comma, semicolon or tab; gzip or Zstandard |
//! | Parquet | its first bytes `PAR1`, or `.parquet` | any number type, any string type |
//!
//! Columns are found by their names here, in either kind of file: one that is missing, or a duplicate, is refused.
//! Labels keep the order of their first appearance. When all are whole numbers they are kept as integers.

mod delimited;
mod error;
mod labels;
mod parquet;
mod source;

pub use error::{CellProblem, ObservationsError};

use labels::LabelIndex;
use octopus_trace::GroupedData;
use source::Source;
use std::path::Path;

/// The observations of a file: one for each row, in the order of the rows.
#[derive(Debug, Default)]
struct Rows {
    labels: LabelIndex,
    group: Vec<usize>,
    values: Vec<f64>,
    /// The labels of the data sets, where a column gives them, and the data set of each row.
    sets: LabelIndex,
    set: Vec<usize>,
}

/// The columns that are read.
#[derive(Clone, Copy, Debug)]
struct Columns<'a> {
    group: &'a str,
    value: &'a str,
    /// The column of the data sets.
    set: Option<&'a str>,
}

/// Reads the observations in `path`: each row is one value of column `value_column` that belongs to the
/// group named in `group_column`.
///
/// # Errors
/// When the file cannot be read, is no table, lacks a column, has no rows, or has a cell that is empty or
/// no finite number. The message names file, row, column and value, and says what to do.
pub fn read_grouped(path: &Path, group_column: &str, value_column: &str) -> Result<GroupedData, ObservationsError> {
    let rows = read(path, Columns { group: group_column, value: value_column, set: None })?;
    grouped(path, rows.labels, &rows.group, &rows.values)
}

/// Reads the observations in `path` as [`read_grouped`] does, and divides them into data sets by the labels in
/// `set_column`. Returns each data set with its label, in the order of their first appearance.
///
/// # Errors
/// When the file cannot be read, is no table, lacks a column, has no rows, or has a cell that is empty or no finite
/// number: see [`read_grouped`].
pub fn read_sets(
    path: &Path,
    group_column: &str,
    value_column: &str,
    set_column: &str,
) -> Result<Vec<(String, GroupedData)>, ObservationsError> {
    let rows = read(path, Columns { group: group_column, value: value_column, set: Some(set_column) })?;
    let mut sets: Vec<(LabelIndex, Vec<usize>, Vec<f64>)> = rows.sets.all().map(|_| Default::default()).collect();
    for ((&set, &group), &value) in rows.set.iter().zip(&rows.group).zip(&rows.values) {
        let (labels, groups, values) = &mut sets[set];
        groups.push(labels.index(rows.labels.label(group)));
        values.push(value);
    }
    let one = |(name, (labels, group, values)): (&String, (LabelIndex, Vec<usize>, Vec<f64>))| {
        Ok((name.clone(), grouped(path, labels, &group, &values)?))
    };
    rows.sets.all().zip(sets).map(one).collect()
}

fn read(path: &Path, columns: Columns<'_>) -> Result<Rows, ObservationsError> {
    let damaged = |what| ObservationsError::Damaged { path: path.to_owned(), what };
    let rows = match Source::read(path)? {
        Source::ParquetFile(file) => octopus_files::decode(|| parquet::read(path, file, columns), damaged)?,
        Source::ParquetBytes(bytes) => octopus_files::decode(|| parquet::read(path, bytes, columns), damaged)?,
        Source::Text(text) => delimited::read(path, &text, columns)?,
    };
    if rows.values.is_empty() {
        return Err(ObservationsError::NoRows { path: path.to_owned() });
    }
    Ok(rows)
}

fn grouped(path: &Path, labels: LabelIndex, group: &[usize], values: &[f64]) -> Result<GroupedData, ObservationsError> {
    GroupedData::new(labels.into_labels(), group, values)
        .map_err(|source| ObservationsError::Data { path: path.to_owned(), source })
}

/// Returns the index of column `wanted` among `columns`.
fn find_column(path: &Path, columns: &[String], wanted: &str) -> Result<usize, ObservationsError> {
    let mut found = columns.iter().enumerate().filter(|(_, name)| *name == wanted).map(|(index, _)| index);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(ObservationsError::ColumnTwice { path: path.to_owned(), column: wanted.to_owned() }),
        (None, _) => {
            let distance = |name: &&String| strsim::damerau_levenshtein(&name.to_lowercase(), &wanted.to_lowercase());
            let near = |name: &&String| distance(name) <= wanted.chars().count().div_ceil(2);
            let nearest = columns.iter().filter(near).min_by_key(distance).cloned();
            let (path, column, existing) = (path.to_owned(), wanted.to_owned(), columns.to_vec());
            Err(ObservationsError::NoColumn { path, column, existing, nearest })
        }
    }
}

#[cfg(test)]
mod tests;
