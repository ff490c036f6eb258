//! Parquet files to InferenceData.
//!
//! Which files of a folder are read and which belong together, and which compression cannot be read, is decided here.

use super::METADATA;
use super::claims::check_parquet_claims;
use super::stored::Cells;
use super::types::{FileColumn, columns};
use super::values::{from_json, trace_values};
use crate::FormatError;
use crate::draw_table::{DrawColumn, DrawTable, append};
use crate::json::{attributes_from_json, labels_from_json};
use crate::listing::files_ending;
use bytes::Bytes;
use indexmap::IndexMap;
use octopus_files::{open_regular, read_regular};
use octopus_trace::{Array, Dataset, InferenceData, Values};
use parquet::basic::Compression;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Reads a folder that [`write_parquet`](super::write_parquet) wrote, or one file of it.
///
/// Other Parquet files are read, too, if they have the columns `chain` and `draw` (or R's `.chain` and `.iteration`,
/// CmdStanPy's `chain__` and `iter__`, or `chain` and `iteration`) and a row for each draw of each chain, in any order:
/// statistics under ArviZ's names or Stan's go to `sample_stats`, all other columns of numbers to `posterior`. Files of a folder with the same columns are one table, and
/// the names of folders in Hive's form, `chain=1`, are columns. The index that pandas keeps is no variable, columns of
/// other types than numbers and words are left out, and a note says so.
///
/// # Errors
/// When a file cannot be read, is damaged, is compressed by a method that this program was built without, claims more
/// than it can hold, or is not such a table. The error names file and column.
pub fn read_parquet(path: &Path) -> Result<InferenceData, FormatError> {
    let files = if path.is_dir() { files_at(path)? } else { vec![(path.to_owned(), Vec::new())] };
    if files.is_empty() {
        return Err(FormatError::Unreadable { path: path.to_owned(), what: "it holds no Parquet file".into() });
    }
    let mut data = InferenceData::default();
    let mut tables: Vec<(PathBuf, DrawTable)> = Vec::new();
    for (file, keys) in files {
        let unreadable = |what: String| FormatError::Unreadable { path: file.clone(), what };
        let bytes = Bytes::from(read_regular(&file).map_err(FormatError::io("read", &file))?);
        match octopus_files::decode(|| read_file(bytes).map_err(unreadable), unreadable)? {
            Contents::Group(group, dataset) => add(&mut data, &file, group, dataset)?,
            Contents::Table(mut table) => {
                if table.rows == 0 {
                    data.notes.push(format!("{} has no rows, and is left out", file.display()));
                    continue;
                }
                table.add_keys(&keys);
                match tables.iter_mut().find(|(_, earlier)| earlier.is_alike(&table)) {
                    Some((_, earlier)) => earlier.append(table).map_err(unreadable)?,
                    None => tables.push((file, table)),
                }
            }
        }
    }
    if tables.is_empty() && data.groups.is_empty() {
        return Err(FormatError::Unreadable { path: path.to_owned(), what: "it has no rows, and so no draws".into() });
    }
    for (file, table) in tables {
        let unreadable = |what: String| FormatError::Unreadable { path: file.clone(), what };
        data.notes.extend(table.notes(&file));
        for (group, dataset) in table.groups().map_err(unreadable)? {
            add(&mut data, &file, group, dataset)?;
        }
    }
    Ok(data)
}

fn add(data: &mut InferenceData, file: &Path, group: String, dataset: Dataset) -> Result<(), FormatError> {
    let unreadable = |what: String| FormatError::Unreadable { path: file.to_owned(), what };
    if data.groups.contains_key(&group) {
        return Err(unreadable(format!("another file in the folder has the group {group}, too")));
    }
    dataset.dimensions().map_err(|what| unreadable(format!("group {group}: {what}")))?;
    data.insert(group, dataset);
    Ok(())
}

/// Returns the Parquet files in a folder, sorted.
pub(crate) fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut files = files_ending(folder, "parquet")?;
    files.retain(|path| path.is_file() && !hidden(path));
    Ok(files)
}

/// The name and value of a column that the name of a folder gives to all rows of the files in it: `chain=1`.
type HiveKey = (String, String);

/// Returns the Parquet files in a folder, and in its folders in Hive's form, with what the folders' names say.
pub(super) fn files_at(folder: &Path) -> Result<Vec<(PathBuf, Vec<HiveKey>)>, FormatError> {
    /// More levels than anyone has, and fewer than a link to a folder above would make.
    const MOST_LEVELS: usize = 6;
    let mut files = Vec::new();
    let mut open = vec![(folder.to_owned(), Vec::new())];
    while let Some((folder, keys)) = open.pop() {
        files.extend(parquet_files(&folder)?.into_iter().map(|file| (file, keys.clone())));
        let entries = std::fs::read_dir(&folder).map_err(FormatError::io("list", &folder))?;
        for entry in entries {
            let entry = entry.map_err(FormatError::io("list", &folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some((key, value)) = name.split_once('=').filter(|(key, _)| !key.is_empty()) else { continue };
            if keys.len() < MOST_LEVELS && entry.path().is_dir() {
                let mut keys: Vec<HiveKey> = keys.clone();
                keys.push((key.to_owned(), value.to_owned()));
                open.push((entry.path(), keys));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns whether a file begins as Parquet files do.
pub(crate) fn is_parquet(path: &Path) -> bool {
    let mut magic = [0; 4];
    open_regular(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"PAR1"
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

/// What a file holds.
enum Contents {
    /// A group as it was written by us.
    Group(String, Dataset),
    /// A table of draws.
    Table(DrawTable),
}

fn read_file(bytes: Bytes) -> Result<Contents, String> {
    let reader = SerializedFileReader::new(bytes.clone())
        .map_err(|error| format!("it is not a whole Parquet file ({error})"))?;
    for group in reader.metadata().row_groups() {
        if let Some(codec) = group.columns().iter().find_map(|column| unknown_codec(column.compression())) {
            return Err(format!(
                "it is compressed with {codec}, which this octopus cannot read: write it with Snappy or without compression"
            ));
        }
    }
    check_parquet_claims(&bytes)?;
    let file = reader.metadata().file_metadata();
    let entries = file.key_value_metadata();
    let entry = |key: &str| entries.and_then(|entries| entries.iter().find(|entry| entry.key == key)?.value.clone());
    let ours: Option<Value> = entry(METADATA)
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| format!("its metadata are not JSON ({error})"))?;
    let pandas: Value = entry("pandas").and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let rows = usize::try_from(file.num_rows()).unwrap_or(0);
    let mut table = DrawTable { metadata: ours.unwrap_or_default(), rows, ..DrawTable::default() };
    let mut names = HashSet::new();
    for column in columns(file) {
        let name = column.name.clone();
        if !names.insert(name.clone()) {
            return Err(format!("two of its columns have the name {name}: rename one"));
        }
        match whole_column(&reader, &column).map_err(|what| format!("column {name}: {what}"))? {
            Some(values) => _ = table.columns.insert(name, values),
            None => _ = table.left_out.insert(name, column.cell_type().to_string()),
        }
    }
    if table.metadata["rows"].is_array() {
        let (group, dataset) = group_of(&table.metadata, table.columns)?;
        return Ok(Contents::Group(group, dataset));
    }
    let index = pandas["index_columns"].as_array().into_iter().flatten();
    table.index = index.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    Ok(Contents::Table(table))
}

/// Returns all values of a column, and how many each row has if it is a list; `None` where it has none that a trace can
/// hold, or there are no rows.
///
/// # Errors
/// When the file is damaged, or lists are not all of one length; a sentence says so.
pub(super) fn whole_column(
    reader: &SerializedFileReader<Bytes>,
    column: &FileColumn,
) -> Result<Option<DrawColumn>, String> {
    /// The most rows that are decoded at once.
    const BATCH: usize = 1 << 20;
    if !column.kind.is_of_a_trace() {
        return Ok(None);
    }
    let mut whole: Option<DrawColumn> = None;
    let mut rows = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|error| error.to_string())?;
        let mut cells_of = group.get_column_reader(column.leaf).map_err(|error| error.to_string())?;
        loop {
            let cells = Cells::read(&mut cells_of, column, BATCH)?;
            let (own, width) = (cells.rows, cells.width);
            if own == 0 {
                break;
            }
            rows += own;
            let values = (trace_values(cells, &column.kind)?, width);
            match &mut whole {
                Some(whole) => append(whole, values)?,
                None => whole = Some(values),
            }
        }
    }
    let announced = usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
    if announced != rows {
        return Err(format!("it has {rows} rows where it announces {announced}"));
    }
    Ok(whole)
}

/// Returns a group as it was written.
fn group_of(metadata: &Value, mut columns: IndexMap<String, DrawColumn>) -> Result<(String, Dataset), String> {
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
    dataset.coords = labels_from_json(part("coords")?)?;
    // Files of before July 2026 have neither.
    let later = |name: &str| metadata[name].as_object().into_iter().flatten();
    for (name, described) in later("other_coords") {
        let values = from_json(&described["type"], &described["values"]);
        let array = values.and_then(|values| array(described, Some((values, None))));
        dataset.other_coords.insert(name.clone(), array.map_err(|what| format!("coordinate {name}: {what}"))?);
    }
    for (name, attributes) in later("variable_attrs") {
        let attributes = attributes.as_object().map(attributes_from_json).unwrap_or_default();
        dataset.variable_attrs.insert(name.clone(), attributes);
    }
    Ok((group.to_owned(), dataset))
}

fn array(described: &Value, column: Option<DrawColumn>) -> Result<Array, String> {
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
