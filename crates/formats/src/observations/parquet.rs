//! Observations from Parquet: which types of columns and compressions are accepted, and empty cells.

use super::{CellProblem, Columns, ObservationsError, Rows, find_column};
use crate::parquet_files::unknown_codec;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;
use std::path::Path;

pub(super) fn read<R: ChunkReader + 'static>(
    path: &Path,
    file: R,
    wanted: Columns<'_>,
) -> Result<Rows, ObservationsError> {
    let damaged = |error: &dyn ToString| ObservationsError::Damaged { path: path.to_owned(), what: error.to_string() };
    // Without the writer's Arrow schema, dictionaries (pandas' categories) come as the words themselves.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).map_err(|e| damaged(&e))?;
    let columns: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let labels = std::iter::once(wanted.group).chain(wanted.set);
    let labels = labels.map(|column| (column, is_label as fn(&DataType) -> bool, "strings or whole numbers"));
    let mut roots = Vec::new();
    for (column, fits, expected) in labels.chain([(wanted.value, is_number as fn(&DataType) -> bool, "numbers")]) {
        let index = find_column(path, &columns, column)?;
        roots.push(index);
        let found = reader.schema().field(index).data_type();
        if !fits(found) {
            let (path, column, found) = (path.to_owned(), column.to_owned(), found.to_string());
            return Err(ObservationsError::ColumnType { path, column, found, expected });
        }
    }
    check_codec(path, reader.metadata(), &roots)?;
    let mask = ProjectionMask::roots(reader.parquet_schema(), roots);
    let batches = reader.with_projection(mask).build().map_err(|error| damaged(&error))?;
    let mut rows = Rows::default();
    for batch in batches {
        let batch = batch.map_err(|error| damaged(&error))?;
        append(path, &batch, wanted, &mut rows)?;
    }
    Ok(rows)
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

fn append(path: &Path, batch: &RecordBatch, wanted: Columns<'_>, rows: &mut Rows) -> Result<(), ObservationsError> {
    let column = |name: &str| {
        let absent = || ObservationsError::Damaged { path: path.to_owned(), what: format!("column `{name}` is lost") };
        batch.column_by_name(name).ok_or_else(absent)
    };
    let groups = labels(column(wanted.group)?);
    let values = numbers(column(wanted.value)?);
    let sets = wanted.set.map(|name| Ok((name, labels(column(name)?)))).transpose()?;
    for (at, (label, value)) in groups.into_iter().zip(values).enumerate() {
        let row = rows.values.len() as u64 + 1;
        let fail = |column: &str, problem| ObservationsError::Cell {
            path: path.to_owned(),
            row,
            column: column.to_owned(),
            problem,
        };
        let filled = |label: Option<String>, column| {
            label.filter(|label| !label.is_empty()).ok_or_else(|| fail(column, CellProblem::Empty))
        };
        let label = filled(label, wanted.group)?;
        let value = value.ok_or_else(|| fail(wanted.value, CellProblem::Empty))?;
        if !value.is_finite() {
            return Err(fail(wanted.value, CellProblem::NotFinite { value }));
        }
        if let Some((name, sets)) = &sets {
            rows.set.push(rows.sets.index(&filled(sets[at].clone(), name)?));
        }
        rows.group.push(rows.labels.index(&label));
        rows.values.push(value);
    }
    Ok(())
}

fn is_label(data_type: &DataType) -> bool {
    // Without the writer's Arrow schema, text of every kind comes as this type.
    *data_type == DataType::Utf8 || data_type.is_integer()
}

fn is_number(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float32 | DataType::Float64) || data_type.is_integer()
}

/// Returns the cells of a column as text; `None` where a cell is null.
fn labels(column: &dyn Array) -> Vec<Option<String>> {
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect(),
        _ => integers(column).into_iter().map(|value| value.map(|value| value.to_string())).collect(),
    }
}

/// Returns the cells of a column as numbers; `None` where a cell is null.
fn numbers(column: &dyn Array) -> Vec<Option<f64>> {
    match column.data_type() {
        DataType::Float64 => column.as_primitive::<Float64Type>().iter().collect(),
        DataType::Float32 => column.as_primitive::<Float32Type>().iter().map(|value| value.map(f64::from)).collect(),
        _ => integers(column).into_iter().map(|value| value.map(|value| value as f64)).collect(),
    }
}

/// Returns the cells of a column of integers of any width.
fn integers(column: &dyn Array) -> Vec<Option<i128>> {
    fn widened<T: ArrowPrimitiveType<Native: Into<i128>>>(column: &dyn Array) -> Vec<Option<i128>> {
        column.as_primitive::<T>().iter().map(|value| value.map(Into::into)).collect()
    }
    match column.data_type() {
        DataType::Int8 => widened::<Int8Type>(column),
        DataType::Int16 => widened::<Int16Type>(column),
        DataType::Int32 => widened::<Int32Type>(column),
        DataType::Int64 => widened::<Int64Type>(column),
        DataType::UInt8 => widened::<UInt8Type>(column),
        DataType::UInt16 => widened::<UInt16Type>(column),
        DataType::UInt32 => widened::<UInt32Type>(column),
        DataType::UInt64 => widened::<UInt64Type>(column),
        _ => vec![None; column.len()],
    }
}
