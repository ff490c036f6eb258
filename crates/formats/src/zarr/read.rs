//! A Zarr store of either version to InferenceData.
//!
//! How large an array may be that is read, and which files are its chunks, is decided here.

use super::dtype::{DataType, Kind};
use super::grid::Grid;
use super::metadata::{self, ArrayMetadata};
use super::{v2, v3};
use crate::FormatError;
use crate::checked::{ALLOWANCE, Budget, EXPANSION, MAX_VARIABLE_BYTES, memory_for};
use crate::conventions::{Remarks, StoredVariable, inherit_labels, read_group};
use crate::json::{attributes_from_json, names_of_digits};
use octopus_files::read_regular;
use octopus_trace::{Array, Dataset, InferenceData, shown};
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// Reads every group of a Zarr store of version 2 or 3, compressed with gzip, zlib, Zstandard, LZ4 or Blosc
/// of these; also sharded.
///
/// Types, attributes and axes are understood as by [`read_netcdf`](crate::read_netcdf), and NumPy's dates and durations
/// likewise. The `fill_value` of version 2 marks missing values, as it does for xarray. An array without names for its
/// axes gets `<array>_dim_0`, ... Groups in groups are left out: ArviZ's schema has none.
///
/// [Notes](InferenceData::notes) tell which arrays the store's own metadata name that are not in it, of which chunks are
/// not there, and what `read_netcdf` tells.
///
/// # Errors
/// When `path` is no Zarr store, has no groups, or holds an array that is damaged, is encoded in another way or has a
/// scale that is no number. The error names the array's file.
pub fn read_zarr(path: &Path) -> Result<InferenceData, FormatError> {
    let unreadable = |what: String| FormatError::Unreadable { path: path.to_owned(), what };
    if !path.is_dir() {
        let found = fs::metadata(path).map_err(FormatError::io("read", path))?;
        return Err(unreadable(format!("it is no Zarr store but a file of {} bytes", found.len())));
    }
    let data = read_store(path)?;
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
    [v3::FILE, v2::GROUP_FILE, v2::CONSOLIDATED_FILE].iter().any(|name| path.join(name).is_file())
}

/// Returns the groups, with notes on what the store lacks.
fn read_store(path: &Path) -> Result<InferenceData, FormatError> {
    let unreadable = |what: String| FormatError::Unreadable { path: path.to_owned(), what };
    let budget = Budget::new(0, EXPANSION, usize::MAX);
    let mut store = StoreReader { budget, unwritten: Vec::new(), remarks: Remarks::default() };
    let attributes = metadata::group(path)?.unwrap_or_default();
    let root = store.group(path, "", &attributes)?.map_err(unreadable)?;
    let mut data = InferenceData { attrs: root.attrs.clone(), ..InferenceData::default() };
    let mut gone = absent_nodes(path, "")?;
    for (name, folder) in folders(path)? {
        if let Some(attributes) = metadata::group(&folder)? {
            let dataset = store.group(&folder, &name, &attributes)?;
            let mut dataset = dataset.map_err(|what| unreadable(format!("group {}: {what}", shown(&name))))?;
            inherit_labels(&mut dataset, &root);
            data.insert(&name, dataset);
            gone.extend(absent_nodes(&folder, &name)?);
        }
    }
    gone.sort();
    gone.dedup();
    let mut note = |what: String| data.notes.push(format!("{}: {what}", path.display()));
    if !gone.is_empty() {
        let gone = gone.join(", ");
        note(format!("its metadata name what is not in it and is left out (deleted?): {gone}; copy it again"));
    }
    if !store.unwritten.is_empty() {
        let unwritten = store.unwritten.join(", ");
        note(format!("chunks are not in it, and their values are taken for the fill value: {unwritten}"));
    }
    data.notes.extend(store.remarks.into_notes(path));
    Ok(data)
}

/// Returns what the consolidated metadata in `folder`, which is the store's `name`, name and is not there.
fn absent_nodes(folder: &Path, name: &str) -> Result<Vec<String>, FormatError> {
    let before = if name.is_empty() { String::new() } else { format!("{name}/") };
    let is_here = |node: &str| {
        let node = folder.join(node);
        [v3::FILE, v2::ARRAY_FILE, v2::GROUP_FILE].iter().any(|file| node.join(file).is_file())
    };
    let nodes = metadata::consolidated(folder)?.into_iter();
    Ok(nodes.filter(|node| !is_here(node)).map(|node| shown(&format!("{before}{node}")).into_owned()).collect())
}

/// What is known of a store while it is read.
struct StoreReader {
    budget: Budget,
    /// The arrays of which chunks are not there, in words.
    unwritten: Vec<String>,
    remarks: Remarks,
}

impl StoreReader {
    /// Reads a group, which has no name at the root; the inner error is a sentence on the group as a whole.
    fn group(
        &mut self,
        folder: &Path,
        group: &str,
        attributes: &Map<String, Value>,
    ) -> Result<Result<Dataset, String>, FormatError> {
        let mut stored = Vec::new();
        for (name, folder) in folders(folder)? {
            let array = match metadata::array(&folder)? {
                None => continue,
                Some(Err(data_type)) => {
                    self.remarks.of_other_type(group, &name, &data_type);
                    continue;
                }
                Some(Ok(array)) => array,
            };
            let is_labels = array.dims.as_deref().is_some_and(|dims| dims == [name.as_str()]);
            if group.is_empty() && !is_labels {
                self.remarks.outside(&name);
                continue;
            }
            array.as_text.iter().for_each(|attribute| self.remarks.attribute_as_text(group, &name, attribute));
            let unreadable = |what: String| FormatError::Unreadable { path: folder.clone(), what };
            let place = if group.is_empty() { name.clone() } else { format!("{group}/{name}") };
            stored.push(octopus_files::decode(|| self.array(&folder, name, &place, array), unreadable)?);
        }
        names_of_digits(attributes).for_each(|attribute| self.remarks.attribute_as_text(group, "", attribute));
        Ok(read_group(group, attributes_from_json(attributes), stored, &mut self.remarks))
    }

    fn array(
        &mut self,
        folder: &Path,
        name: String,
        place: &str,
        array: ArrayMetadata,
    ) -> Result<StoredVariable, FormatError> {
        let unreadable = |what: String| FormatError::Unreadable { path: folder.to_owned(), what };
        let chunks = chunk_files(folder, &array)?;
        let stored: u64 = chunks.iter().map(|(_, _, len)| len).sum();
        let ArrayMetadata { shape, chunk, data_type, pipeline, fill, dims, packing, attrs, .. } = array;
        let count = checked_count(&shape, &chunk, data_type, stored).map_err(unreadable)?;
        let dims = dims.unwrap_or_else(|| (0..shape.len()).map(|axis| format!("{name}_dim_{axis}")).collect());
        if dims.len() != shape.len() {
            return Err(unreadable(format!("it has {} names for {} dimensions", dims.len(), shape.len())));
        }
        let width = memory_of(data_type);
        self.budget.add(stored, EXPANSION);
        let axes = dims.iter().map(String::as_str).zip(shape.iter().copied());
        // The values, once more while axes are put in order with their places, and a chunk before and after it is
        // unpacked.
        self.budget.take(axes, width, 2 * width + size_of::<usize>()).map_err(unreadable)?;
        memory_for(chunk.iter().product::<usize>().saturating_mul(2 * width)).map_err(unreadable)?;
        let grid = Grid::new(&shape, &chunk).map_err(unreadable)?;
        let mut values = data_type.filled(&fill, count).map_err(unreadable)?;
        let mut placed = 0;
        for (file, index, _) in chunks {
            if !grid.has(&index) {
                continue;
            }
            let bytes = read_regular(&file).map_err(FormatError::io("read", &file))?;
            let own = pipeline.decode(&bytes, &chunk, data_type, &fill);
            let own = own.and_then(|own| grid.place(&mut values, &own, &index));
            own.map_err(|what| FormatError::Unreadable { path: file, what })?;
            placed += 1;
        }
        let all = grid.counts.iter().product::<usize>();
        // Writers leave out chunks of nothing but the fill value, which flags and counts often are.
        let is_usual = match data_type.kind {
            Kind::Float => placed >= all,
            Kind::Integer | Kind::Unsigned => placed > 0 || count <= 1,
            _ => true,
        };
        if !is_usual && count > 0 {
            let (place, absent) = (shown(place), all - placed);
            self.unwritten.push(format!("{place} ({absent} of {all} chunks, fill value {fill})"));
        }
        let array = Array { dims, shape, values };
        Ok(StoredVariable { name, array, storage: data_type.storage(), attrs, packing })
    }
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

/// Returns the number of values, unless the array or its chunks are larger than what is `stored` can make them: a
/// damaged file must not ask for all the memory there is.
fn checked_count(shape: &[usize], chunk: &[usize], data_type: DataType, stored: u64) -> Result<usize, String> {
    let width = memory_of(data_type);
    let bytes = |shape: &[usize]| shape.iter().try_fold(width, |product, &len| product.checked_mul(len.max(1)));
    let most = usize::try_from(stored).unwrap_or(usize::MAX).saturating_mul(EXPANSION).saturating_add(ALLOWANCE);
    for (what, lengths) in [("it", shape), ("each of its chunks", chunk)] {
        if bytes(lengths).is_none_or(|bytes| bytes > most.min(MAX_VARIABLE_BYTES)) {
            return Err(format!("{what} claims the shape {lengths:?}, and its chunks have {stored} bytes in all"));
        }
    }
    Ok(shape.iter().product())
}

/// Returns the bytes of memory of one value.
fn memory_of(data_type: DataType) -> usize {
    match data_type.kind {
        Kind::Bool => 1,
        Kind::Float | Kind::Integer | Kind::Unsigned => 8,
        Kind::Utf32 | Kind::Bytes | Kind::Words => size_of::<String>() + data_type.width,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{WriteTrace, write_zarr, write_zarr_v2};
    use octopus_trace::{Dataset, Values};
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
        assert!(told(&[0, most + 1], &[1, 1], real, 0).starts_with("it claims"));
        // To the byte: of flags, and up to the 8 GiB that no array may go beyond.
        assert!(told(&[bytes + 1], &[1], flag, 0).starts_with("it claims"));
        assert_eq!(checked_count(&[bytes + 16_384], &[1], flag, 1), Ok(bytes + 16_384));
        assert!(told(&[bytes + 16_385], &[1], flag, 1).starts_with("it claims"));
        assert_eq!(checked_count(&[8 << 30], &[1], flag, u64::MAX), Ok(8 << 30));
        assert!(told(&[(8 << 30) + 1], &[1], flag, u64::MAX).starts_with("it claims"));
    }

    /// A store of xarray's, consolidated, from which parts are deleted.
    #[test]
    fn what_is_not_there_is_told() {
        let array = |values: Values| Array::new([("chain", 2), ("draw", 300_000)], values);
        let mut posterior = Dataset::default();
        posterior.insert("mu", array(Values::F64((0..600_000).map(f64::from).collect())));
        posterior.insert("tau", array(Values::F64(vec![0.5; 600_000])));
        posterior.insert("n", array(Values::I64(vec![3; 600_000])));
        posterior.insert("ok", array(Values::Bool(vec![true; 600_000])));
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        data.insert("prior", data.groups["posterior"].clone());
        let dir = tempfile::tempdir().unwrap();
        let stores: [(&str, WriteTrace, &str); 2] = [("2", write_zarr_v2, "1.0"), ("3", write_zarr, "c/1/0")];
        for (version, write, chunk) in stores {
            let store = dir.path().join(version);
            write(&store, &data, false).unwrap();
            assert_eq!(read_zarr(&store).unwrap(), data, "{version}");
            fs::remove_dir_all(store.join("prior")).unwrap();
            fs::remove_dir_all(store.join("posterior/tau")).unwrap();
            fs::remove_file(store.join("posterior/mu").join(chunk)).unwrap();
            for name in ["n", "ok"] {
                let folder = store.join("posterior").join(name);
                let array = metadata::array(&folder).unwrap().unwrap().unwrap();
                for (file, _, _) in chunk_files(&folder, &array).unwrap() {
                    fs::remove_file(file).unwrap();
                }
            }
            let read = read_zarr(&store).unwrap();
            assert_eq!(read.groups.len(), 1);
            assert_eq!(read.groups["posterior"].variables.len(), 3);
            let [gone, unwritten] = read.notes.as_slice() else { panic!("{:?}", read.notes) };
            assert!(gone.contains("posterior/tau") && gone.contains("prior/mu"), "{gone}");
            assert!(unwritten.contains("posterior/mu (1 of 2 chunks, fill value"), "{unwritten}");
            assert!(unwritten.contains("posterior/n (2 of 2 chunks") && !unwritten.contains("ok"), "{unwritten}");
        }
    }
    fn edited(path: &Path, edit: impl FnOnce(&mut Value)) {
        let mut json: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        edit(&mut json);
        fs::write(path, json.to_string()).unwrap();
    }

    /// As xarray writes a `DataTree`: a group has no copy of what it inherits.
    #[test]
    fn labels_of_the_root_are_those_of_its_groups() {
        let mut posterior = Dataset::default();
        posterior.insert("t", Array::new([("chain", 1), ("draw", 1), ("i", 2)], Values::F64(vec![0.5, 1.5])));
        posterior.insert("loose", Array::new([("i", 2)], Values::F64(vec![0.5, 1.5])));
        posterior.coords.insert("i".into(), octopus_trace::Labels::Singles(vec![0.1, 0.7]));
        let mut data = InferenceData::default();
        data.attrs.insert("model".into(), "eight".into());
        data.insert("posterior", posterior);
        let dir = tempfile::tempdir().unwrap();
        let stores: [(&str, WriteTrace); 2] = [("2", write_zarr_v2), ("3", write_zarr)];
        for (version, write) in stores {
            let store = dir.path().join(version);
            write(&store, &data, false).unwrap();
            assert_eq!(read_zarr(&store).unwrap(), data, "{version}");
            for name in ["i", "loose"] {
                fs::rename(store.join("posterior").join(name), store.join(name)).unwrap();
            }
            let read = read_zarr(&store).unwrap();
            assert_eq!(read.attrs, data.attrs, "{version}");
            assert_eq!(read.groups["posterior"].coords["i"], data.groups["posterior"].coords["i"], "{version}");
            assert_eq!(read.groups["posterior"].element_name("t", 2, 1), "t[0.7]", "{version}");
            let note = read.notes.last().unwrap();
            assert!(note.ends_with("in no group such as `posterior`: loose"), "{version}: {note}");
        }
    }

    #[test]
    fn arrays_of_other_types_are_left_out_and_other_scales_refused() {
        let mut posterior = Dataset::default();
        posterior.insert("z", Array::new([("x", 2)], Values::F64(vec![0.5, 1.5])));
        posterior.insert("mu", Array::new([("x", 2)], Values::F64(vec![0.5, 1.5])));
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        let dir = tempfile::tempdir().unwrap();
        let stores: [(&str, WriteTrace, [&str; 2], Value); 2] = [
            ("2", write_zarr_v2, [v2::ARRAY_FILE, v2::ATTRIBUTES_FILE], json!("<c16")),
            ("3", write_zarr, [v3::FILE, v3::FILE], json!("complex128")),
        ];
        for (version, write, [of_array, of_attributes], name) in stores {
            let store = dir.path().join(version);
            write(&store, &data, false).unwrap();
            let field = if version == "2" { "dtype" } else { "data_type" };
            edited(&store.join("posterior/z").join(of_array), |array| array[field] = name.clone());
            let read = read_zarr(&store).unwrap();
            assert_eq!(read.groups["posterior"].variables.keys().collect::<Vec<_>>(), ["mu"], "{version}");
            let [note] = &read.notes[..] else { panic!("{:?}", read.notes) };
            assert!(note.ends_with(&format!("words only: posterior/z (type {name})")), "{note}");

            let attributes = store.join("posterior/mu").join(of_attributes);
            edited(&attributes, |node| {
                let attributes = if version == "2" { node } else { &mut node["attributes"] };
                attributes["most"] = json!(u64::MAX);
            });
            let read = read_zarr(&store).unwrap();
            let most = &read.groups["posterior"].variable_attrs["mu"]["most"];
            assert_eq!(*most, octopus_trace::Attribute::from("18446744073709551615"));
            assert!(read.notes[1].ends_with("the attribute most of posterior/mu"), "{:?}", read.notes);
            edited(&attributes, |node| {
                let attributes = if version == "2" { node } else { &mut node["attributes"] };
                attributes["scale_factor"] = json!("0.5");
            });
            let told = read_zarr(&store).unwrap_err().to_string();
            assert!(["posterior", "mu", "scale_factor", "`0.5`"].iter().all(|word| told.contains(word)), "{told}");
        }
    }

    #[test]
    fn stored_numbers_mean_what_their_attributes_say() {
        let mut posterior = Dataset::default();
        posterior.insert("n", Array::new([("x", 2)], Values::I64(vec![-9, 4])));
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        let dir = tempfile::tempdir().unwrap();
        let stores: [(&str, WriteTrace, &str); 2] =
            [("2", write_zarr_v2, v2::ATTRIBUTES_FILE), ("3", write_zarr, v3::FILE)];
        for (version, write, file) in stores {
            let store = dir.path().join(version);
            write(&store, &data, false).unwrap();
            edited(&store.join("posterior/n").join(file), |node| {
                let attributes = if version == "2" { node } else { &mut node["attributes"] };
                attributes["scale_factor"] = json!(0.5);
            });
            let read = read_zarr(&store).unwrap();
            assert_eq!(read.groups["posterior"].variables["n"].values, Values::F64(vec![-4.5, 2.0]), "{version}");
        }
    }

    /// An integer alone may be the fill value, and more of them of which nothing is there are unusual; a real number is.
    #[test]
    fn values_without_a_chunk_are_told_where_writers_leave_none_out() {
        let mut posterior = Dataset::default();
        let variables = [
            ("a_real", Values::F64(vec![0.5])),
            ("one", Values::I64(vec![7])),
            ("two", Values::I64(vec![7, 8])),
            ("none", Values::F64(vec![])),
        ];
        for (name, values) in variables {
            let axis = format!("{name}_dim_0");
            posterior.insert(name, Array::new([(axis.as_str(), values.len())], values));
        }
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("a.zarr");
        write_zarr(&store, &data, false).unwrap();
        // Arrays without names for their axes get the same.
        for name in ["a_real", "one", "two", "none"] {
            edited(&store.join("posterior").join(name).join(v3::FILE), |array| array["dimension_names"] = Value::Null);
        }
        assert_eq!(read_zarr(&store).unwrap(), data);
        for name in ["a_real", "one", "two"] {
            fs::remove_file(store.join("posterior").join(name).join("c/0")).unwrap();
        }
        let read = read_zarr(&store).unwrap();
        let [note] = &read.notes[..] else { panic!("{:?}", read.notes) };
        let told = "posterior/a_real (1 of 1 chunks, fill value \"NaN\"), posterior/two (1 of 1 chunks, fill value 0)";
        assert!(note.ends_with(&format!("fill value: {told}")), "{note}");
    }
}
