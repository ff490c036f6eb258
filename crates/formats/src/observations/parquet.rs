//! Observations from Parquet: which types of columns and compressions are accepted, and empty cells.

use super::columns::Asked;
use super::labels::LabelKind;
use super::number::{integer, number, whole};
use super::rows::{Cells, RowCells, Rows};
use super::{CellProblem, CellRules, ColumnKind, DecimalMark, ObservationsError, RowPlace, TableColumns, instant};
use crate::parquet_files::{self, FileColumn, ParquetType, unknown_codec};
use octopus_trace::TimeUnit;
use parquet::column::reader::ColumnReader;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use std::path::Path;

/// The most rows that are decoded at once.
const BATCH: usize = 1 << 13;
/// The milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A column of the table.
#[derive(Clone, Copy)]
enum ColumnSource<'a> {
    /// It is in the file.
    File(&'a FileColumn),
    /// All rows of the file have this value, by the name of its folder; `None` where it is missing.
    Folder(Option<&'a str>),
}

/// The columns that the names of a file's folders give.
#[derive(Clone, Copy, Default)]
pub(super) struct OfFolder<'a> {
    /// Names and values; `None` where the value is missing.
    pub(super) columns: &'a [(String, Option<String>)],
    /// Their kinds, by the values of all folders.
    pub(super) kinds: &'a [ColumnKind],
}

impl<'a> OfFolder<'a> {
    fn get(self, name: &str) -> Option<(Option<&'a str>, ColumnKind)> {
        let at = self.columns.iter().position(|(column, _)| column == name)?;
        Some((self.columns[at].1.as_deref(), *self.kinds.get(at)?))
    }
}

/// Reads a file. The first file of a table tells which columns it has, where all are read, and of what kinds.
pub(super) fn read<R: ChunkReader + 'static>(
    path: &Path,
    file: R,
    asked: Asked<'_>,
    rules: CellRules,
    of_folder: OfFolder<'_>,
    rows: &mut Rows,
) -> Result<(), ObservationsError> {
    let damaged = |error: &dyn ToString| ObservationsError::Damaged { path: path.to_owned(), what: error.to_string() };
    if rules.decimal != DecimalMark::Point {
        return Err(ObservationsError::DecimalOfParquet { path: path.to_owned() });
    }
    let reader = SerializedFileReader::new(file).map_err(|error| damaged(&error))?;
    let columns = parquet_files::columns(reader.metadata().file_metadata());
    let of_file: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    // A column that the folder's name gives may stand in the file too.
    let beside = of_folder.columns.iter().map(|(column, _)| column).filter(|column| !of_file.contains(column));
    let header: Vec<String> = of_file.iter().chain(beside).cloned().collect();
    let mut notes = Vec::new();
    let mut place = |column: &str, kind: Option<ColumnKind>| {
        let index = asked.find(path, &header, column)?;
        if let Some((value, found)) = of_folder.get(column) {
            return Ok((ColumnSource::Folder(value), kind.unwrap_or(found)));
        }
        let found = columns[index].cell_type();
        let Some(kind) = kind.map_or_else(|| kind_of(&found), |kind| fits(&found, kind).then_some(kind)) else {
            let (path, column) = (path.to_owned(), column.to_owned());
            return Err(ObservationsError::ColumnType { path, column, found, expected: expected(kind) });
        };
        notes.extend(note(column, &found));
        Ok((ColumnSource::File(&columns[index]), kind))
    };
    let mut places = Vec::new();
    if rows.columns.is_empty() {
        for column in asked.among(&header) {
            match place(&column.column, column.kind) {
                Ok((found, kind)) => {
                    places.push(found);
                    rows.columns.push((column, Cells::new(kind)));
                }
                // Nobody has asked for it.
                Err(ObservationsError::ColumnType { column, found, .. }) if *asked.columns == TableColumns::All => {
                    rows.notes.insert(format!("column `{column}` has type {found} and is not read"));
                }
                Err(error) => return Err(error),
            }
        }
    } else {
        for (column, cells) in &rows.columns {
            places.push(place(&column.column, Some(cells.kind()))?.0);
        }
    }
    let set = asked.set.map(|column| place(column, Some(ColumnKind::Label))).transpose()?.map(|(set, _)| set);
    rows.notes.extend(notes);
    check_codec(path, reader.metadata(), places.iter().chain(&set))?;
    let mut read = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|error| damaged(&error))?;
        let mut open = |&place| BatchSource::open(place, group.as_ref()).map_err(|what| damaged(&what));
        let mut sources = places.iter().map(&mut open).collect::<Result<Vec<_>, _>>()?;
        let mut set = set.as_ref().map(open).transpose()?;
        let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        while left > 0 {
            let count = left.min(BATCH);
            left -= count;
            let mut batch = Vec::with_capacity(places.len());
            for ((_, cells), source) in rows.columns.iter_mut().zip(&mut sources) {
                let found = source.next(count).and_then(|found| match cells {
                    Cells::Real(_) => found.numbers().map(BatchColumn::Real),
                    Cells::Integer(_) => found.integers().map(BatchColumn::Integer),
                    Cells::Label(known, _) => found.labels(&mut known.kind).map(BatchColumn::Label),
                });
                batch.push(found.map_err(|what| damaged(&what))?);
            }
            let sets = set.as_mut().map(|set| set.next(count)?.labels(&mut rows.sets.kind)).transpose();
            let sets = sets.map_err(|what| damaged(&what))?;
            for row in 0..count {
                read += 1;
                let cells = BatchRow { columns: &batch, sets: sets.as_deref(), row };
                rows.push(&cells, asked.set, rules).map_err(|(column, problem)| ObservationsError::Cell {
                    path: path.to_owned(),
                    place: RowPlace { line: None, row: read },
                    column,
                    problem,
                })?;
            }
        }
    }
    Ok(())
}

/// The cells of a column in a batch of rows.
enum BatchColumn {
    Real(Vec<Result<f64, CellProblem>>),
    Integer(Vec<Result<i64, CellProblem>>),
    Label(Vec<Option<String>>),
}

/// A row of a batch.
struct BatchRow<'a> {
    columns: &'a [BatchColumn],
    sets: Option<&'a [Option<String>]>,
    row: usize,
}

impl RowCells for BatchRow<'_> {
    fn real(&self, column: usize) -> Result<f64, CellProblem> {
        match &self.columns[column] {
            BatchColumn::Real(cells) => cells[self.row].clone(),
            _ => Err(CellProblem::Empty),
        }
    }

    fn integer(&self, column: usize) -> Result<i64, CellProblem> {
        match &self.columns[column] {
            BatchColumn::Integer(cells) => cells[self.row].clone(),
            _ => Err(CellProblem::Empty),
        }
    }

    fn label(&self, column: usize) -> Option<&str> {
        match &self.columns[column] {
            BatchColumn::Label(cells) => cells[self.row].as_deref(),
            _ => None,
        }
    }

    fn set(&self) -> Option<&str> {
        self.sets?[self.row].as_deref()
    }
}

/// Returns what users should know of a column of this type.
fn note(column: &str, found: &ParquetType) -> Option<String> {
    let ParquetType::Timestamp(_, Some(zone)) = found else { return None };
    instant::offset(zone).is_none().then(|| {
        format!(
            "the times in column `{column}` are those of {zone}, whose offsets from UTC are not known here: their labels \
             are in UTC (+00:00); for labels of its own time, write the column as text"
        )
    })
}

/// Whether the pages of the columns can be unpacked by this build.
fn check_codec<'a>(
    path: &Path,
    metadata: &ParquetMetaData,
    places: impl Iterator<Item = &'a ColumnSource<'a>> + Clone,
) -> Result<(), ObservationsError> {
    for group in metadata.row_groups() {
        for place in places.clone() {
            if let ColumnSource::File(column) = place
                && let Some(codec) = unknown_codec(group.column(column.leaf).compression())
            {
                return Err(ObservationsError::Codec { path: path.to_owned(), codec });
            }
        }
    }
    Ok(())
}

fn is_label(found: &ParquetType) -> bool {
    matches!(
        found,
        ParquetType::Text
            | ParquetType::Bytes
            | ParquetType::Boolean
            | ParquetType::Date
            | ParquetType::DateInMilliseconds
            | ParquetType::Timestamp(..)
            | ParquetType::Duration(_)
    ) || is_exact(found)
}

/// Returns whether a column of this type has values of the kind. Booleans are 0 and 1.
fn fits(found: &ParquetType, kind: ColumnKind) -> bool {
    match kind {
        ColumnKind::Real => is_number(found),
        ColumnKind::Integer => is_number(found) || *found == ParquetType::Boolean,
        ColumnKind::Label => is_label(found),
    }
}

/// Returns the kind of values that a column of this type has; `None` where it is not read.
fn kind_of(found: &ParquetType) -> Option<ColumnKind> {
    if matches!(found, ParquetType::Integer { .. }) {
        return Some(ColumnKind::Integer);
    }
    [ColumnKind::Real, ColumnKind::Label].into_iter().find(|&kind| fits(found, kind))
}

/// Returns the types that have values of a kind, or of any, in words.
fn expected(kind: Option<ColumnKind>) -> &'static str {
    match kind {
        Some(ColumnKind::Real) => "numbers",
        Some(ColumnKind::Integer) => "whole numbers",
        Some(ColumnKind::Label) => "text, whole numbers, dates, times, lengths of time or booleans",
        None => "numbers, text, dates, times, lengths of time or booleans",
    }
}

fn is_number(found: &ParquetType) -> bool {
    matches!(found, ParquetType::Real(_)) || is_exact(found)
}

/// Returns whether the numbers of a type have as many digits as they are written with.
fn is_exact(found: &ParquetType) -> bool {
    matches!(found, ParquetType::Integer { .. } | ParquetType::Decimal { .. })
}

/// Where the rows of a row group come from.
enum BatchSource<'a> {
    File(&'a FileColumn, Box<ColumnReader>),
    Folder(Option<&'a str>),
}

/// The cells of a column in some rows.
enum BatchCells<'a> {
    File(&'a FileColumn, parquet_files::Cells),
    /// One value, and the number of rows that share it.
    Folder(Option<&'a str>, usize),
}

impl<'a> BatchSource<'a> {
    fn open(place: ColumnSource<'a>, group: &dyn RowGroupReader) -> Result<Self, String> {
        Ok(match place {
            ColumnSource::Folder(value) => Self::Folder(value),
            ColumnSource::File(column) => {
                let reader = group.get_column_reader(column.leaf).map_err(|error| error.to_string())?;
                Self::File(column, Box::new(reader))
            }
        })
    }

    /// Returns the cells of the next rows.
    fn next(&mut self, rows: usize) -> Result<BatchCells<'a>, String> {
        match self {
            Self::Folder(value) => Ok(BatchCells::Folder(*value, rows)),
            Self::File(column, reader) => match parquet_files::Cells::read(reader, column, rows)? {
                cells if cells.rows == rows => Ok(BatchCells::File(column, cells)),
                _ => Err(format!("column `{}` has fewer rows than the file announces", column.name)),
            },
        }
    }
}

impl BatchCells<'_> {
    /// Returns text; `None` where a cell is null. Notes whether they are times.
    fn labels(self, labels: &mut LabelKind) -> Result<Vec<Option<String>>, String> {
        let (column, cells) = match self {
            Self::Folder(value, rows) => return Ok(vec![value.map(str::to_owned); rows]),
            Self::File(column, cells) => (column, cells),
        };
        let named = |what: String| format!("column `{}` {what}", column.name);
        match &column.kind {
            ParquetType::Text | ParquetType::Bytes => cells.words().map_err(named),
            ParquetType::Boolean => Ok(cells.flags().into_iter().map(|flag| Some(flag?.to_string())).collect()),
            ParquetType::Date => instant::days(cells.counts(TimeUnit::Days)),
            ParquetType::DateInMilliseconds => {
                let day = |count: Option<i64>| Some(count?.div_euclid(DAY));
                instant::days(cells.counts(TimeUnit::Milliseconds).into_iter().map(day).collect())
            }
            ParquetType::Timestamp(unit, zone) => {
                *labels = LabelKind::Instants;
                instant::instants(cells.counts(*unit), *unit, zone.as_deref())
            }
            ParquetType::Duration(unit) => {
                *labels = LabelKind::Durations;
                Ok(instant::durations(cells.counts(*unit), *unit))
            }
            kind => cells.exact(kind).map_err(named),
        }
    }

    /// Returns numbers.
    fn numbers(self) -> Result<Vec<Result<f64, CellProblem>>, String> {
        let of_text = |text: Option<&str>| number(text.unwrap_or_default().trim(), DecimalMark::Point);
        let (column, cells) = match self {
            Self::Folder(value, rows) => return Ok(vec![of_text(value); rows]),
            Self::File(column, cells) => (column, cells),
        };
        if !matches!(column.kind, ParquetType::Real(_)) {
            // Their text is read as that of CSV, to the nearest number.
            return Ok(cells.exact(&column.kind)?.iter().map(|text| of_text(text.as_deref())).collect());
        }
        let is_null: Vec<bool> = (0..cells.rows).map(|row| cells.is_null(row)).collect();
        let cell = |(value, is_null): (f64, bool)| match value {
            _ if is_null => Err(CellProblem::Empty),
            value if value.is_finite() => Ok(value),
            value => Err(CellProblem::NotFinite { value }),
        };
        Ok(cells.reals().into_iter().zip(is_null).map(cell).collect())
    }

    /// Returns whole numbers.
    fn integers(self) -> Result<Vec<Result<i64, CellProblem>>, String> {
        let of_text = |text: Option<&str>| integer(text.unwrap_or_default().trim(), DecimalMark::Point);
        match self {
            Self::Folder(value, rows) => Ok(vec![of_text(value); rows]),
            Self::File(FileColumn { kind: ParquetType::Boolean, .. }, cells) => {
                Ok(cells.flags().into_iter().map(|cell| cell.map(i64::from).ok_or(CellProblem::Empty)).collect())
            }
            Self::File(FileColumn { kind: ParquetType::Real(_), .. }, _) => {
                let cell = |value: Result<f64, CellProblem>| {
                    let value = value?;
                    whole(value).ok_or_else(|| CellProblem::NotWhole { value: value.to_string() })
                };
                Ok(self.numbers()?.into_iter().map(cell).collect())
            }
            Self::File(column, cells) => {
                Ok(cells.exact(&column.kind)?.iter().map(|text| of_text(text.as_deref())).collect())
            }
        }
    }
}
