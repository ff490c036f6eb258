//! Observations from Parquet: which types of columns and compressions are accepted, and empty cells.

use super::columns::Asked;
use super::labels::LabelKind;
use super::number::{integer, number, whole};
use super::rows::{Cells, RowCells, Rows};
use super::{CellProblem, CellRules, ColumnKind, DecimalMark, ObservationsError, RowPlace, TableColumns, instant};
use crate::parquet_files::unknown_codec;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_schema};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;
use std::path::Path;
use std::sync::Arc;

/// A column of the table.
#[derive(Clone, Copy)]
enum ColumnSource<'a> {
    /// It is in the file, under this name.
    File(&'a str),
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
    let reader = reader(file).map_err(|error| damaged(&error))?;
    let of_file: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    // A column that the folder's name gives may stand in the file too.
    let beside = of_folder.columns.iter().map(|(column, _)| column).filter(|column| !of_file.contains(column));
    let header: Vec<String> = of_file.iter().chain(beside).cloned().collect();
    let (mut roots, mut notes) = (Vec::new(), Vec::new());
    let mut place = |column: &str, kind: Option<ColumnKind>| {
        let index = asked.find(path, &header, column)?;
        if let Some((value, found)) = of_folder.get(column) {
            return Ok((ColumnSource::Folder(value), kind.unwrap_or(found)));
        }
        let found = reader.schema().field(index).data_type();
        let Some(kind) = kind.map_or_else(|| kind_of(found), |kind| fits(found, kind).then_some(kind)) else {
            let (path, column, found) = (path.to_owned(), column.to_owned(), found.clone());
            return Err(ObservationsError::ColumnType { path, column, found, expected: expected(kind) });
        };
        notes.extend(note(column, found));
        roots.push(index);
        Ok((ColumnSource::File(header[index].as_str()), kind))
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
    check_codec(path, reader.metadata(), &roots)?;
    let mask = ProjectionMask::roots(reader.parquet_schema(), roots);
    let mut read = 0;
    for batch in reader.with_projection(mask).build().map_err(|error| damaged(&error))? {
        let batch = batch.map_err(|error| damaged(&error))?;
        let mut columns = Vec::with_capacity(places.len());
        for ((_, cells), place) in rows.columns.iter_mut().zip(&places) {
            let cells = match cells {
                Cells::Real(_) => values(&batch, *place).map(BatchColumn::Real),
                Cells::Integer(_) => integers(&batch, *place).map(BatchColumn::Integer),
                Cells::Label(known, _) => labels(&batch, *place, &mut known.kind).map(BatchColumn::Label),
            };
            columns.push(cells.map_err(|what| damaged(&what))?);
        }
        let sets = set.map(|set| labels(&batch, set, &mut rows.sets.kind)).transpose();
        let sets = sets.map_err(|what| damaged(&what))?;
        for row in 0..batch.num_rows() {
            read += 1;
            let cells = BatchRow { columns: &columns, sets: sets.as_deref(), row };
            rows.push(&cells, asked.set, rules).map_err(|(column, problem)| ObservationsError::Cell {
                path: path.to_owned(),
                place: RowPlace { line: None, row: read },
                column,
                problem,
            })?;
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

/// Returns the reader of a file.
fn reader<R: ChunkReader + 'static>(file: R) -> Result<ParquetRecordBatchReaderBuilder<R>, ParquetError> {
    // Without the writer's Arrow schema, dictionaries (pandas' categories) come as the words themselves.
    let plain = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new().with_skip_arrow_metadata(true))?;
    let options = ArrowReaderOptions::new().with_schema(Arc::new(with_times(&plain)));
    // What the writer says is no part of Parquet: where it does not fit the columns, they are read without.
    let metadata = ArrowReaderMetadata::try_new(plain.metadata().clone(), options).unwrap_or(plain);
    Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata))
}

/// Returns the columns, with the writer's types of those that are times: Parquet has whole numbers for lengths of time,
/// and no zones.
fn with_times(plain: &ArrowReaderMetadata) -> Schema {
    let metadata = plain.metadata().file_metadata();
    let written = parquet_to_arrow_schema(metadata.schema_descr(), metadata.key_value_metadata()).ok();
    let with_time = |(index, field): (usize, &Arc<Field>)| {
        let written = written.as_ref().and_then(|schema| schema.fields().get(index)).map(|field| field.data_type());
        // pandas' categories may be of times.
        let written = match written {
            Some(DataType::Dictionary(_, value)) => Some(value.as_ref()),
            other => other,
        };
        match written.filter(|found| found.is_temporal()) {
            Some(found) => Arc::new(field.as_ref().clone().with_data_type(found.clone())),
            None => field.clone(),
        }
    };
    let fields: Vec<Arc<Field>> = plain.schema().fields().iter().enumerate().map(with_time).collect();
    Schema::new_with_metadata(fields, plain.schema().metadata().clone())
}

/// Returns what users should know of a column of this type.
fn note(column: &str, found: &DataType) -> Option<String> {
    let DataType::Timestamp(_, Some(zone)) = found else { return None };
    instant::offset(zone).is_none().then(|| {
        format!(
            "the times in column `{column}` are those of {zone}, whose offsets from UTC are not known here: their labels \
             are in UTC (+00:00); for labels of its own time, write the column as text"
        )
    })
}

/// Whether the pages of the columns can be unpacked by this build.
fn check_codec(path: &Path, metadata: &ParquetMetaData, roots: &[usize]) -> Result<(), ObservationsError> {
    let schema = metadata.file_metadata().schema_descr();
    for group in metadata.row_groups() {
        for (leaf, column) in group.columns().iter().enumerate() {
            if let Some(codec) = unknown_codec(column.compression())
                && roots.contains(&schema.get_column_root_idx(leaf))
            {
                return Err(ObservationsError::Codec { path: path.to_owned(), codec });
            }
        }
    }
    Ok(())
}

fn is_label(data_type: &DataType) -> bool {
    // Without the writer's Arrow schema, text of every kind comes as this type; DuckDB's enums come as bytes.
    matches!(
        data_type,
        DataType::Utf8
            | DataType::Binary
            | DataType::Boolean
            | DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(..)
            | DataType::Duration(_)
    ) || is_exact(data_type)
}

/// Returns whether a column of this type has values of the kind. Booleans are 0 and 1.
fn fits(data_type: &DataType, kind: ColumnKind) -> bool {
    match kind {
        ColumnKind::Real => is_number(data_type),
        ColumnKind::Integer => is_number(data_type) || *data_type == DataType::Boolean,
        ColumnKind::Label => is_label(data_type),
    }
}

/// Returns the kind of values that a column of this type has; `None` where it is not read.
fn kind_of(data_type: &DataType) -> Option<ColumnKind> {
    if data_type.is_integer() {
        return Some(ColumnKind::Integer);
    }
    [ColumnKind::Real, ColumnKind::Label].into_iter().find(|&kind| fits(data_type, kind))
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

fn is_number(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64) || is_exact(data_type)
}

/// Returns whether the numbers of a type have as many digits as they are written with.
fn is_exact(data_type: &DataType) -> bool {
    data_type.is_integer()
        || matches!(
            data_type,
            DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..)
        )
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a dyn Array, String> {
    batch.column_by_name(name).map(AsRef::as_ref).ok_or_else(|| format!("column `{name}` is lost"))
}

/// Returns the cells of a column as text; `None` where a cell is null. Notes whether they are times.
fn labels(batch: &RecordBatch, place: ColumnSource<'_>, kind: &mut LabelKind) -> Result<Vec<Option<String>>, String> {
    let name = match place {
        ColumnSource::Folder(value) => return Ok(vec![value.map(str::to_owned); batch.num_rows()]),
        ColumnSource::File(name) => name,
    };
    let column = column(batch, name)?;
    match column.data_type() {
        DataType::Utf8 => Ok(column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()),
        DataType::Binary => {
            let text = |bytes: &[u8]| {
                std::str::from_utf8(bytes)
                    .map(str::to_owned)
                    .map_err(|_| format!("column `{name}` holds bytes, not text"))
            };
            column.as_binary::<i32>().iter().map(|bytes| bytes.map(text).transpose()).collect()
        }
        DataType::Boolean => Ok(column.as_boolean().iter().map(|value| value.map(|value| value.to_string())).collect()),
        DataType::Date32 | DataType::Date64 => instant::days(column),
        DataType::Timestamp(..) => {
            *kind = LabelKind::Instants;
            instant::instants(column)
        }
        DataType::Duration(_) => {
            *kind = LabelKind::Durations;
            Ok(instant::durations(column))
        }
        _ => exact(column),
    }
}

/// Returns the cells of a column as numbers.
fn values(batch: &RecordBatch, place: ColumnSource<'_>) -> Result<Vec<Result<f64, CellProblem>>, String> {
    let finite = |value: f64| if value.is_finite() { Ok(value) } else { Err(CellProblem::NotFinite { value }) };
    let all = |values: &mut dyn Iterator<Item = Option<f64>>| {
        values.map(|value| value.map_or(Err(CellProblem::Empty), finite)).collect()
    };
    let name = match place {
        ColumnSource::Folder(value) => {
            let value = number(value.unwrap_or_default().trim(), DecimalMark::Point);
            return Ok(vec![value; batch.num_rows()]);
        }
        ColumnSource::File(name) => name,
    };
    let column = column(batch, name)?;
    Ok(match column.data_type() {
        DataType::Float64 => all(&mut column.as_primitive::<Float64Type>().iter()),
        DataType::Float32 => all(&mut column.as_primitive::<Float32Type>().iter().map(|value| value.map(f64::from))),
        DataType::Float16 => all(&mut column.as_primitive::<Float16Type>().iter().map(|value| value.map(f64::from))),
        // Their text is read as that of CSV, to the nearest number.
        _ => {
            let of_text = |text: Option<String>| number(text.as_deref().unwrap_or_default(), DecimalMark::Point);
            exact(column)?.into_iter().map(of_text).collect()
        }
    })
}

/// Returns the cells of a column as whole numbers.
fn integers(batch: &RecordBatch, place: ColumnSource<'_>) -> Result<Vec<Result<i64, CellProblem>>, String> {
    let of_text = |text: Option<&str>| integer(text.unwrap_or_default().trim(), DecimalMark::Point);
    let name = match place {
        ColumnSource::Folder(value) => return Ok(vec![of_text(value); batch.num_rows()]),
        ColumnSource::File(name) => name,
    };
    let column = column(batch, name)?;
    match column.data_type() {
        DataType::Boolean => {
            Ok(column.as_boolean().iter().map(|cell| cell.map(i64::from).ok_or(CellProblem::Empty)).collect())
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let cell = |value: Result<f64, CellProblem>| {
                let value = value?;
                whole(value).ok_or_else(|| CellProblem::NotWhole { value: value.to_string() })
            };
            Ok(values(batch, place)?.into_iter().map(cell).collect())
        }
        _ => Ok(exact(column)?.iter().map(|text| of_text(text.as_deref())).collect()),
    }
}

/// Returns the cells of a column of whole numbers or decimals as text; `None` where a cell is null.
fn exact(column: &dyn Array) -> Result<Vec<Option<String>>, String> {
    fn whole<T: ArrowPrimitiveType<Native: ToString>>(column: &dyn Array) -> Vec<Option<String>> {
        column.as_primitive::<T>().iter().map(|value| value.map(|value| value.to_string())).collect()
    }
    fn decimal<T: DecimalType>(column: &dyn Array) -> Vec<Option<String>> {
        let column = column.as_primitive::<T>();
        (0..column.len()).map(|at| column.is_valid(at).then(|| column.value_as_string(at))).collect()
    }
    Ok(match column.data_type() {
        DataType::Int8 => whole::<Int8Type>(column),
        DataType::Int16 => whole::<Int16Type>(column),
        DataType::Int32 => whole::<Int32Type>(column),
        DataType::Int64 => whole::<Int64Type>(column),
        DataType::UInt8 => whole::<UInt8Type>(column),
        DataType::UInt16 => whole::<UInt16Type>(column),
        DataType::UInt32 => whole::<UInt32Type>(column),
        DataType::UInt64 => whole::<UInt64Type>(column),
        DataType::Decimal32(..) => decimal::<Decimal32Type>(column),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(column),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(column),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(column),
        other => return Err(format!("its type {other} cannot be read")),
    })
}
