//! A Zarr store of either version to InferenceData.
//!
//! How large an array may be that is read, and which files are its chunks, is decided here.

use super::dtype::{DataType, Kind};
use super::grid::Grid;
use super::metadata::{self, ArrayMetadata, Unpacking};
use super::{v2, v3};
use crate::FormatError;
use crate::checked::{ALLOWANCE, EXPANSION, MAX_VARIABLE_BYTES};
use crate::json::attributes_from_json;
use crate::labels::labels_of;
use octopus_files::read_regular;
use octopus_trace::{Array, Dataset, InferenceData, Values};
use std::fs;
use std::path::{Path, PathBuf};

/// Reads every group of a Zarr store of version 2 or 3, compressed with gzip, zlib, Zstandard, LZ4 or Blosc
/// of these; also sharded.
///
/// Types are converted as by [`read_netcdf`](crate::read_netcdf). Integers with a fill value become real numbers only
/// where a value is missing. The `fill_value` of version 2 marks missing values, as it does for xarray. An array
/// without names for its axes gets `<array>_dim_0`, ... Groups in groups are left out: ArviZ's schema has none.
///
/// # Errors
/// When `path` is no Zarr store, has no groups, or holds an array that is damaged, is encoded in another way or has a
/// type that a trace cannot have. The error names the array's file.
pub fn read_zarr(path: &Path) -> Result<InferenceData, FormatError> {
    let unreadable = |what: String| FormatError::Unreadable { path: path.to_owned(), what };
    if !path.is_dir() {
        let found = fs::metadata(path).map_err(FormatError::io("read", path))?;
        return Err(unreadable(format!("it is no Zarr store but a file of {} bytes", found.len())));
    }
    let mut data = InferenceData::default();
    for (name, folder) in folders(path)? {
        if let Some(attributes) = metadata::group(&folder)? {
            let mut dataset = Dataset { attrs: attributes_from_json(&attributes), ..Dataset::default() };
            read_group(&folder, &mut dataset)?;
            dataset.dimensions().map_err(|what| unreadable(format!("group {name}: {what}")))?;
            data.insert(name, dataset);
        }
    }
    if data.groups.is_empty() && !is_store(path) {
        return Err(unreadable("it is no Zarr store: it has neither zarr.json nor .zgroup".into()));
    }
    if data.groups.is_empty() {
        return Err(unreadable("it has no groups such as `posterior`, so it is not ArviZ's InferenceData".into()));
    }
    Ok(data)
}

/// Returns whether `path` looks like a Zarr store, without reading it.
pub(crate) fn is_store(path: &Path) -> bool {
    [v3::FILE, v2::GROUP_FILE, ".zmetadata"].iter().any(|name| path.join(name).is_file())
}

fn read_group(folder: &Path, dataset: &mut Dataset) -> Result<(), FormatError> {
    for (name, folder) in folders(folder)? {
        let Some(array) = metadata::array(&folder)? else { continue };
        let unreadable = |what: String| FormatError::Unreadable { path: folder.clone(), what };
        let array = octopus_files::decode(|| read_array(&folder, &name, array), unreadable)?;
        if array.dims.len() == 1 && array.dims[0] == name {
            dataset.coords.insert(name, labels_of(array.values));
        } else {
            dataset.variables.insert(name, array);
        }
    }
    Ok(())
}

/// Returns the folders in a folder, by name.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>, FormatError> {
    let entries = fs::read_dir(folder).map_err(FormatError::io("list", folder))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(FormatError::io("list", folder))?;
        if entry.path().is_dir() {
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

fn read_array(folder: &Path, name: &str, array: ArrayMetadata) -> Result<Array, FormatError> {
    let unreadable = |what: String| FormatError::Unreadable { path: folder.to_owned(), what };
    let chunks = chunk_files(folder, &array)?;
    let stored: u64 = chunks.iter().map(|(_, _, len)| len).sum();
    let ArrayMetadata { shape, chunk, data_type, pipeline, fill, dims, unpacking, .. } = array;
    let count = checked_count(&shape, &chunk, data_type, stored).map_err(unreadable)?;
    let grid = Grid::new(&shape, &chunk).map_err(unreadable)?;
    let mut values = data_type.filled(&fill, count).map_err(unreadable)?;
    for (file, index, _) in chunks {
        if !grid.has(&index) {
            continue;
        }
        let bytes = read_regular(&file).map_err(FormatError::io("read", &file))?;
        let placed = pipeline.decode(&bytes, &chunk, data_type, &fill);
        let placed = placed.and_then(|own| grid.place(&mut values, &own, &index));
        placed.map_err(|what| FormatError::Unreadable { path: file, what })?;
    }
    let dims = dims.unwrap_or_else(|| (0..shape.len()).map(|axis| format!("{name}_dim_{axis}")).collect());
    if dims.len() != shape.len() {
        return Err(unreadable(format!("it has {} names for {} dimensions", dims.len(), shape.len())));
    }
    Ok(Array { dims, shape, values: unpacked(values, data_type, &unpacking) })
}

/// Returns the number of values, unless the array or its chunks are larger than what is `stored` can make them: a
/// damaged file must not ask for all the memory there is.
fn checked_count(shape: &[usize], chunk: &[usize], data_type: DataType, stored: u64) -> Result<usize, String> {
    let width = match data_type.kind {
        Kind::Bool => 1,
        Kind::Float | Kind::Integer | Kind::Unsigned => 8,
        Kind::Utf32 | Kind::Bytes | Kind::Words => size_of::<String>() + data_type.width,
    };
    let bytes = |shape: &[usize]| shape.iter().try_fold(width, |product, &len| product.checked_mul(len.max(1)));
    let most = usize::try_from(stored).unwrap_or(usize::MAX).saturating_mul(EXPANSION).saturating_add(ALLOWANCE);
    for (what, lengths) in [("it", shape), ("each of its chunks", chunk)] {
        if bytes(lengths).is_none_or(|bytes| bytes > most.min(MAX_VARIABLE_BYTES)) {
            return Err(format!("{what} claims the shape {lengths:?}, and its chunks have {stored} bytes in all"));
        }
    }
    Ok(shape.iter().product())
}

/// Returns the files of an array's chunks, with their index and length. Listed rather than looked up: of a large array
/// few may be there.
fn chunk_files(folder: &Path, array: &ArrayMetadata) -> Result<Vec<(PathBuf, Vec<usize>, u64)>, FormatError> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((folder, before, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).map_err(FormatError::io("list", &folder))? {
            let entry = entry.map_err(FormatError::io("list", &folder))?;
            let key = format!("{before}{}", entry.file_name().to_string_lossy());
            let metadata = fs::metadata(entry.path()).map_err(FormatError::io("read", &entry.path()))?;
            if metadata.is_dir() {
                if depth <= array.shape.len() {
                    open.push((entry.path(), format!("{key}/"), depth + 1));
                }
            } else if let Some(index) = index_of(&key, array) {
                found.push((entry.path(), index, metadata.len()));
            }
        }
    }
    Ok(found)
}

/// Returns the index of the chunk that has the key `key`, e.g. `c/0/1` or `0.1`.
fn index_of(key: &str, array: &ArrayMetadata) -> Option<Vec<usize>> {
    let rank = array.shape.len();
    let mut rest = key.strip_prefix(array.prefix)?;
    if rank == 0 {
        return matches!((array.prefix, rest), ("c", "") | ("", "0")).then(Vec::new);
    }
    if !array.prefix.is_empty() {
        rest = rest.strip_prefix(array.separator)?;
    }
    let index: Option<Vec<usize>> = rest.split(array.separator).map(|number| number.parse().ok()).collect();
    index.filter(|index| index.len() == rank)
}

/// Returns the values that the stored numbers stand for.
fn unpacked(values: Values, data_type: DataType, unpacking: &Unpacking) -> Values {
    let values = match values {
        Values::I64(values) if data_type.kind == Kind::Unsigned && values.iter().any(|&value| value < 0) => {
            Values::F64(values.into_iter().map(|value| value as u64 as f64).collect())
        }
        other => other,
    };
    if unpacking.is_bool && matches!(values, Values::I64(_)) {
        return Values::Bool(values.to_f64().into_iter().map(|flag| flag != 0.0).collect());
    }
    let packed = unpacking.scale.is_some() || unpacking.offset.is_some();
    let is_missing = |value: f64| unpacking.missing.contains(&value);
    let masked = match &values {
        Values::I64(values) => values.iter().any(|&value| is_missing(value as f64)),
        Values::F64(values) => values.iter().any(|&value| is_missing(value)),
        _ => return values,
    };
    if !packed && !masked {
        return values;
    }
    let (scale, offset) = (unpacking.scale.unwrap_or(1.0), unpacking.offset.unwrap_or(0.0));
    let unpack = |value: f64| if is_missing(value) { f64::NAN } else { value * scale + offset };
    Values::F64(values.to_f64().into_iter().map(unpack).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{WriteTrace, write_zarr, write_zarr_v2};
    use serde_json::json;

    fn data_type(name: &str) -> DataType {
        DataType::of_version_3(&json!(name)).unwrap()
    }

    #[test]
    fn what_is_no_store_of_groups_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let told = |path: &Path| read_zarr(path).unwrap_err().to_string();
        assert!(told(dir.path()).contains("it has neither zarr.json nor .zgroup"));
        let store = dir.path().join("a.zarr");
        write_zarr(&store, &InferenceData::default(), false).unwrap();
        assert!(told(&store).contains("it has no groups such as `posterior`"));
        assert!(told(&store.join("zarr.json")).contains("it is no Zarr store but a file of"));
    }

    /// Groups in groups, chunks beyond the array, other files, and links that lead back are left alone.
    #[test]
    fn what_else_lies_in_a_store_is_no_value() {
        let mut posterior = Dataset::default();
        posterior.insert("mu", Array::new([("chain", 1), ("draw", 2)], Values::F64(vec![0.5, 1.5])));
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        let dir = tempfile::tempdir().unwrap();
        let stores: [(&str, WriteTrace, &str); 2] = [("2", write_zarr_v2, "1.0"), ("3", write_zarr, "c/1/0")];
        for (version, write, beyond) in stores {
            let store = dir.path().join(version);
            write(&store, &data, false).unwrap();
            let group = store.join("posterior/inner");
            fs::create_dir(&group).unwrap();
            fs::write(group.join(v3::FILE), v3::group(json!({})).to_string()).unwrap();
            let array = store.join("posterior/mu");
            for name in [beyond, "notes.txt"] {
                fs::create_dir_all(array.join(name).parent().unwrap()).unwrap();
                fs::write(array.join(name), "no chunk").unwrap();
            }
            #[cfg(unix)]
            std::os::unix::fs::symlink(".", array.join("loop")).unwrap();
            assert_eq!(read_zarr(&store).unwrap(), data, "{version}");
        }
        // Metadata that cannot be read are no metadata that are not there.
        let store = dir.path().join("3");
        fs::create_dir(store.join("posterior/mu").join(v2::ARRAY_FILE)).unwrap();
        assert!(matches!(read_zarr(&store), Err(FormatError::File(_))));
    }

    /// 64 MiB, and 16 KiB for each byte of the chunks.
    #[test]
    fn a_shape_is_believed_as_far_as_its_bytes_can_fill_it() {
        let (real, flag, word) = (data_type("float64"), data_type("bool"), data_type("string"));
        let bytes = 64 * 1024 * 1024;
        let (most, words) = (bytes / 8, bytes / (size_of::<String>() + 4));
        assert_eq!(checked_count(&[2, most / 2], &[1, most], real, 0), Ok(most));
        assert_eq!(checked_count(&[most + 2048], &[1], real, 1), Ok(most + 2048));
        assert_eq!(checked_count(&[bytes], &[1], flag, 0), Ok(bytes));
        assert_eq!(checked_count(&[words], &[1], word, 0), Ok(words));
        assert_eq!(checked_count(&[0, most], &[1, 1], real, 0), Ok(0));
        let told = |shape: &[usize], chunk: &[usize], of: DataType, stored: u64| {
            checked_count(shape, chunk, of, stored).unwrap_err()
        };
        assert!(told(&[most + 1], &[1], real, 0).starts_with("it claims the shape"));
        assert!(told(&[1], &[most + 1], real, 0).starts_with("each of its chunks claims the shape"));
        assert!(told(&[most + 2049], &[1], real, 1).starts_with("it claims"));
        assert!(told(&[words + 1], &[1], word, 0).starts_with("it claims"));
        assert!(told(&[MAX_VARIABLE_BYTES / 8 + 1], &[1], real, u64::MAX).starts_with("it claims"));
        assert!(told(&[usize::MAX, 2], &[1, 1], real, u64::MAX).starts_with("it claims"));
    }

    #[test]
    fn stored_numbers_stand_for_values() {
        let plain = Unpacking::default;
        let integers = |values: &[i64]| Values::I64(values.to_vec());
        for (stored, kind, unpacking, expected) in [
            (integers(&[0, 1]), "uint64", plain(), "I64([0, 1])"),
            (integers(&[i64::MIN, 1]), "uint64", plain(), "F64([9.223372036854776e18, 1.0])"),
            (integers(&[-1, 0]), "int64", plain(), "I64([-1, 0])"),
            (integers(&[0, 2]), "int8", Unpacking { is_bool: true, ..plain() }, "Bool([false, true])"),
            (Values::F64(vec![0.0]), "float64", Unpacking { is_bool: true, ..plain() }, "F64([0.0])"),
            (integers(&[-9, 3]), "int8", Unpacking { missing: vec![-9.0], ..plain() }, "F64([NaN, 3.0])"),
            (integers(&[1, 3]), "int8", Unpacking { missing: vec![-9.0], ..plain() }, "I64([1, 3])"),
            (integers(&[4]), "int8", Unpacking { scale: Some(0.5), ..plain() }, "F64([2.0])"),
            (integers(&[4]), "int8", Unpacking { offset: Some(1.0), ..plain() }, "F64([5.0])"),
            (
                Values::F64(vec![4.0, -9.0]),
                "float64",
                Unpacking { scale: Some(0.5), offset: Some(1.0), missing: vec![-9.0], ..plain() },
                "F64([3.0, NaN])",
            ),
            (Values::Bool(vec![true]), "bool", Unpacking { scale: Some(0.5), ..plain() }, "Bool([true])"),
        ] {
            let shown = format!("{stored:?} as {unpacking:?}");
            assert_eq!(format!("{:?}", unpacked(stored, data_type(kind), &unpacking)), expected, "{shown}");
        }
    }
}
