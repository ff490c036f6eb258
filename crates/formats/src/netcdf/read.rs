//! NetCDF to InferenceData: files of ArviZ, xarray, PyMC, and our own.
//!
//! Which types, attributes, and packed or masked values (`scale_factor`, `_FillValue`) are understood is decided here.

use super::tree;
use crate::FormatError;
use crate::checked::MAX_VARIABLE_BYTES;
use crate::labels::labels_of;
use hdf5_reader::Hdf5File;
use hdf5_reader::storage::{BytesStorage, DynStorage};
use netcdf_reader::{
    Error, NcAttrValue, NcFile, NcFormat, NcGroup, NcOpenOptions, NcReadable, NcType, NcValue, NcVariable,
};
use octopus_files::read_regular;
use octopus_trace::{Array, Attribute, Dataset, InferenceData, Values};
use std::path::Path;
use std::sync::Arc;

/// Reads every group of a NetCDF-4 file.
///
/// Integers of any width become [`Values::I64`], real numbers of any width [`Values::F64`], flags (int8
/// with the attribute `dtype = "bool"`, or h5py's enumeration) [`Values::Bool`]. Packed integers and those
/// with a fill value become real numbers, NaN where the value is missing, as in xarray. Labels that are
/// real numbers become words unless they are whole.
///
/// # Errors
/// When the file cannot be read, is not NetCDF, has no groups, or holds a variable of a type that a trace cannot have.
pub fn read_netcdf(path: &Path) -> Result<InferenceData, FormatError> {
    // Into memory first: a file cut short while it is mapped would kill the process.
    let bytes = read_regular(path).map_err(FormatError::io("read", path))?;
    let unreadable = |what: String| FormatError::Unreadable { path: path.to_owned(), what };
    let storage: DynStorage = Arc::new(BytesStorage::new(bytes));
    octopus_files::decode(|| decode(&storage, options(), &unreadable), unreadable)
}

/// How files are opened: no variable may take more memory than a trace's may.
fn options() -> NcOpenOptions {
    NcOpenOptions { max_read_bytes: MAX_VARIABLE_BYTES, ..NcOpenOptions::default() }
}

fn decode(
    storage: &DynStorage,
    options: NcOpenOptions,
    unreadable: &impl Fn(String) -> FormatError,
) -> Result<InferenceData, FormatError> {
    let file = NcFile::from_storage_with_options(storage.clone(), options)
        .map_err(|error| unreadable(format!("it is not a whole NetCDF file ({error})")))?;
    if matches!(file.format(), NcFormat::Nc4 | NcFormat::Nc4Classic) {
        let hdf5 = Hdf5File::from_storage(storage.clone()).map_err(|error| unreadable(error.to_string()))?;
        tree::check(&hdf5).map_err(unreadable)?;
    }
    let root = file.root_group().map_err(|error| unreadable(error.to_string()))?;
    if root.groups.is_empty() {
        return Err(unreadable("it has no groups such as `posterior`, so it is not ArviZ's InferenceData".into()));
    }
    let mut data = InferenceData::default();
    for group in &root.groups {
        let dataset = read_group(&file, group).map_err(|what| unreadable(format!("group {}: {what}", group.name)))?;
        data.insert(&group.name, dataset);
    }
    Ok(data)
}

fn read_group(file: &NcFile, group: &NcGroup) -> Result<Dataset, String> {
    let mut dataset = Dataset::default();
    for attribute in &group.attributes {
        dataset.attrs.insert(attribute.name.clone(), attribute_of(&attribute.value));
    }
    for variable in &group.variables {
        let path = format!("{}/{}", group.name, variable.name);
        let array = read_array(file, &path, variable).map_err(|what| format!("variable {}: {what}", variable.name))?;
        if array.dims.len() == 1 && array.dims[0] == variable.name {
            dataset.coords.insert(variable.name.clone(), labels_of(array.values));
        } else {
            dataset.variables.insert(variable.name.clone(), array);
        }
    }
    dataset.dimensions()?;
    Ok(dataset)
}

fn read_array(file: &NcFile, path: &str, variable: &NcVariable) -> Result<Array, String> {
    let mut dims: Vec<String> = variable.dimensions.iter().map(|dim| dim.name.clone()).collect();
    let mut shape = Vec::with_capacity(dims.len());
    for dim in &variable.dimensions {
        shape.push(usize::try_from(dim.size).map_err(|_| format!("dimension {} is too long", dim.name))?);
    }
    if variable.dtype == NcType::Char {
        // The last axis of an array of characters is the length of its words.
        dims.pop();
        shape.pop();
    }
    let values = read_values(file, path, variable)?;
    let expected = shape.iter().try_fold(1usize, |product, &len| product.checked_mul(len));
    if expected != Some(values.len()) {
        return Err(format!("it holds {} values where its shape is {shape:?}", values.len()));
    }
    Ok(Array { dims, shape, values })
}

fn read_values(file: &NcFile, path: &str, variable: &NcVariable) -> Result<Values, String> {
    fn integers<T: NcReadable + TryInto<i64>>(file: &NcFile, path: &str) -> Result<Values, Error> {
        let values = file.read_variable::<T>(path)?;
        let integers: Option<Vec<i64>> = values.into_iter().map(|value| value.try_into().ok()).collect();
        // Only unsigned integers beyond 2^63 do not fit.
        match integers {
            Some(integers) => Ok(Values::I64(integers)),
            None => file.read_variable_as_f64(path).map(reals),
        }
    }
    fn reals(values: impl IntoIterator<Item = f64>) -> Values {
        Values::F64(values.into_iter().collect())
    }
    let is_integer = matches!(
        variable.dtype,
        NcType::Byte
            | NcType::Short
            | NcType::Int
            | NcType::Int64
            | NcType::UByte
            | NcType::UShort
            | NcType::UInt
            | NcType::UInt64
    );
    let result = match &variable.dtype {
        NcType::Byte | NcType::UByte if is_bool(variable) => {
            let flags = file.read_variable_as_f64(path).map_err(|error| error.to_string())?;
            return Ok(Values::Bool(flags.into_iter().map(|flag| flag != 0.0).collect()));
        }
        NcType::Enum { members, .. } => {
            let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
            if names != ["FALSE", "TRUE"] {
                return Err(format!("its type is an enumeration of {names:?}"));
            }
            let values = file.read_variable_user_defined(path).map_err(|error| error.to_string())?;
            return Ok(Values::Bool(values.into_iter().map(|value| is_true(&value)).collect()));
        }
        NcType::String | NcType::Char => file.read_variable_as_strings(path).map(Values::Strings),
        NcType::Float | NcType::Double if is_packed_or_masked(variable) => {
            file.read_variable_unpacked_masked(path).map(reals)
        }
        NcType::Float | NcType::Double => file.read_variable_as_f64(path).map(reals),
        _ if is_integer && is_packed_or_masked(variable) => file.read_variable_unpacked_masked(path).map(reals),
        NcType::Byte => integers::<i8>(file, path),
        NcType::Short => integers::<i16>(file, path),
        NcType::Int => integers::<i32>(file, path),
        NcType::Int64 => integers::<i64>(file, path),
        NcType::UByte => integers::<u8>(file, path),
        NcType::UShort => integers::<u16>(file, path),
        NcType::UInt => integers::<u32>(file, path),
        NcType::UInt64 => integers::<u64>(file, path),
        other => return Err(format!("its type {other:?} has no place in a trace")),
    };
    result.map_err(|error| error.to_string())
}

fn is_bool(variable: &NcVariable) -> bool {
    variable.attribute("dtype").and_then(|attribute| attribute.value.as_string()).as_deref() == Some("bool")
}

fn is_true(value: &NcValue) -> bool {
    matches!(value, NcValue::Enum(flag) if flag.member.as_deref() == Some("TRUE"))
}

/// Returns whether the stored numbers need the attributes beside them to be understood. xarray marks every array of
/// real numbers with the fill value NaN, which changes nothing.
fn is_packed_or_masked(variable: &NcVariable) -> bool {
    let number = |name: &str| variable.attribute(name).and_then(|attribute| attribute.value.as_f64());
    let packed = ["scale_factor", "add_offset"].iter().any(|name| number(name).is_some());
    let masked = ["_FillValue", "missing_value"].iter().any(|name| number(name).is_some_and(|value| !value.is_nan()));
    packed || masked
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
            list(values, |value| i64::try_from(value).map_or(Attribute::F64(value as f64), Attribute::I64))
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
    fn a_variable_above_the_limit_is_refused() {
        let mut file = NcFileBuilder::new();
        let draw = file.add_dimension("draw", 4).unwrap();
        let variable = file.add_variable_path::<f64>("posterior/mu", &[draw]).unwrap();
        file.write_variable(variable, &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let bytes = file.to_vec(NcWriteOptions { format: NcWriteFormat::Nc4 }).unwrap().1;
        let storage: DynStorage = Arc::new(BytesStorage::new(bytes));
        let read = |most| {
            let options = NcOpenOptions { max_read_bytes: most, ..options() };
            let unreadable = |what: String| FormatError::Unreadable { path: "a.nc".into(), what };
            decode(&storage, options, &unreadable).map_err(|error| error.to_string())
        };
        assert!(read(32).is_ok());
        let told = read(31).unwrap_err();
        assert!(told.contains("variable mu"), "{told}");
        assert_eq!(options().max_read_bytes, MAX_VARIABLE_BYTES);
    }
}
