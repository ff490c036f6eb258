//! Writes InferenceData to a Zarr store of either version: the folders, the chunks, and all metadata in one place.
//!
//! The level of compression stands here.

use super::grid::unravel;
use super::{is_store, v2, v3};
use crate::FormatError;
use crate::checked;
use crate::chunks::chunk_shape;
use crate::conventions::{WrittenVariable, written};
use crate::export::export_folder;
use crate::json::attributes_to_json;
use octopus_files::{Disk, Storage, folder_of};
use octopus_trace::{Dataset, InferenceData};
use serde_json::{Map, Value};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Deflate, as in NetCDF: higher levels take far longer and gain less than 1% on draws.
pub(super) const LEVEL: u32 = 1;

/// Writes `data` as a Zarr store of version 3 in the folder `path`, whole or not at all. The store has names of
/// dimensions in the arrays, all metadata repeated in the root (consolidated), gzip, and words as `string`.
/// `xarray.open_datatree(path, engine="zarr")` with zarr 3, ArviZ 1 and nutpie's tools open it. For `arviz.from_zarr`
/// of ArviZ 0.23, which needs zarr 2, there is [`write_zarr_v2`].
///
/// # Errors
/// When `path` exists and `overwrite` is false or it is not a Zarr store, when a group contradicts itself,
/// or when a file cannot be written.
pub fn write_zarr(path: &Path, data: &InferenceData, overwrite: bool) -> Result<(), FormatError> {
    write(path, data, overwrite, Version::V3)
}

/// Writes `data` as a Zarr store of version 2, which every version of zarr opens. The store has names of dimensions as
/// xarray writes them (`_ARRAY_DIMENSIONS`), consolidated metadata, and zlib with shuffled bytes.
///
/// # Errors
/// When `path` exists and `overwrite` is false or it is not a Zarr store, when a group contradicts itself, or when a
/// file cannot be written.
pub fn write_zarr_v2(path: &Path, data: &InferenceData, overwrite: bool) -> Result<(), FormatError> {
    write(path, data, overwrite, Version::V2)
}

#[derive(Clone, Copy)]
enum Version {
    V2,
    V3,
}

fn write(path: &Path, data: &InferenceData, overwrite: bool, version: Version) -> Result<(), FormatError> {
    // Only what is recognisably a store, and nothing but a store, is ever replaced.
    export_folder(path, overwrite, is_ours, |root| {
        let mut store = Store { root: root.to_owned(), version, metadata: Map::new() };
        for (group, dataset) in &data.groups {
            checked::dimensions(group, dataset)?;
            store.put_group(group, dataset)?;
        }
        store.finish(Value::Object(attributes_to_json(&data.attrs)))
    })
}

/// Returns whether a folder is a store, with nothing at its root but groups and metadata.
pub(super) fn is_ours(path: &Path) -> bool {
    const METADATA: [&str; 4] = [v3::FILE, v2::GROUP_FILE, v2::ATTRIBUTES_FILE, ".zmetadata"];
    let belongs = |entry: fs::DirEntry| entry.path().is_dir() || METADATA.iter().any(|name| entry.file_name() == *name);
    is_store(path) && fs::read_dir(path).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(belongs)))
}

/// A store on its way to the disk.
struct Store {
    root: PathBuf,
    version: Version,
    /// The metadata written so far, by their paths as the version's consolidated metadata name them.
    metadata: Map<String, Value>,
}

impl Store {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), FormatError> {
        let path = self.root.join(name);
        let folder = folder_of(&path);
        fs::create_dir_all(folder).map_err(FormatError::io("create the folder", folder))?;
        Disk.write(&path, &mut |writer| writer.write_all(bytes)).map_err(FormatError::io("write", &path))
    }

    fn put_metadata(&mut self, folder: &str, name: &str, value: Value) -> Result<(), FormatError> {
        let file = format!("{folder}/{name}");
        self.put(&file, value.to_string().as_bytes())?;
        // Version 2 consolidates files, version 3 nodes.
        self.metadata.insert(if name == v3::FILE { folder.to_owned() } else { file }, value);
        Ok(())
    }

    fn put_group(&mut self, group: &str, dataset: &Dataset) -> Result<(), FormatError> {
        let (attributes, variables) = written(dataset);
        let attributes = Value::Object(attributes_to_json(&attributes));
        match self.version {
            Version::V2 => {
                self.put_metadata(group, v2::GROUP_FILE, v2::group())?;
                self.put_metadata(group, v2::ATTRIBUTES_FILE, attributes)?;
            }
            Version::V3 => self.put_metadata(group, v3::FILE, v3::group(attributes))?,
        }
        for variable in &variables {
            self.put_array(&format!("{group}/{}", variable.name), variable)?;
        }
        Ok(())
    }

    fn put_array(&mut self, name: &str, variable: &WrittenVariable<'_>) -> Result<(), FormatError> {
        let (array, single, attrs) = (&variable.array, variable.single, attributes_to_json(&variable.attrs));
        // A chunk of length 0 is not allowed, even of an empty array.
        let chunk: Vec<usize> = chunk_shape(&array.shape).into_iter().map(|len| len.max(1)).collect();
        match self.version {
            Version::V2 => {
                self.put_metadata(name, v2::ARRAY_FILE, v2::array(array, single, &chunk, &attrs))?;
                self.put_metadata(name, v2::ATTRIBUTES_FILE, v2::array_attributes(array, attrs))?;
            }
            Version::V3 => self.put_metadata(name, v3::FILE, v3::array(array, single, &chunk, attrs))?,
        }
        let values = chunk.iter().product();
        for (index, range) in chunk_ranges(&array.shape, &chunk) {
            let (key, bytes) = match self.version {
                Version::V2 => (v2::key(&index), v2::encode(&array.values, single, range, values)),
                Version::V3 => (v3::key(&index), v3::encode(&array.values, single, range, values)),
            };
            let path = format!("{name}/{key}");
            self.put(&path, &bytes.map_err(FormatError::io("write", &self.root.join(&path)))?)?;
        }
        Ok(())
    }

    /// Writes the root with its attributes, last, with all metadata in it.
    fn finish(mut self, attributes: Value) -> Result<(), FormatError> {
        let metadata = Value::Object(std::mem::take(&mut self.metadata));
        let files = match self.version {
            Version::V2 => v2::root(attributes, metadata),
            Version::V3 => vec![(v3::FILE, v3::root(attributes, metadata))],
        };
        files.into_iter().try_for_each(|(name, value)| self.put(name, value.to_string().as_bytes()))
    }
}

/// Returns the index of each chunk and its range in the row-major values. See [`chunk_shape`] for why it is one range.
fn chunk_ranges(shape: &[usize], chunk: &[usize]) -> Vec<(Vec<usize>, Range<usize>)> {
    let counts: Vec<usize> = shape.iter().zip(chunk).map(|(&len, &part)| len.div_ceil(part)).collect();
    let mut ranges = Vec::new();
    for number in 0..counts.iter().product() {
        let index = unravel(number, &counts);
        let (mut start, mut length) = (0, 1);
        for (axis, &len) in shape.iter().enumerate() {
            let first = index[axis] * chunk[axis];
            start = start * len + first;
            length *= chunk[axis].min(len - first);
        }
        ranges.push((index, start..start + length));
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::{Array, Values};
    use serde_json::json;

    #[test]
    fn every_value_is_in_one_chunk() {
        for shape in [vec![], vec![3], vec![4, 1000, 1000], vec![3, 700_001], vec![5, 0]] {
            let chunk: Vec<usize> = chunk_shape(&shape).into_iter().map(|len| len.max(1)).collect();
            let mut next = 0;
            for (_, range) in chunk_ranges(&shape, &chunk) {
                assert_eq!(range.start, next);
                next = range.end;
            }
            assert_eq!(next, shape.iter().product::<usize>());
        }
    }

    /// As the metadata say.
    #[test]
    fn chunks_are_packed_at_level_1() {
        use flate2::Compression;
        use flate2::write::{GzEncoder, ZlibEncoder};
        use std::io::Write;
        let flags: Vec<bool> = (0..2000).map(|k| k * k % 7 < 3 || k % 31 == 0).collect();
        let bytes: Vec<u8> = flags.iter().map(|&flag| u8::from(flag)).collect();
        let zlib = |level: u32| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(level));
            encoder.write_all(&bytes).unwrap();
            encoder.finish().unwrap()
        };
        let gzip = |level: u32| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
            encoder.write_all(&bytes).unwrap();
            encoder.finish().unwrap()
        };
        let values = Values::Bool(flags);
        let found =
            [v2::encode(&values, false, 0..2000, 2000).unwrap(), v3::encode(&values, false, 0..2000, 2000).unwrap()];
        assert_eq!(found, [zlib(1), gzip(1)]);
        assert!([0, 2].iter().all(|&level| zlib(level) != zlib(1) && gzip(level) != gzip(1)));
    }

    #[test]
    fn only_stores_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("a.zarr");
        let mut data = InferenceData::default();
        write_zarr_v2(&store, &data, false).unwrap();
        data.insert("posterior", Dataset::default());
        assert!(matches!(write_zarr(&store, &data, false), Err(FormatError::FileExists { .. })));
        write_zarr(&store, &data, true).unwrap();
        assert!(store.join("posterior/zarr.json").is_file() && !store.join(".zgroup").exists());
        write_zarr_v2(&store, &data, true).unwrap();
        assert!(store.join("posterior/.zgroup").is_file() && !store.join("zarr.json").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let other = dir.path().join("thesis");
        fs::create_dir(&other).unwrap();
        assert!(matches!(write_zarr(&other, &data, true), Err(FormatError::FileExists { .. })));
        data.groups["posterior"].insert("a/b", Array::new([], Values::F64(vec![1.0])));
        assert!(write_zarr(&dir.path().join("b.zarr"), &data, false).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    /// As the specifications of both versions and xarray want them.
    #[test]
    fn the_metadata_of_a_small_store() {
        let mut posterior = Dataset::default();
        posterior.insert("v", Array::new([("x", 2)], Values::F64(vec![0.5, 1.5])));
        posterior.insert("n", Array::new([("x", 2)], Values::I64(vec![1, 2])));
        posterior.insert("ok", Array::new([("x", 2)], Values::Bool(vec![true, false])));
        posterior.insert("w", Array::new([], Values::Strings(vec!["ab".into()])));
        posterior.attrs.insert("note".into(), "a trace".into());
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        let dir = tempfile::tempdir().unwrap();
        let read = |name: &str| -> Value { serde_json::from_slice(&fs::read(dir.path().join(name)).unwrap()).unwrap() };
        let none = Value::Null;

        write_zarr_v2(&dir.path().join("2"), &data, false).unwrap();
        let array = |shape: &[usize], dtype: &str, fill: Value, filters: &Value| {
            json!({
                "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "order": "C", "fill_value": fill,
                "compressor": { "id": "zlib", "level": 1 }, "filters": filters,
            })
        };
        let shuffle = json!([{ "id": "shuffle", "elementsize": 8 }]);
        let files = json!({
            ".zgroup": { "zarr_format": 2 },
            ".zattrs": {},
            "posterior/.zgroup": { "zarr_format": 2 },
            "posterior/.zattrs": { "note": "a trace" },
            "posterior/v/.zarray": array(&[2], "<f8", json!("NaN"), &shuffle),
            "posterior/v/.zattrs": { "_ARRAY_DIMENSIONS": ["x"] },
            "posterior/n/.zarray": array(&[2], "<i8", Value::Null, &shuffle),
            "posterior/n/.zattrs": { "_ARRAY_DIMENSIONS": ["x"] },
            "posterior/ok/.zarray": array(&[2], "|b1", Value::Null, &none),
            "posterior/ok/.zattrs": { "_ARRAY_DIMENSIONS": ["x"] },
            "posterior/w/.zarray": array(&[], "<U2", Value::Null, &none),
            "posterior/w/.zattrs": { "_ARRAY_DIMENSIONS": [] },
        });
        for (name, content) in files.as_object().unwrap() {
            assert_eq!(read(&format!("2/{name}")), *content, "{name}");
        }
        let lone = Array::new([("x", 1)], Values::I64(vec![1]));
        let mut of_one = InferenceData::default();
        of_one.insert("posterior", Dataset::default());
        of_one.groups["posterior"].insert("lone", lone);
        write_zarr_v2(&dir.path().join("1"), &of_one, false).unwrap();
        assert_eq!(read("1/posterior/lone/.zarray")["chunks"], json!([1]));
        assert_eq!(read("2/.zmetadata"), json!({ "metadata": files, "zarr_consolidated_format": 1 }));

        write_zarr(&dir.path().join("3"), &data, false).unwrap();
        let array = |dims: &[&str], data_type: &str, fill: Value, codec: &Value| {
            let shape = vec![2; dims.len()];
            json!({
                "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": fill,
                "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": shape } },
                "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
                "codecs": [codec, { "name": "gzip", "configuration": { "level": 1 } }],
                "attributes": {}, "dimension_names": dims, "storage_transformers": [],
            })
        };
        let little = json!({ "name": "bytes", "configuration": { "endian": "little" } });
        let nodes = json!({
            "posterior": { "zarr_format": 3, "node_type": "group", "attributes": { "note": "a trace" } },
            "posterior/v": array(&["x"], "float64", json!("NaN"), &little),
            "posterior/n": array(&["x"], "int64", json!(0), &little),
            "posterior/ok": array(&["x"], "bool", json!(false), &json!({ "name": "bytes" })),
            "posterior/w": array(&[], "string", json!(""), &json!({ "name": "vlen-utf8" })),
        });
        for (name, node) in nodes.as_object().unwrap() {
            assert_eq!(read(&format!("3/{name}/zarr.json")), *node, "{name}");
        }
        let consolidated = json!({ "kind": "inline", "must_understand": false, "metadata": nodes });
        let root =
            json!({ "zarr_format": 3, "node_type": "group", "attributes": {}, "consolidated_metadata": consolidated });
        assert_eq!(read("3/zarr.json"), root);
    }
}
