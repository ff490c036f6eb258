//! InferenceData to Zarr version 2: the version that `arviz.from_zarr` of ArviZ 0.23 opens, and every later
//! reader too.
//!
//! A store is a folder: `.zgroup` and `.zattrs` for each group, `.zarray` and numbered chunk files for each
//! array, and `.zmetadata`, which repeats all metadata in one file. Specification:
//! <https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html>; names of dimensions as xarray writes them
//! (`_ARRAY_DIMENSIONS`).

use crate::chunks::chunk_shape;
use crate::storage::{Disk, Storage, folder_of, temporary};
use crate::{Array, Attribute, Dataset, InferenceData, TraceError, Values};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use octopus_density::Labels;
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const LEVEL: u32 = 1;

/// Writes `data` as a Zarr store in the folder `path`, whole or not at all.
///
/// # Errors
/// When `path` exists and `overwrite` is false or it is not a Zarr store, when a group contradicts itself,
/// or when a file cannot be written.
pub fn write_zarr(path: &Path, data: &InferenceData, overwrite: bool) -> Result<(), TraceError> {
    let exists = path.symlink_metadata().is_ok();
    // Only what is recognisably a store is ever replaced.
    let is_store = path.join(".zgroup").is_file() || path.join("zarr.json").is_file();
    if exists && !(overwrite && is_store) {
        return Err(TraceError::FileExists { path: path.to_owned() });
    }
    let folder = folder_of(path);
    Disk.create_dir(folder).map_err(TraceError::io("create the folder", folder))?;
    let fresh = temporary(path);
    let write = || {
        if fresh.exists() {
            fs::remove_dir_all(&fresh).map_err(TraceError::io("remove", &fresh))?;
        }
        write_store(&fresh, data)?;
        if exists {
            let former = temporary(&path.with_added_extension("former"));
            fs::rename(path, &former).map_err(TraceError::io("rename", path))?;
            fs::rename(&fresh, path).map_err(TraceError::io("write", path))?;
            return fs::remove_dir_all(&former).map_err(TraceError::io("remove", &former));
        }
        fs::rename(&fresh, path).map_err(TraceError::io("write", path))
    };
    write().inspect_err(|_| {
        // The first failure is the one to tell.
        let _ = fs::remove_dir_all(&fresh);
    })
}

/// Metadata files by their path in the store, and the folder.
struct Store {
    root: PathBuf,
    metadata: Map<String, Value>,
}

fn write_store(root: &Path, data: &InferenceData) -> Result<(), TraceError> {
    let mut store = Store { root: root.to_owned(), metadata: Map::new() };
    store.put_metadata("", ".zgroup", json!({ "zarr_format": 2 }))?;
    store.put_metadata("", ".zattrs", json!({}))?;
    for (group, dataset) in &data.groups {
        let invalid = |what: String| TraceError::Invalid { group: group.clone(), what };
        dataset.dimensions().map_err(invalid)?;
        for name in dataset.variables.keys().chain(dataset.coords.keys()).chain([group]) {
            if name.is_empty() || name.contains('/') || name.starts_with('.') {
                return Err(invalid(format!("the name `{name}` is empty, begins with `.` or contains `/`")));
            }
        }
        if let Some(name) = dataset.variables.keys().find(|name| dataset.coords.contains_key(*name)) {
            return Err(invalid(format!("`{name}` is both a variable and a dimension with labels")));
        }
        store.put_group(group, dataset)?;
    }
    let consolidated = json!({ "metadata": store.metadata, "zarr_consolidated_format": 1 });
    store.put(".zmetadata", consolidated.to_string().as_bytes())
}

impl Store {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), TraceError> {
        let path = self.root.join(name);
        let folder = folder_of(&path);
        fs::create_dir_all(folder).map_err(TraceError::io("create the folder", folder))?;
        Disk.write(&path, &mut |writer| writer.write_all(bytes)).map_err(TraceError::io("write", &path))
    }

    fn put_metadata(&mut self, folder: &str, name: &str, value: Value) -> Result<(), TraceError> {
        let name = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        self.put(&name, value.to_string().as_bytes())?;
        self.metadata.insert(name, value);
        Ok(())
    }

    fn put_group(&mut self, group: &str, dataset: &Dataset) -> Result<(), TraceError> {
        self.put_metadata(group, ".zgroup", json!({ "zarr_format": 2 }))?;
        let attrs: Map<String, Value> =
            dataset.attrs.iter().map(|(name, value)| (name.clone(), attribute_json(value))).collect();
        self.put_metadata(group, ".zattrs", Value::Object(attrs))?;
        for (dim, labels) in &dataset.coords {
            let values = match labels {
                Labels::Range(n) => Values::I64((0..*n as i64).collect()),
                Labels::Integers(values) => Values::I64(values.clone()),
                Labels::Strings(words) => Values::Strings(words.clone()),
            };
            self.put_array(&format!("{group}/{dim}"), &Array::new([(dim.as_str(), labels.len())], values))?;
        }
        for (name, array) in &dataset.variables {
            self.put_array(&format!("{group}/{name}"), array)?;
        }
        Ok(())
    }

    fn put_array(&mut self, name: &str, array: &Array) -> Result<(), TraceError> {
        let stored = Stored::new(&array.values);
        let chunk = chunk_shape(&array.shape);
        let shuffled = json!([{ "id": "shuffle", "elementsize": stored.width }]);
        let filters = if stored.shuffle { shuffled } else { Value::Null };
        let metadata = json!({
            "zarr_format": 2,
            "shape": array.shape,
            // A chunk of length 0 is not allowed, even of an empty array.
            "chunks": chunk.iter().map(|&len| len.max(1)).collect::<Vec<_>>(),
            "dtype": stored.dtype,
            "order": "C",
            "fill_value": if stored.dtype == "<f8" { json!("NaN") } else { Value::Null },
            "compressor": { "id": "zlib", "level": LEVEL },
            "filters": filters,
        });
        self.put_metadata(name, ".zarray", metadata)?;
        self.put_metadata(name, ".zattrs", json!({ "_ARRAY_DIMENSIONS": array.dims }))?;
        for (key, range) in chunk_ranges(&array.shape, &chunk) {
            let values = chunk.iter().product::<usize>();
            let mut bytes = stored.bytes[range.start * stored.width..range.end * stored.width].to_vec();
            // The last chunk of an axis is as long as the others.
            bytes.resize(values * stored.width, 0);
            let path = self.root.join(name).join(&key);
            let bytes = stored.compress(&bytes).map_err(TraceError::io("write", &path))?;
            self.put(&format!("{name}/{key}"), &bytes)?;
        }
        Ok(())
    }
}

/// The values of an array as the bytes of its Zarr type.
struct Stored {
    dtype: String,
    /// Bytes of one value.
    width: usize,
    bytes: Vec<u8>,
    shuffle: bool,
}

impl Stored {
    fn new(values: &Values) -> Self {
        match values {
            Values::F64(values) => Self {
                dtype: "<f8".into(),
                width: 8,
                bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
                shuffle: true,
            },
            Values::I64(values) => Self {
                dtype: "<i8".into(),
                width: 8,
                bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
                shuffle: true,
            },
            Values::Bool(flags) => Self {
                dtype: "|b1".into(),
                width: 1,
                bytes: flags.iter().map(|&flag| u8::from(flag)).collect(),
                shuffle: false,
            },
            Values::Strings(words) => {
                // NumPy's fixed-length text: UTF-32, padded with zeros.
                let length = words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1);
                let padded = |word: &String| -> Vec<u8> {
                    let points = word.chars().map(u32::from).chain(std::iter::repeat(0)).take(length);
                    points.flat_map(u32::to_le_bytes).collect()
                };
                Self {
                    dtype: format!("<U{length}"),
                    width: 4 * length,
                    bytes: words.iter().flat_map(padded).collect(),
                    shuffle: false,
                }
            }
        }
    }

    fn compress(&self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
        if self.shuffle {
            encoder.write_all(&shuffle(bytes, self.width))?;
        } else {
            encoder.write_all(bytes)?;
        }
        encoder.finish()
    }
}

/// All first bytes, then all second bytes, ...: neighbouring exponents compress, neighbouring values do not.
fn shuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    (0..width).flat_map(|byte| bytes.iter().skip(byte).step_by(width)).copied().collect()
}

/// The key of each chunk and its range in the row-major values. See [`chunk_shape`] for why it is one range.
fn chunk_ranges(shape: &[usize], chunk: &[usize]) -> Vec<(String, std::ops::Range<usize>)> {
    if shape.is_empty() {
        return vec![("0".into(), 0..1)];
    }
    let total: usize = shape.iter().product();
    let counts: Vec<usize> = shape.iter().zip(chunk).map(|(&len, &part)| len.div_ceil(part.max(1))).collect();
    let chunks: usize = if total == 0 { 0 } else { counts.iter().product() };
    let mut ranges = Vec::with_capacity(chunks);
    for number in 0..chunks {
        let mut rest = number;
        let mut index = vec![0; shape.len()];
        for (axis, &count) in counts.iter().enumerate().rev() {
            index[axis] = rest % count;
            rest /= count;
        }
        let (mut start, mut length) = (0, 1);
        for (axis, &len) in shape.iter().enumerate() {
            let first = index[axis] * chunk[axis];
            start = start * len + first;
            length *= chunk[axis].min(len - first);
        }
        let key = index.iter().map(usize::to_string).collect::<Vec<_>>().join(".");
        ranges.push((key, start..start + length));
    }
    ranges
}

fn attribute_json(attribute: &Attribute) -> Value {
    match attribute {
        Attribute::Text(text) => json!(text),
        Attribute::F64(value) => json!(value),
        Attribute::I64(value) => json!(value),
        Attribute::List(items) => Value::Array(items.iter().map(attribute_json).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_one_chunk() {
        for shape in [vec![], vec![3], vec![4, 1000, 1000], vec![3, 700_001], vec![5, 0]] {
            let chunk = chunk_shape(&shape);
            let mut next = 0;
            for (_, range) in chunk_ranges(&shape, &chunk) {
                assert_eq!(range.start, next);
                next = range.end;
            }
            assert_eq!(next, shape.iter().product::<usize>());
        }
    }

    #[test]
    fn shuffling_gathers_bytes_of_equal_weight() {
        assert_eq!(shuffle(&[1, 2, 3, 4, 5, 6], 2), [1, 3, 5, 2, 4, 6]);
    }

    #[test]
    fn only_stores_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("a.zarr");
        let mut data = InferenceData::default();
        write_zarr(&store, &data, false).unwrap();
        data.insert("posterior", Dataset::default());
        assert!(matches!(write_zarr(&store, &data, false), Err(TraceError::FileExists { .. })));
        write_zarr(&store, &data, true).unwrap();
        assert!(store.join("posterior/.zgroup").is_file());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let other = dir.path().join("thesis");
        fs::create_dir(&other).unwrap();
        assert!(matches!(write_zarr(&other, &data, true), Err(TraceError::FileExists { .. })));
        data.groups["posterior"].insert("a/b", Array::new([], Values::F64(vec![1.0])));
        assert!(write_zarr(&dir.path().join("b.zarr"), &data, false).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
