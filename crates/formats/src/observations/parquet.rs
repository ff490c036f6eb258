//! Observations from Parquet: which types of columns and compressions are accepted, and empty cells.

use super::labels::LabelKind;
use super::number::number;
use super::{
    CellProblem, CellRules, Cells, Columns, DecimalMark, ObservationsError, RowPlace, Rows, find_column, instant,
};
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
enum Place<'a> {
    /// It is in the file, under this name.
    File(&'a str),
    /// All rows of the file have this value, by the name of its folder; `None` where it is missing.
    Folder(Option<&'a str>),
}

/// Reads a file; `of_folder` are columns that the names of its folders give.
pub(super) fn read<R: ChunkReader + 'static>(
    path: &Path,
    file: R,
    wanted: Columns<'_>,
    rules: CellRules,
    of_folder: &[(String, Option<String>)],
    rows: &mut Rows,
) -> Result<(), ObservationsError> {
    let damaged = |error: &dyn ToString| ObservationsError::Damaged { path: path.to_owned(), what: error.to_string() };
    if rules.decimal != DecimalMark::Point {
        return Err(ObservationsError::DecimalOfParquet { path: path.to_owned() });
    }
    let reader = reader(file).map_err(|error| damaged(&error))?;
    let in_folder = |name: &str| of_folder.iter().find(|(column, _)| column == name);
    let of_file: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    // A column that the folder's name gives may stand in the file too.
    let beside = of_folder.iter().map(|(column, _)| column).filter(|column| !of_file.contains(column));
    let columns: Vec<String> = of_file.iter().chain(beside).cloned().collect();
    let mut roots = Vec::new();
    let mut place = |column, fits: fn(&DataType) -> bool, expected| {
        let index = find_column(path, &columns, column, wanted)?;
        if let Some((_, value)) = in_folder(column) {
            return Ok(Place::Folder(value.as_deref()));
        }
        let found = reader.schema().field(index).data_type();
        if !fits(found) {
            let (path, column, found) = (path.to_owned(), column.to_owned(), found.clone());
            return Err(ObservationsError::ColumnType { path, column, found, expected });
        }
        rows.notes.extend(note(column, found));
        roots.push(index);
        Ok(Place::File(column))
    };
    const LABELS: &str = "text, whole numbers, dates, times, lengths of time or booleans";
    let group = place(wanted.group, is_label, LABELS)?;
    let set = wanted.set.map(|column| place(column, is_label, LABELS)).transpose()?;
    let value = place(wanted.value, is_number, "numbers")?;
    check_codec(path, reader.metadata(), &roots)?;
    let mask = ProjectionMask::roots(reader.parquet_schema(), roots);
    let mut read = 0;
    for batch in reader.with_projection(mask).build().map_err(|error| damaged(&error))? {
        let batch = batch.map_err(|error| damaged(&error))?;
        let labels = |place, kind: &mut LabelKind| labels(&batch, place, kind).map_err(|what| damaged(&what));
        let groups = labels(group, &mut rows.labels.kind)?;
        let sets = set.map(|set| labels(set, &mut rows.sets.kind)).transpose()?;
        let values = values(&batch, value).map_err(|what| damaged(&what))?;
        for (at, value) in values.into_iter().enumerate() {
            read += 1;
            let set = sets.as_ref().map(|sets| sets[at].as_deref());
            let cells = Cells { group: groups[at].as_deref(), value, set };
            rows.push(cells, wanted, rules).map_err(|(column, problem)| ObservationsError::Cell {
                path: path.to_owned(),
                place: RowPlace { line: None, row: read },
                column: column.to_owned(),
                problem,
            })?;
        }
    }
    Ok(())
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
fn labels(batch: &RecordBatch, place: Place<'_>, kind: &mut LabelKind) -> Result<Vec<Option<String>>, String> {
    let name = match place {
        Place::Folder(value) => return Ok(vec![value.map(str::to_owned); batch.num_rows()]),
        Place::File(name) => name,
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
fn values(batch: &RecordBatch, place: Place<'_>) -> Result<Vec<Result<f64, CellProblem>>, String> {
    let finite = |value: f64| if value.is_finite() { Ok(value) } else { Err(CellProblem::NotFinite { value }) };
    let all = |values: &mut dyn Iterator<Item = Option<f64>>| {
        values.map(|value| value.map_or(Err(CellProblem::Empty), finite)).collect()
    };
    let name = match place {
        Place::Folder(value) => {
            let value = number(value.unwrap_or_default().trim(), DecimalMark::Point);
            return Ok(vec![value; batch.num_rows()]);
        }
        Place::File(name) => name,
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
