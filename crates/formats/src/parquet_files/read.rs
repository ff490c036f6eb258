//! Parquet files to InferenceData.
//!
//! Which files are read, and which compression cannot be, is decided here.

use super::values::{append, from_arrow};
use super::{METADATA, draws};
use crate::FormatError;
use crate::format::files_ending;
use crate::json::attributes_from_json;
use bytes::Bytes;
use indexmap::IndexMap;
use octopus_trace::Labels;
use octopus_trace::{Array, Dataset, InferenceData, Values};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Reads a folder that [`write_parquet`](super::write_parquet) wrote, or one file of it.
///
/// Other Parquet files are read, too, if they have the columns `chain` and `draw` (or R's `.chain` and
/// `.iteration`) and a row for each draw of each chain, in any order: statistics under ArviZ's names go to
/// `sample_stats`, all other columns to `posterior`.
///
/// # Errors
/// When a file cannot be read, is damaged, is compressed by a method that this program was built without, or is not
/// such a table. The error names file and column.
pub fn read_parquet(path: &Path) -> Result<InferenceData, FormatError> {
    let files = if path.is_dir() { parquet_files(path)? } else { vec![path.to_owned()] };
    if files.is_empty() {
        return Err(FormatError::Unreadable { path: path.to_owned(), what: "it holds no Parquet file".into() });
    }
    let mut data = InferenceData::default();
    for file in files {
        let unreadable = |what: String| FormatError::Unreadable { path: file.clone(), what };
        let bytes = std::fs::read(&file).map_err(FormatError::io("read", &file))?;
        let groups = octopus_files::decode(|| read_groups(bytes).map_err(unreadable), unreadable)?;
        for (group, dataset) in groups {
            if data.groups.contains_key(&group) {
                return Err(unreadable(format!("another file in the folder has the group {group}, too")));
            }
            dataset.dimensions().map_err(|what| unreadable(format!("group {group}: {what}")))?;
            data.insert(group, dataset);
        }
    }
    Ok(data)
}

/// Returns the Parquet files in a folder, sorted.
pub(crate) fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut files = files_ending(folder, "parquet")?;
    files.retain(|path| path.is_file() && !hidden(path));
    Ok(files)
}

/// Returns whether a file begins as Parquet files do.
pub(crate) fn is_parquet(path: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"PAR1"
}

/// Returns the name of a compression that this build cannot read.
pub(crate) fn unknown_codec(compression: Compression) -> Option<String> {
    let known = match compression {
        #[cfg(not(feature = "zstd"))]
        Compression::ZSTD(_) => false,
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) | Compression::ZSTD(_) => true,
        _ => false,
    };
    let name = format!("{compression:?}");
    (!known).then(|| name.split('(').next().unwrap_or_default().to_owned())
}

/// A column: its values and how many each row has, if it is one of lists.
pub(super) type Column = (Values, Option<usize>);

fn read_groups(bytes: Vec<u8>) -> Result<Vec<(String, Dataset)>, String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes))
        .map_err(|error| format!("it is not a whole Parquet file ({error})"))?;
    for group in reader.metadata().row_groups() {
        if let Some(codec) = group.columns().iter().find_map(|column| unknown_codec(column.compression())) {
            return Err(format!(
                "it is compressed with {codec}, which this octopus cannot read: write it with Snappy or without compression"
            ));
        }
    }
    let entries = reader.metadata().file_metadata().key_value_metadata();
    let ours = entries.and_then(|entries| entries.iter().find(|entry| entry.key == METADATA)?.value.clone());
    let ours: Option<Value> = ours
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| format!("its metadata are not JSON ({error})"))?;
    let rows = usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
    let batches = reader.with_batch_size(rows.clamp(1, 1 << 20)).build().map_err(|error| error.to_string())?;
    let mut columns: IndexMap<String, Column> = IndexMap::new();
    let mut found = 0;
    for batch in batches {
        let batch = batch.map_err(|error| error.to_string())?;
        found += batch.num_rows();
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let name = field.name();
            let named = |what: String| format!("column {name}: {what}");
            let column = from_arrow(column.as_ref()).map_err(named)?;
            match columns.get_mut(name) {
                None => _ = columns.insert(name.clone(), column),
                Some(before) => append(before, column).map_err(named)?,
            }
        }
    }
    if found != rows {
        return Err(format!("it has {found} rows where it announces {rows}"));
    }
    match ours {
        Some(metadata) if metadata["rows"].is_array() => Ok(vec![group_of(&metadata, columns)?]),
        metadata => draws::groups(&metadata.unwrap_or_default(), columns, rows),
    }
}

/// Returns a group as it was written.
fn group_of(metadata: &Value, mut columns: IndexMap<String, Column>) -> Result<(String, Dataset), String> {
    if metadata["schema"].as_u64().is_none_or(|schema| schema > 1) {
        return Err(format!("its schema {} is of a newer octopus", metadata["schema"]));
    }
    let part = |name: &str| metadata[name].as_object().ok_or_else(|| format!("its metadata have no {name}"));
    let group = metadata["group"].as_str().ok_or("its metadata name no group")?;
    let mut dataset = Dataset { attrs: attributes_from_json(part("attrs")?), ..Dataset::default() };
    for (name, described) in part("variables")? {
        let array = array(described, columns.shift_remove(name));
        dataset.variables.insert(name.clone(), array.map_err(|what| format!("variable {name}: {what}"))?);
    }
    dataset.coords = coords(part("coords")?)?;
    Ok((group.to_owned(), dataset))
}

fn array(described: &Value, column: Option<Column>) -> Result<Array, String> {
    let dims: Vec<String> = serde_json::from_value(described["dims"].clone()).map_err(|error| error.to_string())?;
    let shape: Vec<usize> = serde_json::from_value(described["shape"].clone()).map_err(|error| error.to_string())?;
    let count = shape.iter().try_fold(1usize, |product, &len| product.checked_mul(len));
    let values = match (column, described["type"].as_str()) {
        (Some((values, _)), _) => values,
        (None, kind) if count == Some(0) => match kind {
            Some("i64") => Values::I64(Vec::new()),
            Some("bool") => Values::Bool(Vec::new()),
            Some("string") => Values::Strings(Vec::new()),
            _ => Values::F64(Vec::new()),
        },
        _ => return Err("its column is absent".into()),
    };
    if dims.len() != shape.len() || count != Some(values.len()) {
        return Err(format!("it has {} values for the shape {shape:?} over {dims:?}", values.len()));
    }
    Ok(Array { dims, shape, values })
}

/// Returns the labels of dimensions as the metadata hold them.
pub(super) fn coords(described: &Map<String, Value>) -> Result<IndexMap<String, Labels>, String> {
    let labels = |(dim, labels): (&String, &Value)| {
        let labels = serde_json::from_value(labels.clone()).map_err(|error| format!("labels of {dim}: {error}"))?;
        Ok((dim.clone(), labels))
    };
    described.iter().map(labels).collect()
}
