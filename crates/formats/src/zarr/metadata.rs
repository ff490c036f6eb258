//! The metadata of an array or a group (`.zarray`, `.zattrs`, `zarr.json`), in one form for both versions.
//!
//! They are shape, chunks, type, fill value, names of dimensions, and attributes.

use super::codec::Pipeline;
use super::dtype::{DataType, Kind, real};
use super::{v2, v3};
use crate::FormatError;
use crate::conventions::Packing;
use crate::json::{attributes_from_json, names_of_digits};
use indexmap::IndexMap;
use octopus_files::read_regular;
use octopus_trace::Attribute;
use serde_json::{Map, Value};
use std::path::Path;

/// An array, before its chunks are read.
#[derive(Debug)]
pub(super) struct ArrayMetadata {
    pub shape: Vec<usize>,
    pub chunk: Vec<usize>,
    pub data_type: DataType,
    pub pipeline: Pipeline,
    /// The value of elements that are in no chunk.
    pub fill: Value,
    /// The axes' names, if the writer gave them.
    pub dims: Option<Vec<String>>,
    /// The text before the index of a chunk in its key, and the text between the index's numbers.
    pub prefix: &'static str,
    pub separator: &'static str,
    /// What the attributes, and in version 2 the fill value, say of stored numbers.
    pub packing: Packing,
    /// The other attributes.
    pub attrs: IndexMap<String, Attribute>,
    /// The names of those whose integers are kept as text.
    pub as_text: Vec<String>,
}

/// Why a trace does not get an array.
#[derive(Debug)]
pub(super) enum NoArray {
    /// Its type has no place in a trace; the type as the metadata name it.
    Type(String),
    /// The metadata are damaged, or need what this program has not; a sentence says so.
    Damaged(String),
}

impl From<String> for NoArray {
    fn from(what: String) -> Self {
        Self::Damaged(what)
    }
}

impl From<&str> for NoArray {
    fn from(what: &str) -> Self {
        Self::Damaged(what.to_owned())
    }
}

/// Reads `folder` as an array; `None` if it is none, and the name of its type if a trace has no place for that.
pub(super) fn array(folder: &Path) -> Result<Option<Result<ArrayMetadata, String>>, FormatError> {
    let (path, parsed) = if let Some(array) = file(&folder.join(v2::ARRAY_FILE))? {
        let attributes = file(&folder.join(v2::ATTRIBUTES_FILE))?.unwrap_or_default();
        (folder.join(v2::ARRAY_FILE), version_2(&array, &attributes))
    } else {
        match file(&folder.join(v3::FILE))? {
            Some(node) if node["node_type"] == "array" => (folder.join(v3::FILE), version_3(&node)),
            _ => return Ok(None),
        }
    };
    match parsed {
        Ok(array) => Ok(Some(Ok(array))),
        Err(NoArray::Type(name)) => Ok(Some(Err(name))),
        Err(NoArray::Damaged(what)) => Err(FormatError::Unreadable { path, what }),
    }
}

/// Returns the attributes of the group in `folder`; `None` if it holds none.
pub(super) fn group(folder: &Path) -> Result<Option<Map<String, Value>>, FormatError> {
    let of = |value: Value| if let Value::Object(attributes) = value { attributes } else { Map::new() };
    if file(&folder.join(v2::GROUP_FILE))?.is_some() {
        return Ok(Some(of(file(&folder.join(v2::ATTRIBUTES_FILE))?.unwrap_or_default())));
    }
    let node = file(&folder.join(v3::FILE))?.filter(|node| node["node_type"] == "group");
    Ok(node.map(|mut node| of(node["attributes"].take())))
}

/// Returns the names of the arrays and groups that the consolidated metadata in `folder` name; none where there are none.
pub(super) fn consolidated(folder: &Path) -> Result<Vec<String>, FormatError> {
    let mut names = Vec::new();
    let mut add = |nodes: &Value, end: &dyn Fn(&str) -> Option<String>| {
        let nodes = nodes.as_object().into_iter().flat_map(Map::keys);
        names.extend(nodes.filter_map(|name| end(name)).filter(|name| !name.is_empty()));
    };
    if let Some(all) = file(&folder.join(v2::CONSOLIDATED_FILE))? {
        for end in [v2::ARRAY_FILE, v2::GROUP_FILE] {
            add(&all["metadata"], &|name| Some(name.strip_suffix(end)?.trim_end_matches('/').to_owned()));
        }
    }
    if let Some(node) = file(&folder.join(v3::FILE))? {
        add(&node["consolidated_metadata"]["metadata"], &|name| Some(name.to_owned()));
    }
    Ok(names)
}

/// Returns a file of JSON; `None` if it is not there.
fn file(path: &Path) -> Result<Option<Value>, FormatError> {
    let text = match read_regular(path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(FormatError::io("read", path)(error)),
    };
    let parsed = serde_json::from_slice(&text).or_else(|error| {
        let text = String::from_utf8(text).map_err(|_| error)?;
        serde_json::from_str(&without_python_numbers(&text))
    });
    let what = |error: serde_json::Error| format!("it is not JSON ({error}): copy the store again");
    parsed.map(Some).map_err(|error| FormatError::Unreadable { path: path.to_owned(), what: what(error) })
}

/// Python writes NaN and Infinity as bare words, which JSON has not: they become strings.
fn without_python_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Every second part is inside quotation marks, since an escaped one begins no part.
    for (at, part) in text.replace("\\\\", "\u{1}").replace("\\\"", "\u{2}").split('"').enumerate() {
        if at > 0 {
            out.push('"');
        }
        if at % 2 == 1 {
            out.push_str(part);
        } else {
            let marked = part.replace("-Infinity", "\u{3}").replace("Infinity", "\"Infinity\"");
            out.push_str(&marked.replace('\u{3}', "\"-Infinity\"").replace("NaN", "\"NaN\""));
        }
    }
    out.replace('\u{2}', "\\\"").replace('\u{1}', "\\\\")
}

fn version_2(array: &Value, attributes: &Value) -> Result<ArrayMetadata, NoArray> {
    let shape = lengths(&array["shape"]).ok_or("it has no shape")?;
    let data_type = DataType::of_numpy(&array["dtype"]).map_err(NoArray::Type)?;
    let fill = &array["fill_value"];
    let dims = names(&attributes[v2::DIMENSIONS]);
    let Understood { mut attrs, mut packing, as_text } = Understood::of(attributes, data_type)?;
    attrs.shift_remove(v2::DIMENSIONS);
    // xarray keeps the value that marks missing ones here, and takes whatever is here for it.
    if matches!(data_type.kind, Kind::Float | Kind::Integer | Kind::Unsigned) && data_type.time.is_none() {
        let whole = fill.as_i64().map(Attribute::I64);
        let beyond = fill.as_u64().map(|fill| Attribute::Text(fill.to_string()));
        whole.or(beyond).or(real(fill).map(Attribute::F64)).iter().for_each(|fill| packing.add_missing(fill));
    }
    Ok(ArrayMetadata {
        chunk: lengths(&array["chunks"]).ok_or("it has no shape of chunks")?,
        pipeline: Pipeline::of_version_2(array, shape.len())?,
        dims,
        prefix: "",
        separator: if array["dimension_separator"] == "/" { "/" } else { "." },
        fill: fill.clone(),
        shape,
        data_type,
        packing,
        attrs,
        as_text,
    })
}

fn version_3(node: &Value) -> Result<ArrayMetadata, NoArray> {
    let shape = lengths(&node["shape"]).ok_or("it has no shape")?;
    let mut data_type = DataType::of_version_3(&node["data_type"]).map_err(NoArray::Type)?;
    let grid = &node["chunk_grid"];
    if grid["name"] != "regular" {
        return Err(format!("its chunks lie in the grid {}, not in a regular one", grid["name"]).into());
    }
    let encoding = &node["chunk_key_encoding"];
    let (prefix, usual) = if encoding["name"] == "v2" { ("", ".") } else { ("c", "/") };
    let separator = match encoding["configuration"]["separator"].as_str() {
        Some("/") => "/",
        Some(_) => ".",
        None => usual,
    };
    let Understood { attrs, packing, as_text } = Understood::of(&node["attributes"], data_type)?;
    Ok(ArrayMetadata {
        chunk: lengths(&grid["configuration"]["chunk_shape"]).ok_or("it has no shape of chunks")?,
        pipeline: Pipeline::of_version_3(&node["codecs"], shape.len(), &mut data_type)?,
        dims: names(&node["dimension_names"]),
        fill: node["fill_value"].clone(),
        packing,
        attrs,
        as_text,
        prefix,
        separator,
        shape,
        data_type,
    })
}

/// The attributes of an array, and what they say of its stored numbers.
struct Understood {
    attrs: IndexMap<String, Attribute>,
    packing: Packing,
    as_text: Vec<String>,
}

impl Understood {
    /// Understands attributes. A type of NumPy's that is a time is told by the attributes that other programs give it.
    fn of(attributes: &Value, data_type: DataType) -> Result<Self, String> {
        let mut attrs = attributes.as_object().map(attributes_from_json).unwrap_or_default();
        let packing = Packing::take(&mut attrs)?;
        let digits = attributes.as_object().into_iter().flat_map(names_of_digits);
        let as_text = digits.filter(|name| attrs.contains_key(*name)).cloned().collect();
        if let Some(time) = data_type.time {
            attrs.extend(time.attributes().map(|(name, value)| (name.to_owned(), value)));
        }
        Ok(Self { attrs, packing, as_text })
    }
}

/// Returns a list of lengths.
pub(super) fn lengths(value: &Value) -> Option<Vec<usize>> {
    value.as_array()?.iter().map(|len| len.as_u64().and_then(|len| usize::try_from(len).ok())).collect()
}

fn names(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bare_words_of_python() {
        let read = |text: &str| serde_json::from_str::<Value>(&without_python_numbers(text)).unwrap();
        assert_eq!(
            read(r#"{"a": NaN, "b": [-Infinity, Infinity]}"#),
            json!({ "a": "NaN", "b": ["-Infinity", "Infinity"] })
        );
        assert_eq!(read(r#"{"a": "NaN", "b": "NaN"}"#), json!({ "a": "NaN", "b": "NaN" }));
        assert_eq!(
            read(r#"{"NaN \" NaN": NaN, "c\\": "Infinity"}"#),
            json!({ "NaN \" NaN": "NaN", "c\\": "Infinity" })
        );
    }
}
