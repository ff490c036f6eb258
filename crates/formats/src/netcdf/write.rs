//! InferenceData to NetCDF-4: one HDF5 group for each group.
//!
//! Types, attributes, coordinates of labels and the level of compression (deflate) are decided here.

use crate::FormatError;
use crate::checked;
use crate::chunks::chunk_shape;
use crate::conventions::{WrittenVariable, written};
use crate::export::export_file;
use indexmap::IndexMap;
use netcdf_writer::{
    DimensionId, Error, NcAttrValue, NcFileBuilder, NcWriteFormat, NcWriteOptions, NcWriteType, VariableId,
};
use octopus_trace::{Attribute, Dataset, InferenceData, Values, shown};
use std::io;
use std::path::Path;

/// Deflate: higher levels take far longer and gain less than 1% on draws.
const DEFLATE_LEVEL: u8 = 1;

/// What an attribute may have, in bytes, where it is stored with the object that it belongs to: 64 KiB less its name and its
/// type.
const LONGEST_ATTRIBUTE: usize = 64_000;

/// Writes `data` as NetCDF-4 that `arviz.from_netcdf` opens: coordinate variables for labels, flags as
/// xarray stores them (int8 with the attribute `dtype = "bool"`), deflated with shuffled bytes. A group with
/// nothing in it is left out, and so, with a note, are a variable with a dimension of length 0 and an attribute that is a
/// list of more than 64 KiB. Dates and durations are written as xarray does.
///
/// # Errors
/// When `path` exists and `overwrite` is false, when a group contradicts itself, or when the file cannot
/// be written; then nothing is left at `path` that was not there before.
pub fn write_netcdf(path: &Path, data: &InferenceData, overwrite: bool) -> Result<(), FormatError> {
    let mut file = NcFileBuilder::new();
    for (name, value) in stored_attributes("", &data.attrs) {
        let invalid = |error: Error| FormatError::Encode { path: path.to_owned(), what: error.to_string() };
        file.add_attribute(name, value).map_err(invalid)?;
    }
    for (name, dataset) in &data.groups {
        let sizes = checked::dimensions(name, dataset)?;
        let invalid = |what: String| FormatError::Invalid { group: name.clone(), what };
        add_group(&mut file, name, dataset, &sizes).map_err(invalid)?;
    }
    let options = NcWriteOptions { format: NcWriteFormat::Nc4 };
    export_file(path, overwrite, &mut |writer| match file.write(writer, options) {
        Ok(_) => Ok(()),
        Err(Error::Io(error)) => Err(error),
        Err(other) => Err(io::Error::other(other)),
    })
}

fn add_group(
    file: &mut NcFileBuilder,
    group: &str,
    dataset: &Dataset,
    sizes: &IndexMap<&str, usize>,
) -> Result<(), String> {
    let text = |error: Error| error.to_string();
    let (attrs, variables) = written(dataset);
    for (name, value) in stored_attributes(group, &attrs) {
        file.add_group_attribute(group, name, value).map_err(text)?;
    }
    let mut dims: IndexMap<&str, DimensionId> = IndexMap::new();
    for (&dim, &len) in sizes.iter().filter(|(_, len)| **len > 0) {
        dims.insert(dim, file.add_dimension_path(format!("{group}/{dim}"), len as u64).map_err(text)?);
    }
    let mut empty = Vec::new();
    for variable in &variables {
        let WrittenVariable { name, array, .. } = variable;
        let own: Option<Vec<DimensionId>> = array.dims.iter().map(|dim| dims.get(dim.as_str()).copied()).collect();
        let Some(own) = own else {
            empty.push(shown(name));
            continue;
        };
        add_variable(file, format!("{group}/{name}"), &own, variable)
            .map_err(|error| format!("variable {}: {error}", shown(name)))?;
    }
    if !empty.is_empty() {
        let (group, names) = (shown(group), empty.join(", "));
        tracing::warn!("group {group}: left out, since they have no values, which NetCDF cannot hold: {names}");
    }
    Ok(())
}

fn add_variable(
    file: &mut NcFileBuilder,
    path: String,
    dims: &[DimensionId],
    WrittenVariable { array, single, attrs, .. }: &WrittenVariable<'_>,
) -> Result<(), netcdf_writer::Error> {
    let attrs = stored_attributes(&path, attrs);
    let variable = match &array.values {
        Values::F64(values) if *single => {
            let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            add_numbers(file, path, dims, &array.shape, &values)?
        }
        Values::F64(values) => add_numbers(file, path, dims, &array.shape, values)?,
        Values::I64(values) => add_numbers(file, path, dims, &array.shape, values)?,
        Values::Bool(values) => {
            let bytes: Vec<i8> = values.iter().map(|&flag| i8::from(flag)).collect();
            let variable = add_numbers(file, path, dims, &array.shape, &bytes)?;
            file.add_variable_attribute(variable, "dtype", NcAttrValue::Chars("bool".into()))?;
            variable
        }
        Values::Strings(values) => {
            let variable = file.add_string_variable_path(path, dims)?;
            file.write_string_variable(variable, values)?;
            variable
        }
    };
    let is_flags = matches!(array.values, Values::Bool(_));
    for (name, value) in attrs.into_iter().filter(|(name, _)| !(is_flags && *name == "dtype")) {
        file.add_variable_attribute(variable, name, value)?;
    }
    Ok(())
}

fn add_numbers<T: NcWriteType>(
    file: &mut NcFileBuilder,
    path: String,
    dims: &[DimensionId],
    shape: &[usize],
    values: &[T],
) -> Result<VariableId, netcdf_writer::Error> {
    let variable = file.add_variable_path::<T>(path, dims)?;
    if !shape.is_empty() {
        let chunk: Vec<u64> = chunk_shape(shape).into_iter().map(|len| len as u64).collect();
        file.set_variable_chunking(variable, chunk)?;
        file.set_variable_deflate(variable, Some(DEFLATE_LEVEL), size_of::<T>() > 1)?;
    }
    file.write_variable(variable, values)?;
    Ok(variable)
}

/// Returns attributes as they are stored, without those that are too long, of which a warning tells; `place` is the path
/// of what has them.
fn stored_attributes<'a>(place: &str, attrs: &'a IndexMap<String, Attribute>) -> Vec<(&'a str, NcAttrValue)> {
    let stored = attrs.iter().map(|(name, attribute)| (name.as_str(), attribute_value(attribute)));
    let (kept, long): (Vec<_>, Vec<_>) = stored.partition(|(_, value)| stored_bytes(value) <= LONGEST_ATTRIBUTE);
    for (name, _) in long {
        let place = if place.is_empty() { "the file" } else { place };
        let (name, place) = (shown(name), shown(place));
        tracing::warn!("the attribute {name} of {place} is left out, since NetCDF holds no list of more than 64 KiB");
    }
    kept
}

/// Returns the bytes that an attribute has beside the object that it belongs to. Texts of the string type are stored
/// elsewhere: each has an address there.
fn stored_bytes(value: &NcAttrValue) -> usize {
    match value {
        NcAttrValue::Chars(text) => text.len(),
        NcAttrValue::Strings(texts) => 16 * texts.len(),
        NcAttrValue::Int64s(values) => 8 * values.len(),
        NcAttrValue::Doubles(values) => 8 * values.len(),
        // What is not made here.
        _ => 0,
    }
}

fn attribute_value(attribute: &Attribute) -> NcAttrValue {
    match attribute {
        // Plain characters are read as text everywhere; other alphabets need the string type, which says UTF-8. So do long
        // texts, for which there is no room beside what they belong to.
        Attribute::Text(text) if text.is_ascii() && text.len() <= LONGEST_ATTRIBUTE => NcAttrValue::Chars(text.clone()),
        Attribute::Text(text) => NcAttrValue::Strings(vec![text.clone()]),
        Attribute::F64(value) => NcAttrValue::Doubles(vec![*value]),
        Attribute::I64(value) => NcAttrValue::Int64s(vec![*value]),
        Attribute::List(items) => {
            let integers: Option<Vec<i64>> =
                items.iter().map(|item| if let Attribute::I64(value) = item { Some(*value) } else { None }).collect();
            let reals: Option<Vec<f64>> = items
                .iter()
                .map(|item| match item {
                    Attribute::F64(value) => Some(*value),
                    Attribute::I64(value) => Some(*value as f64),
                    _ => None,
                })
                .collect();
            match (integers, reals) {
                (Some(integers), _) => NcAttrValue::Int64s(integers),
                (None, Some(reals)) => NcAttrValue::Doubles(reals),
                (None, None) => NcAttrValue::Strings(items.iter().map(attribute_text).collect()),
            }
        }
    }
}

fn attribute_text(attribute: &Attribute) -> String {
    match attribute {
        Attribute::Text(text) => text.clone(),
        Attribute::F64(value) => value.to_string(),
        Attribute::I64(value) => value.to_string(),
        Attribute::List(items) => items.iter().map(attribute_text).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdf5_reader::filters::{FILTER_DEFLATE, FILTER_SHUFFLE, FilterRegistry};
    use hdf5_reader::{Hdf5File, OpenOptions};
    use octopus_trace::Array;

    #[test]
    fn words_of_plain_characters_are_text_everywhere() {
        assert_eq!(attribute_value(&"oslo".into()), NcAttrValue::Chars("oslo".into()));
        assert_eq!(attribute_value(&"são".into()), NcAttrValue::Strings(vec!["são".into()]));
        let plain = |len: usize| matches!(attribute_value(&Attribute::Text("x".repeat(len))), NcAttrValue::Chars(_));
        assert!(plain(64_000) && !plain(64_001));
    }

    /// HDF5 has texts of the string type elsewhere, and 16 bytes for each beside what they belong to.
    #[test]
    fn lists_have_eight_or_sixteen_bytes_for_each_item() {
        let bytes = |item: Attribute| stored_bytes(&attribute_value(&Attribute::List(vec![item; 3])));
        assert_eq!([bytes(Attribute::I64(1)), bytes(Attribute::F64(0.5)), bytes(Attribute::from("são"))], [24, 24, 48]);
        assert_eq!(stored_bytes(&NcAttrValue::Chars("oslo".into())), 4);
    }

    /// A reader that cannot undo the shuffle reads flags, and nothing else.
    #[test]
    fn bytes_are_shuffled_where_a_value_has_several() {
        let mut posterior = Dataset::default();
        posterior.insert("real", Array::new([("x", 2)], Values::F64(vec![0.5, 1.5])));
        posterior.insert("count", Array::new([("x", 2)], Values::I64(vec![1, 2])));
        posterior.insert("flag", Array::new([("x", 2)], Values::Bool(vec![true, false])));
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc");
        write_netcdf(&path, &data, false).unwrap();
        let mut filters = FilterRegistry::new();
        let refuse = |id: u16| hdf5_reader::error::Error::UnsupportedFilter(format!("filter {id}"));
        filters.register(FILTER_SHUFFLE, Box::new(move |filter, _, _| Err(refuse(filter.id))));
        let options = OpenOptions::default().with_filter_registry(filters);
        let file = Hdf5File::from_vec_with_options(std::fs::read(&path).unwrap(), options).unwrap();
        for (name, is_shuffled) in [("real", true), ("count", true), ("flag", false)] {
            let read = file.dataset(&format!("posterior/{name}")).unwrap().read_raw_bytes();
            assert_eq!(read.is_err(), is_shuffled, "{name}");
        }
        // Deflated at the first level.
        let mut filters = FilterRegistry::new();
        let tell = |level: &[u32]| hdf5_reader::error::Error::UnsupportedFilter(format!("level {level:?}"));
        filters.register(FILTER_DEFLATE, Box::new(move |filter, _, _| Err(tell(&filter.client_data))));
        let options = OpenOptions::default().with_filter_registry(filters);
        let file = Hdf5File::from_vec_with_options(std::fs::read(&path).unwrap(), options).unwrap();
        let told = file.dataset("posterior/flag").unwrap().read_raw_bytes().unwrap_err().to_string();
        assert!(told.contains("level [1]"), "{told}");
    }

    #[test]
    fn a_list_has_the_type_that_holds_all_its_items() {
        let written = |items: &[Attribute]| attribute_value(&Attribute::List(items.to_vec()));
        let (one, half, word) = (Attribute::I64(1), Attribute::F64(0.5), Attribute::from("a"));
        assert_eq!(written(&[one.clone(), one.clone()]), NcAttrValue::Int64s(vec![1, 1]));
        assert_eq!(written(&[one.clone(), half.clone()]), NcAttrValue::Doubles(vec![1.0, 0.5]));
        let list = Attribute::List(vec![one.clone(), half.clone()]);
        let texts = ["1", "0.5", "a", "1 0.5"].map(str::to_owned).to_vec();
        assert_eq!(written(&[one, half, word, list]), NcAttrValue::Strings(texts));
    }
}
