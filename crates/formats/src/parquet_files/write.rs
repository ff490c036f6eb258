//! InferenceData to a folder of Parquet files.

use super::encode::{ParquetColumn, encode_columns};
use super::values::{label_column, to_json};
use super::{METADATA, ROW, is_parquet, parquet_files};
use crate::FormatError;
use crate::checked;
use crate::export::export_folder;
use crate::json::attributes_to_json;
use indexmap::IndexMap;
use octopus_files::{Disk, Storage};
use octopus_trace::Labels;
use octopus_trace::{Dataset, InferenceData, Values};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::path::Path;

/// Writes `data` as a folder of Parquet files, `posterior.parquet`, `sample_stats.parquet`, ..., whole or not
/// at all.
///
/// # Errors
/// When `path` exists and `overwrite` is false or it holds anything other than such files, when a group contradicts
/// itself or has a variable with the name of a dimension of its rows, or when a file cannot be written.
pub fn write_parquet(path: &Path, data: &InferenceData, overwrite: bool) -> Result<(), FormatError> {
    export_folder(path, overwrite, is_ours, |folder| {
        for (group, dataset) in &data.groups {
            let sizes = checked::dimensions(group, dataset)?;
            let rows = shared_dims(dataset);
            if let Some(name) = dataset.variables.keys().find(|name| rows.contains(name)) {
                let what = format!("`{name}` is both a variable and a dimension of the others");
                return Err(FormatError::Invalid { group: group.clone(), what });
            }
            let file = folder.join(format!("{group}.parquet"));
            let encode = |what: String| FormatError::Encode { path: file.clone(), what };
            let bytes = encoded(group, dataset, &rows, &sizes).map_err(encode)?;
            Disk.write(&file, &mut |out| out.write_all(&bytes)).map_err(FormatError::io("write", &file))?;
        }
        Ok(())
    })
}

/// Returns whether a folder holds files of ours and nothing else.
pub(super) fn is_ours(path: &Path) -> bool {
    let is_ours = |file: &Path| {
        let reader = File::open(file).ok().and_then(|file| SerializedFileReader::new(file).ok());
        let entries = reader.and_then(|reader| reader.metadata().file_metadata().key_value_metadata().cloned());
        entries.is_some_and(|entries| entries.iter().any(|entry| entry.key == METADATA))
    };
    let count = std::fs::read_dir(path).map_or(0, Iterator::count);
    parquet_files(path)
        .is_ok_and(|files| files.len() == count && files.iter().all(|file| is_parquet(file) && is_ours(file)))
}

/// Returns the dimensions with which every variable begins.
fn shared_dims(dataset: &Dataset) -> Vec<&String> {
    let mut arrays = dataset.variables.values();
    let mut shared: Vec<&String> = arrays.next().map_or_else(Vec::new, |array| array.dims.iter().collect());
    for array in arrays {
        let same = shared.iter().zip(&array.dims).take_while(|(one, other)| **one == *other).count();
        shared.truncate(same);
    }
    shared
}

fn encoded(group: &str, dataset: &Dataset, rows: &[&String], sizes: &IndexMap<&str, usize>) -> Result<Vec<u8>, String> {
    let lens: Vec<usize> = rows.iter().map(|dim| sizes[dim.as_str()]).collect();
    let count: usize = lens.iter().product();
    let mut columns: Vec<ParquetColumn> = Vec::new();
    let mut before = 1;
    for (axis, dim) in rows.iter().enumerate() {
        let range = Labels::Range(lens[axis]);
        let places = repeated(lens[axis], before, lens[axis + 1..].iter().product());
        columns.push(label_column(dim, dataset.coords.get(*dim).unwrap_or(&range), &places));
        before *= lens[axis];
    }
    for (name, array) in &dataset.variables {
        let width = Some(array.elements(rows.len())).filter(|_| array.dims.len() > rows.len());
        // Lists of nothing have no column.
        if width != Some(0) {
            columns.push(ParquetColumn::new(name, array.values.clone(), width));
        }
    }
    if columns.is_empty() {
        columns.push(ParquetColumn::new(ROW, Values::I64(vec![0; count]), None));
    }
    encode_columns(&columns, &metadata(group, dataset, rows))
}

/// Returns the places of a column of `len` values in which each is there `inner` times, and all of that `outer` times.
fn repeated(len: usize, outer: usize, inner: usize) -> Vec<usize> {
    let once = (0..len).flat_map(|place| std::iter::repeat_n(place, inner));
    std::iter::repeat_n(once, outer).flatten().collect()
}

/// Returns the meaning of the columns as JSON.
fn metadata(group: &str, dataset: &Dataset, rows: &[&String]) -> Value {
    let variable = |array: &octopus_trace::Array| {
        let kind = match array.values {
            Values::F64(_) => "f64",
            Values::I64(_) => "i64",
            Values::Bool(_) => "bool",
            Values::Strings(_) => "string",
        };
        json!({ "dims": array.dims, "shape": array.shape, "type": kind })
    };
    let variables: Map<String, Value> =
        dataset.variables.iter().map(|(name, array)| (name.clone(), variable(array))).collect();
    let coords: Map<String, Value> =
        dataset.coords.iter().map(|(dim, labels): (&String, &Labels)| (dim.clone(), json!(labels))).collect();
    let other = |array: &octopus_trace::Array| {
        let mut described = variable(array);
        described["values"] = to_json(&array.values);
        described
    };
    let other_coords: Map<String, Value> =
        dataset.other_coords.iter().map(|(name, array)| (name.clone(), other(array))).collect();
    let attrs = dataset.variable_attrs.iter();
    let variable_attrs: Map<String, Value> =
        attrs.map(|(name, attrs)| (name.clone(), Value::Object(attributes_to_json(attrs)))).collect();
    json!({
        "schema": 1,
        "group": group,
        "order": "row-major",
        "rows": rows,
        "variables": variables,
        "coords": coords,
        "other_coords": other_coords,
        "attrs": attributes_to_json(&dataset.attrs),
        "variable_attrs": variable_attrs,
    })
}
