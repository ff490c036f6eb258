//! NetCDF to InferenceData: files of ArviZ, xarray, PyMC, and our own.
//!
//! Which types are understood, and how much memory a file may claim, is decided here.

use super::filters::{self, ChunkLimit};
use super::tree;
use super::values::{OpenFile, memory_of};
use crate::FormatError;
use crate::checked::{ALLOWANCE, Budget, MAX_VARIABLE_BYTES};
use crate::conventions::{Packing, Remarks, StorageType, StoredVariable, inherit_labels, read_group};
use hdf5_reader::Hdf5File;
use hdf5_reader::storage::{DynStorage, FileStorage};
use indexmap::IndexMap;
use netcdf_reader::{NcAttrValue, NcAttribute, NcEnumMember, NcFile, NcFormat, NcOpenOptions, NcType, NcVariable};
use octopus_files::open_regular;
use octopus_trace::{Array, Attribute, Dataset, InferenceData, shown};
use std::path::Path;
use std::sync::Arc;

/// What a byte of a file can unpack to: the most of deflate.
const EXPANSION: usize = 1032;

/// Reads every group of a NetCDF-4 file.
///
/// Integers of any width become [`Values::I64`](octopus_trace::Values::I64), real numbers of any width [`Values::F64`](octopus_trace::Values::F64), flags (int8
/// with the attribute `dtype = "bool"`, or h5py's enumeration) [`Values::Bool`](octopus_trace::Values::Bool). Packed integers, and those of which one
/// is missing, become real numbers, NaN where the value is missing, as in xarray. Axes may have any order in the file:
/// here chains and draws come first. What the attribute `coordinates` names is a coordinate, labels are dates or
/// durations where xarray takes them for such, and other attributes of variables are kept. Labels of the root are those
/// of every group with such a dimension.
///
/// [Notes](InferenceData::notes) tell which variables are left out, since a trace has no place for their type or they are
/// in no group, and which integers are kept as text.
///
/// # Errors
/// When the file cannot be read, is not NetCDF, has no groups, or claims more memory than it can fill or than there is;
/// when a variable has a scale that is no number.
pub fn read_netcdf(path: &Path) -> Result<InferenceData, FormatError> {
    let unreadable = |what: String| FormatError::Unreadable { path: path.to_owned(), what };
    // Part by part, by the threads that unpack them. Not mapped: a file cut short meanwhile would kill the process.
    let file = open_regular(path).map_err(FormatError::io("read", path))?;
    let storage: DynStorage = Arc::new(FileStorage::from_file(file).map_err(|error| unreadable(error.to_string()))?);
    let len = usize::try_from(storage.len()).unwrap_or(usize::MAX);
    let options = options(len);
    let budget = Budget::new(len, EXPANSION, options.max_read_bytes);
    let mut remarks = Remarks::default();
    let read = octopus_files::decode(|| decode(&storage, options, budget, &mut remarks, &unreadable), unreadable);
    read.map(|data| InferenceData { notes: remarks.into_notes(path), ..data })
}

/// How a file of so many bytes is opened: no variable may take more memory than they, and a trace's variable, may.
fn options(bytes: usize) -> NcOpenOptions {
    let most = bytes.saturating_mul(EXPANSION).saturating_add(ALLOWANCE).min(MAX_VARIABLE_BYTES);
    let usual = NcOpenOptions::default();
    NcOpenOptions {
        max_read_bytes: most,
        max_chunk_bytes: most.min(usual.max_chunk_bytes),
        // Each chunk is read once.
        chunk_cache_bytes: 0,
        ..usual
    }
}

fn decode(
    storage: &DynStorage,
    options: NcOpenOptions,
    mut budget: Budget,
    remarks: &mut Remarks,
    unreadable: &impl Fn(String) -> FormatError,
) -> Result<InferenceData, FormatError> {
    let limit = ChunkLimit::new(options.max_chunk_bytes);
    let options = NcOpenOptions { filter_registry: Some(filters::registry(&limit)), ..options };
    let file = NcFile::from_storage_with_options(storage.clone(), options)
        .map_err(|error| unreadable(format!("it is not a whole NetCDF file ({error})")))?;
    let mut hdf5 = None;
    if matches!(file.format(), NcFormat::Nc4 | NcFormat::Nc4Classic) {
        let file = Hdf5File::from_storage(storage.clone()).map_err(|error| unreadable(error.to_string()))?;
        tree::check(&file).map_err(unreadable)?;
        hdf5 = Some(file);
    }
    let file = OpenFile::new(file, hdf5, limit);
    let root = file.file.root_group().map_err(|error| unreadable(error.to_string()))?;
    if root.groups.is_empty() {
        return Err(unreadable("it has no groups such as `posterior`, so it is not ArviZ's InferenceData".into()));
    }
    let (labels, others): (Vec<&NcVariable>, Vec<&NcVariable>) =
        root.variables.iter().partition(|variable| is_labels(variable));
    others.into_iter().for_each(|variable| remarks.outside(&variable.name));
    let shared = stored_group(&file, ("", &root.attributes), labels, &mut budget, remarks).map_err(unreadable)?;
    let mut data = InferenceData { attrs: shared.attrs.clone(), ..InferenceData::default() };
    for group in &root.groups {
        let named = (group.name.as_str(), group.attributes.as_slice());
        let mut dataset = stored_group(&file, named, &group.variables, &mut budget, remarks)
            .map_err(|what| unreadable(format!("group {}: {what}", shown(&group.name))))?;
        inherit_labels(&mut dataset, &shared);
        data.insert(&group.name, dataset);
    }
    Ok(data)
}

/// Whether a variable has the labels of a dimension; words of characters have their length as an axis more.
fn is_labels(variable: &NcVariable) -> bool {
    let axes = if variable.dtype == NcType::Char { 2 } else { 1 };
    variable.dimensions.len() == axes && variable.dimensions[0].name == variable.name
}

/// Reads these variables of a group, given as its name, which is empty at the root, and its attributes.
fn stored_group<'a>(
    file: &OpenFile,
    (group, attributes): (&str, &[NcAttribute]),
    variables: impl IntoIterator<Item = &'a NcVariable>,
    budget: &mut Budget,
    remarks: &mut Remarks,
) -> Result<Dataset, String> {
    let mut stored = Vec::new();
    for variable in variables {
        if let Some(what) = other_type(&variable.dtype) {
            remarks.of_other_type(group, &variable.name, &what);
            continue;
        }
        let path = if group.is_empty() { variable.name.clone() } else { format!("{group}/{}", variable.name) };
        let read = stored_variable(file, &path, variable, budget)
            .map_err(|what| format!("variable {}: {what}", shown(&variable.name)))?;
        for name in names_of_digits(&variable.attributes).filter(|name| read.attrs.contains_key(*name)) {
            remarks.attribute_as_text(group, &variable.name, name);
        }
        stored.push(read);
    }
    names_of_digits(attributes).for_each(|name| remarks.attribute_as_text(group, "", name));
    read_group(group, attributes_of(attributes), stored, remarks)
}

fn stored_variable(
    file: &OpenFile,
    path: &str,
    variable: &NcVariable,
    budget: &mut Budget,
) -> Result<StoredVariable, String> {
    let mut dims: Vec<String> = variable.dimensions.iter().map(|dim| dim.name.clone()).collect();
    let mut shape = Vec::with_capacity(dims.len());
    for dim in &variable.dimensions {
        shape.push(usize::try_from(dim.size).map_err(|_| format!("dimension {} is too long", dim.name))?);
    }
    let in_file = variable.dtype.size().map_err(|error| error.to_string())?;
    let axes = dims.iter().map(String::as_str).zip(shape.iter().copied());
    budget.take(axes, in_file, memory_of(&variable.dtype))?;
    if variable.dtype == NcType::Char {
        // The last axis of an array of characters is the length of its words.
        dims.pop();
        shape.pop();
    }
    let values = file.values(path, &variable.dtype)?;
    let expected = shape.iter().try_fold(1usize, |product, &len| product.checked_mul(len));
    if expected != Some(values.len()) {
        return Err(format!("it holds {} values where its shape is {shape:?}", values.len()));
    }
    let mut attrs = attributes_of(&variable.attributes);
    if variable.dtype == NcType::Char {
        attrs.shift_remove("_Encoding");
    }
    let packing = Packing::take(&mut attrs)?;
    let array = Array { dims, shape, values };
    Ok(StoredVariable { name: variable.name.clone(), array, storage: storage_of(&variable.dtype), attrs, packing })
}

/// Returns what a type is in words for which a trace has no place; `None` for numbers, flags and words.
fn other_type(dtype: &NcType) -> Option<String> {
    let names = |names: Vec<&str>| names.into_iter().map(shown).collect::<Vec<_>>().join(", ");
    Some(match dtype {
        NcType::Enum { members, .. } if is_flags(members) => return None,
        NcType::Enum { members, .. } => {
            format!("an enumeration of {}", names(members.iter().map(|member| member.name.as_str()).collect()))
        }
        NcType::Compound { fields, .. } => {
            let fields: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            match fields.as_slice() {
                // As h5netcdf and netcdf4-python call the parts.
                ["r", "i"] | ["_r", "_i"] | ["real", "imag"] => "complex numbers".to_owned(),
                _ => format!("records of {}", names(fields)),
            }
        }
        NcType::Opaque { .. } => "bytes".to_owned(),
        NcType::Array { .. } => "arrays".to_owned(),
        NcType::VLen { .. } => "lists of any length".to_owned(),
        _ => return None,
    })
}

/// Whether an enumeration is h5py's of flags.
fn is_flags(members: &[NcEnumMember]) -> bool {
    members.iter().map(|member| member.name.as_str()).eq(["FALSE", "TRUE"])
}

fn storage_of(dtype: &NcType) -> StorageType {
    let integer = |bits: u32, signed: bool| StorageType::Integer { bits, signed };
    match dtype {
        NcType::Float => StorageType::Real { single: true },
        NcType::Double => StorageType::Real { single: false },
        NcType::Byte => integer(8, true),
        NcType::Short => integer(16, true),
        NcType::Int => integer(32, true),
        NcType::Int64 => integer(64, true),
        NcType::UByte => integer(8, false),
        NcType::UShort => integer(16, false),
        NcType::UInt => integer(32, false),
        NcType::UInt64 => integer(64, false),
        _ => StorageType::Other,
    }
}

fn attributes_of(attributes: &[NcAttribute]) -> IndexMap<String, Attribute> {
    attributes.iter().map(|attribute| (attribute.name.clone(), attribute_of(&attribute.value))).collect()
}

/// Returns the names of the attributes with integers that only text can hold.
fn names_of_digits(attributes: &[NcAttribute]) -> impl Iterator<Item = &str> {
    let is_beyond = |value: &u64| i64::try_from(*value).is_err();
    let has_digits = move |attribute: &&NcAttribute| match &attribute.value {
        NcAttrValue::UInt64s(values) => values.iter().any(is_beyond),
        _ => false,
    };
    attributes.iter().filter(has_digits).map(|attribute| attribute.name.as_str())
}

fn attribute_of(value: &NcAttrValue) -> Attribute {
    fn list<T: Copy>(values: &[T], make: impl Fn(T) -> Attribute) -> Attribute {
        match values {
            [value] => make(*value),
            values => Attribute::List(values.iter().map(|&value| make(value)).collect()),
        }
    }
    match value {
        NcAttrValue::Chars(text) => Attribute::Text(text.clone()),
        NcAttrValue::Strings(texts) => match texts.as_slice() {
            [text] => Attribute::Text(text.clone()),
            texts => Attribute::List(texts.iter().cloned().map(Attribute::Text).collect()),
        },
        NcAttrValue::Bytes(values) => list(values, |value| Attribute::I64(value.into())),
        NcAttrValue::Shorts(values) => list(values, |value| Attribute::I64(value.into())),
        NcAttrValue::Ints(values) => list(values, |value| Attribute::I64(value.into())),
        NcAttrValue::Int64s(values) => list(values, Attribute::I64),
        NcAttrValue::UBytes(values) => list(values, |value| Attribute::I64(value.into())),
        NcAttrValue::UShorts(values) => list(values, |value| Attribute::I64(value.into())),
        NcAttrValue::UInts(values) => list(values, |value| Attribute::I64(value.into())),
        NcAttrValue::UInt64s(values) => {
            list(values, |value| i64::try_from(value).map_or_else(|_| value.to_string().into(), Attribute::I64))
        }
        NcAttrValue::Floats(values) => list(values, |value| Attribute::F64(value.into())),
        NcAttrValue::Doubles(values) => list(values, Attribute::F64),
        NcAttrValue::UserDefined { values, .. } => Attribute::Text(format!("{values:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netcdf_writer::{NcFileBuilder, NcWriteFormat, NcWriteOptions};

    #[test]
    fn types_without_a_place_are_told_in_words() {
        use netcdf_reader::NcCompoundField;
        let compound = |names: &[&str]| {
            let field = |(at, &name): (usize, &&str)| NcCompoundField {
                name: name.into(),
                offset: at as u64,
                dtype: NcType::Byte,
            };
            NcType::Compound { size: 2, fields: names.iter().enumerate().map(field).collect() }
        };
        for (dtype, words) in [
            (compound(&["r", "i"]), "complex numbers"),
            (compound(&["a", "b\u{1b}"]), r"records of a, b\u{1b}"),
            (NcType::Opaque { size: 2, tag: String::new() }, "bytes"),
            (NcType::Array { base: Box::new(NcType::Byte), dims: vec![2] }, "arrays"),
            (NcType::VLen { base: Box::new(NcType::Byte) }, "lists of any length"),
        ] {
            assert_eq!(other_type(&dtype).as_deref(), Some(words));
        }
        assert_eq!(other_type(&NcType::Double), None);
    }

    #[test]
    fn a_variable_above_the_limit_is_refused() {
        let mut file = NcFileBuilder::new();
        let draw = file.add_dimension("draw", 4).unwrap();
        let variable = file.add_variable_path::<f64>("posterior/mu", &[draw]).unwrap();
        file.write_variable(variable, &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let bytes = file.to_vec(NcWriteOptions { format: NcWriteFormat::Nc4 }).unwrap().1;
        let storage: DynStorage = Arc::new(hdf5_reader::storage::BytesStorage::new(bytes));
        let read = |most| {
            let options = NcOpenOptions { max_read_bytes: most, ..options(0) };
            let unreadable = |what: String| FormatError::Unreadable { path: "a.nc".into(), what };
            let budget = Budget::new(0, 0, usize::MAX);
            decode(&storage, options, budget, &mut Remarks::default(), &unreadable).map_err(|error| error.to_string())
        };
        assert!(read(32).is_ok());
        let told = read(31).unwrap_err();
        assert!(told.contains("variable mu"), "{told}");
        // 64 MiB, for each byte the most that deflate packs into one, and 8 GiB in all.
        assert_eq!(options(0).max_read_bytes, 64 << 20);
        assert_eq!(options(10).max_read_bytes, (64 << 20) + 10 * 1032);
        assert_eq!(options(usize::MAX).max_read_bytes, 8 << 30);
        assert_eq!(options(0).max_chunk_bytes, 64 << 20);
    }

    #[test]
    fn types_have_their_width_and_sign() {
        let integer = |bits, signed| StorageType::Integer { bits, signed };
        for (dtype, storage) in [
            (NcType::Float, StorageType::Real { single: true }),
            (NcType::Double, StorageType::Real { single: false }),
            (NcType::Byte, integer(8, true)),
            (NcType::Short, integer(16, true)),
            (NcType::Int, integer(32, true)),
            (NcType::Int64, integer(64, true)),
            (NcType::UByte, integer(8, false)),
            (NcType::UShort, integer(16, false)),
            (NcType::UInt, integer(32, false)),
            (NcType::UInt64, integer(64, false)),
            (NcType::String, StorageType::Other),
        ] {
            assert_eq!(storage_of(&dtype), storage, "{dtype:?}");
        }
    }

    #[test]
    fn labels_of_characters_have_an_axis_more() {
        let is_labels = |dtype: NcType, dims: &[&str]| {
            let dimension =
                |&name: &&str| netcdf_reader::NcDimension { name: name.into(), size: 2, is_unlimited: false };
            is_labels(&NcVariable {
                name: "k".into(),
                dimensions: dims.iter().map(dimension).collect(),
                dtype,
                attributes: Vec::new(),
                data_offset: 0,
                _data_size: 0,
                is_record_var: false,
                record_size: 0,
            })
        };
        assert!(is_labels(NcType::Double, &["k"]) && is_labels(NcType::Char, &["k", "length"]));
        for dims in [&[][..], &["x"], &["k", "x"], &["x", "k"]] {
            assert!(!is_labels(NcType::Double, dims), "{dims:?}");
        }
        for dims in [&[][..], &["k"], &["x", "k"], &["k", "x", "length"], &["k", "x", "y", "length"]] {
            assert!(!is_labels(NcType::Char, dims), "{dims:?}");
        }
    }
}
