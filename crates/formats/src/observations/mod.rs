//! The user's own observations: a table with a column of groups and a column of values.
//!
//! | file | recognised by | notes |
//! |--|--|--|
//! | CSV, TSV | everything that is nothing else | a header line, comments (`#`) before it; comma, semicolon or tab; gzip or Zstandard |
//! | Parquet | its first bytes `PAR1`, or `.parquet` | numbers with decimals too; text, dates, times, lengths of time, whole numbers and booleans as labels |
//! | a folder of Parquet files | being a folder | one table; folders in it such as `year=2024` are columns |
//!
//! Columns are found by their names here, in every kind of file: one that is missing, or a duplicate, is refused.
//! Labels keep the order of their first appearance. When all are whole numbers they are kept as integers. Spaces around
//! them are dropped, and what stands for a missing label is decided here: a table has the same groups in every format.

mod delimited;
mod error;
mod folder;
mod foreign;
mod instant;
mod labels;
mod number;
mod parquet;
mod size;
mod source;
mod text;

pub use error::{CellProblem, ObservationsError, RowPlace};
pub use number::{DecimalMark, is_missing_word};
pub use size::{TableSize, table_size};

use folder::PartitionFile;
use indexmap::IndexSet;
use labels::LabelIndex;
use octopus_trace::{GroupedData, LeftOut};
use source::Source;
use std::path::Path;

/// How the cells of a table are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellRules {
    /// Whether rows without a group or a value are left out, and counted; else they are refused.
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
    pub sets: Vec<(String, Result<GroupedData, ObservationsError>)>,
    /// The rows that were left out since they have no label of a data set.
    pub without_set: usize,
}

/// The observations of a file: one for each row, in the order of the rows.
#[derive(Debug, Default)]
struct Rows {
    labels: LabelIndex,
    group: Vec<usize>,
    values: Vec<f64>,
    /// The labels of the data sets, where a column gives them, and the data set of each row.
    sets: LabelIndex,
    set: Vec<usize>,
    /// What was left out of each data set; of the only one where no column gives them.
    left_out: Vec<LeftOut>,
    /// The rows that were left out since they have no label of a data set.
    without_set: usize,
    /// The lines of comments before the header.
    comments: usize,
    /// What users should know of how the table was read, each said once.
    notes: IndexSet<String>,
}

/// The observations of one data set.
#[derive(Debug, Default)]
struct OneSet {
    labels: LabelIndex,
    group: Vec<usize>,
    values: Vec<f64>,
}

/// The cells of one row as they stand in the table; `None` where nothing does.
struct Cells<'a> {
    group: Option<&'a str>,
    value: Result<f64, CellProblem>,
    /// The data set, where a column gives it.
    set: Option<Option<&'a str>>,
}

/// The columns that are read.
#[derive(Clone, Copy, Debug)]
struct Columns<'a> {
    group: &'a str,
    value: &'a str,
    /// The column of the data sets.
    set: Option<&'a str>,
}

impl Columns<'_> {
    /// Checks that no column is to be two things.
    fn check(&self, path: &Path) -> Result<(), ObservationsError> {
        let roles =
            [Some((self.group, "groups")), Some((self.value, "values")), self.set.map(|set| (set, "data sets"))];
        let roles: Vec<(&str, &str)> = roles.into_iter().flatten().collect();
        for (at, (column, first)) in roles.iter().enumerate() {
            if let Some((_, second)) = roles[at + 1..].iter().find(|(other, _)| other == column) {
                let (path, column) = (path.to_owned(), (*column).to_owned());
                return Err(ObservationsError::SameColumn { path, column, first, second });
            }
        }
        Ok(())
    }
}

impl Rows {
    /// Takes a row. What is wrong with it is returned with its column; a row without a group or a value is left out
    /// where the rules say so.
    fn push<'a>(
        &mut self,
        cells: Cells<'_>,
        columns: Columns<'a>,
        rules: CellRules,
    ) -> Result<(), (&'a str, CellProblem)> {
        let Cells { group, value, set } = cells;
        let label = |cell| rules.label(cell);
        let missing = |column: &'a str| (column, CellProblem::Empty);
        let value = match value {
            Err(problem) if !(rules.drop_missing && problem.is_missing()) => return Err((columns.value, problem)),
            value => value.ok(),
        };
        let set = match (columns.set, set.flatten().and_then(label)) {
            (None, _) => 0,
            (Some(_), Some(label)) => self.sets.index(label),
            (Some(_), None) if rules.drop_missing => {
                self.without_set += 1;
                return Ok(());
            }
            (Some(column), None) => return Err(missing(column)),
        };
        if self.left_out.len() <= set {
            self.left_out.resize(set + 1, LeftOut::default());
        }
        match (group.and_then(label), value) {
            (_, None) => self.left_out[set].without_value += 1,
            (None, _) if rules.drop_missing => self.left_out[set].without_group += 1,
            (None, _) => return Err(missing(columns.group)),
            (Some(label), Some(value)) => {
                // What is packed does not tell its rows beforehand.
                let room = self.values.try_reserve(1).and(self.group.try_reserve(1)).and(self.set.try_reserve(1));
                room.map_err(|_| (columns.value, CellProblem::NoMemory))?;
                self.group.push(self.labels.index(label));
                self.values.push(value);
                if columns.set.is_some() {
                    self.set.push(set);
                }
            }
        }
        Ok(())
    }

    /// Returns what was left out of a data set.
    fn left_out(&self, set: usize) -> LeftOut {
        LeftOut { comments: self.comments, ..self.left_out.get(set).copied().unwrap_or_default() }
    }
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
    let rows = read(path, Columns { group: group_column, value: value_column, set: None }, rules)?;
    let left_out = rows.left_out(0);
    if rows.values.is_empty() {
        return Err(empty(path, left_out, None));
    }
    grouped(path, rows.labels, &rows.group, &rows.values, left_out)
}

/// Reads the observations in `path` as [`read_grouped`] does, and divides them into data sets by the labels in
/// `set_column`. A data set whose rows are all left out is an error of its own.
///
/// # Errors
/// When the file cannot be read, is no table, lacks a column, has no rows, or has a cell that is empty or no finite
/// number: see [`read_grouped`].
pub fn read_sets(
    path: &Path,
    group_column: &str,
    value_column: &str,
    set_column: &str,
    rules: CellRules,
) -> Result<DataSets, ObservationsError> {
    let rows = read(path, Columns { group: group_column, value: value_column, set: Some(set_column) }, rules)?;
    let mut sets: Vec<OneSet> = rows.sets.all().map(|_| OneSet::default()).collect();
    if sets.is_empty() {
        return Err(empty(path, LeftOut::default(), None));
    }
    for ((&set, &group), &value) in rows.set.iter().zip(&rows.group).zip(&rows.values) {
        let OneSet { labels, group: groups, values } = &mut sets[set];
        groups.push(labels.index(rows.labels.label(group)));
        values.push(value);
    }
    let one = |(number, (name, set)): (usize, (&String, OneSet))| {
        let left_out = rows.left_out(number);
        let data = if set.values.is_empty() {
            Err(empty(path, left_out, Some(name)))
        } else {
            grouped(path, set.labels, &set.group, &set.values, left_out)
        };
        (name.clone(), data)
    };
    let sets = rows.sets.all().zip(sets).enumerate().map(one).collect();
    Ok(DataSets { sets, without_set: rows.without_set })
}

fn read(path: &Path, columns: Columns<'_>, rules: CellRules) -> Result<Rows, ObservationsError> {
    columns.check(path)?;
    let damaged = |what| ObservationsError::Damaged { path: path.to_owned(), what };
    let mut rows = Rows::default();
    let mut part = |part: &PartitionFile| {
        let PartitionFile { path, columns: of_folder } = part;
        let damaged = |what| ObservationsError::Damaged { path: path.clone(), what };
        let Source::ParquetFile(file) = Source::read(path)? else {
            return Err(damaged("it is no Parquet file".to_owned()));
        };
        octopus_files::decode(|| parquet::read(path, file, columns, rules, of_folder, &mut rows), damaged)
    };
    match Source::read(path)? {
        Source::Folder => folder::parts(path)?.iter().try_for_each(&mut part)?,
        Source::ParquetFile(file) => {
            octopus_files::decode(|| parquet::read(path, file, columns, rules, &[], &mut rows), damaged)?;
        }
        Source::ParquetBytes(bytes) => {
            octopus_files::decode(|| parquet::read(path, bytes, columns, rules, &[], &mut rows), damaged)?;
        }
        Source::Text(bytes) => delimited::read(path, &bytes, columns, rules, &mut rows)?,
    }
    rows.labels.shorten_times();
    rows.sets.shorten_times();
    for note in &rows.notes {
        tracing::warn!("{}: {note}", path.display());
    }
    Ok(rows)
}

fn grouped(
    path: &Path,
    labels: LabelIndex,
    group: &[usize],
    values: &[f64],
    left_out: LeftOut,
) -> Result<GroupedData, ObservationsError> {
    GroupedData::new(labels.into_labels(), group, values)
        .map(|data| data.with_left_out(left_out))
        .map_err(|source| ObservationsError::Data { path: path.to_owned(), source })
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

/// Returns the index of column `wanted`, one of `asked`, among `columns`.
fn find_column(path: &Path, columns: &[String], wanted: &str, asked: Columns<'_>) -> Result<usize, ObservationsError> {
    let mut found = columns.iter().enumerate().filter(|(_, name)| *name == wanted).map(|(index, _)| index);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(ObservationsError::ColumnTwice { path: path.to_owned(), column: wanted.to_owned() }),
        (None, _) => {
            let distance = |name: &&String| strsim::damerau_levenshtein(&name.to_lowercase(), &wanted.to_lowercase());
            let letters = |name: &str| name.chars().count();
            // Two names of one letter each are near in their number of changes, and have nothing in common.
            let near = |name: &&String| {
                let changes = distance(name);
                let is_asked = [Some(asked.group), Some(asked.value), asked.set].contains(&Some(name.as_str()));
                changes <= letters(wanted).div_ceil(2) && changes < letters(wanted).max(letters(name)) && !is_asked
            };
            let nearest = columns.iter().filter(near).min_by_key(distance).cloned();
            let (path, column, existing) = (path.to_owned(), wanted.to_owned(), columns.to_vec());
            Err(ObservationsError::NoColumn { path, column, existing, nearest })
        }
    }
}

#[cfg(test)]
mod tests;
