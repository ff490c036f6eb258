//! The metadata of an array or a group (`.zarray`, `.zattrs`, `zarr.json`), in one form for both versions.
//!
//! They are shape, chunks, type, fill value, names of dimensions, and attributes.

use super::codec::Pipeline;
use super::dtype::{DataType, Kind, real};
use super::{v2, v3};
use crate::FormatError;
use octopus_files::read_regular;
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
    /// How missing values are marked: see [`Unpacking`].
    pub unpacking: Unpacking,
}

/// xarray's attributes by which stored numbers are understood.
#[derive(Debug, Default)]
pub(super) struct Unpacking {
    pub is_bool: bool,
    /// The values that mark a missing value.
    pub missing: Vec<f64>,
    pub scale: Option<f64>,
    pub offset: Option<f64>,
}

/// Reads `folder` as an array; `None` if it is none.
pub(super) fn array(folder: &Path) -> Result<Option<ArrayMetadata>, FormatError> {
    let (path, parsed) = if let Some(array) = file(&folder.join(v2::ARRAY_FILE))? {
        let attributes = file(&folder.join(v2::ATTRIBUTES_FILE))?.unwrap_or_default();
        (folder.join(v2::ARRAY_FILE), version_2(&array, &attributes))
    } else {
        match file(&folder.join(v3::FILE))? {
            Some(node) if node["node_type"] == "array" => (folder.join(v3::FILE), version_3(&node)),
            _ => return Ok(None),
        }
    };
    parsed.map(Some).map_err(|what| FormatError::Unreadable { path, what })
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

fn version_2(array: &Value, attributes: &Value) -> Result<ArrayMetadata, String> {
    let shape = lengths(&array["shape"]).ok_or("it has no shape")?;
    let data_type = DataType::of_numpy(&array["dtype"])?;
    let fill = &array["fill_value"];
    let mut unpacking = Unpacking::of(attributes);
    // xarray keeps the value that marks missing ones here, and takes whatever is here for it.
    if matches!(data_type.kind, Kind::Float | Kind::Integer | Kind::Unsigned) {
        unpacking.missing.extend(real(fill).filter(|fill| !fill.is_nan()));
    }
    Ok(ArrayMetadata {
        chunk: lengths(&array["chunks"]).ok_or("it has no shape of chunks")?,
        pipeline: Pipeline::of_version_2(array, shape.len())?,
        dims: names(&attributes[v2::DIMENSIONS]),
        prefix: "",
        separator: if array["dimension_separator"] == "/" { "/" } else { "." },
        fill: fill.clone(),
        shape,
        data_type,
        unpacking,
    })
}

fn version_3(node: &Value) -> Result<ArrayMetadata, String> {
    let shape = lengths(&node["shape"]).ok_or("it has no shape")?;
    let mut data_type = DataType::of_version_3(&node["data_type"])?;
    let grid = &node["chunk_grid"];
    if grid["name"] != "regular" {
        return Err(format!("its chunks lie in the grid {}, not in a regular one", grid["name"]));
    }
    let encoding = &node["chunk_key_encoding"];
    let (prefix, usual) = if encoding["name"] == "v2" { ("", ".") } else { ("c", "/") };
    let separator = match encoding["configuration"]["separator"].as_str() {
        Some("/") => "/",
        Some(_) => ".",
        None => usual,
    };
    Ok(ArrayMetadata {
        chunk: lengths(&grid["configuration"]["chunk_shape"]).ok_or("it has no shape of chunks")?,
        pipeline: Pipeline::of_version_3(&node["codecs"], shape.len(), &mut data_type)?,
        dims: names(&node["dimension_names"]),
        fill: node["fill_value"].clone(),
        unpacking: Unpacking::of(&node["attributes"]),
        prefix,
        separator,
        shape,
        data_type,
    })
}

impl Unpacking {
    fn of(attributes: &Value) -> Self {
        let number = |name: &str| attributes.get(name).and_then(|value| real(value).or_else(|| encoded(value)));
        let missing = ["_FillValue", "missing_value"].into_iter().filter_map(number);
        Self {
            is_bool: attributes["dtype"] == "bool",
            missing: missing.filter(|value| !value.is_nan()).collect(),
            scale: number("scale_factor"),
            offset: number("add_offset"),
        }
    }
}

/// xarray writes the fill value of real numbers into version 3 as the base 64 of its eight bytes.
fn encoded(value: &Value) -> Option<f64> {
    let digits = value.as_str()?.strip_suffix('=').filter(|text| text.len() == 11)?;
    let mut bits: u128 = 0;
    for byte in digits.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u128::from(digit);
    }
    // Eleven digits are 66 bits, the last two of which fill up.
    Some(f64::from_bits(((bits >> 2) as u64).swap_bytes()))
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
        assert_eq!(
            read(r#"{"NaN \" NaN": NaN, "c\\": "Infinity"}"#),
            json!({ "NaN \" NaN": "NaN", "c\\": "Infinity" })
        );
    }

    #[test]
    fn fill_values_of_xarray() {
        // base64.standard_b64encode(struct.pack("<d", x)) in Python.
        assert_eq!(encoded(&json!("AAAAAAAA8D8=")), Some(1.0));
        assert!(encoded(&json!("AAAAAAAA+H8=")).unwrap().is_nan());
        assert_eq!(encoded(&json!("GC1EVPshCcA=")), Some(-std::f64::consts::PI));
        assert_eq!(encoded(&json!("////////7/8=")), Some(f64::MIN));
        assert_eq!(encoded(&json!("NaN")), None);
        assert_eq!(encoded(&json!("AAAA!AAA8D8=")), None);
    }

    #[test]
    fn attributes_of_xarray() {
        let packed = Unpacking::of(&json!({
            "dtype": "bool", "_FillValue": "AAAAAAAA8D8=", "missing_value": "NaN",
            "scale_factor": 0.5, "add_offset": -2,
        }));
        assert!(packed.is_bool);
        assert_eq!((packed.missing, packed.scale, packed.offset), (vec![1.0], Some(0.5), Some(-2.0)));
        let plain = Unpacking::of(&json!({ "dtype": "int8", "_FillValue": "AAAAAAAA+H8=" }));
        assert!(!plain.is_bool && plain.missing.is_empty() && plain.scale.is_none() && plain.offset.is_none());
    }
}
