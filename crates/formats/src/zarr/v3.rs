//! Writes arrays and groups of Zarr version 3: metadata, types, codecs, keys of chunks.

use super::write::LEVEL;
use flate2::Compression;
use flate2::write::GzEncoder;
use octopus_trace::{Array, Values};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::ops::Range;

/// The metadata of every node.
pub(super) const FILE: &str = "zarr.json";

pub(super) fn group(attributes: Value) -> Value {
    json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes })
}

/// Returns the root; `nodes` are the metadata of all others by their paths.
pub(super) fn root(attributes: Value, nodes: Value) -> Value {
    let mut root = group(attributes);
    root["consolidated_metadata"] = json!({ "kind": "inline", "must_understand": false, "metadata": nodes });
    root
}

pub(super) fn array(array: &Array, single: bool, chunk: &[usize], attrs: Map<String, Value>) -> Value {
    // Gzip rather than Blosc or Zstandard: every reader has it, and draws are mostly noise.
    let gzip = json!({ "name": "gzip", "configuration": { "level": LEVEL } });
    let numbers = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    let (data_type, fill_value, codec) = match &array.values {
        Values::F64(_) if single => ("float32", json!("NaN"), numbers),
        Values::F64(_) => ("float64", json!("NaN"), numbers),
        Values::I64(_) => ("int64", json!(0), numbers),
        Values::Bool(_) => ("bool", json!(false), json!({ "name": "bytes" })),
        Values::Strings(_) => ("string", json!(""), json!({ "name": "vlen-utf8" })),
    };
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": array.shape,
        "data_type": data_type,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunk } },
        "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
        "fill_value": fill_value,
        "codecs": [codec, gzip],
        "attributes": attrs,
        "dimension_names": array.dims,
        "storage_transformers": [],
    })
}

pub(super) fn key(index: &[usize]) -> String {
    index.iter().fold("c".to_owned(), |key, index| format!("{key}/{index}"))
}

/// Returns the bytes of a chunk that holds the values of `range` and is `len` values long: the last chunk of an axis is
/// as long as the others.
pub(super) fn encode(values: &Values, single: bool, range: Range<usize>, len: usize) -> io::Result<Vec<u8>> {
    let padding = len - range.len();
    let mut bytes: Vec<u8> = match values {
        Values::F64(values) if single => values[range].iter().flat_map(|&value| (value as f32).to_le_bytes()).collect(),
        Values::F64(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
        Values::I64(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
        Values::Bool(flags) => flags[range].iter().map(|&flag| u8::from(flag)).collect(),
        Values::Strings(words) => vlen(&words[range], len)?,
    };
    let width = match values {
        Values::F64(_) if single => 4,
        Values::F64(_) | Values::I64(_) => 8,
        Values::Bool(_) => 1,
        // The number of words, then the length of each before it: an empty word is four zeros.
        Values::Strings(_) => 4,
    };
    bytes.resize(bytes.len() + padding * width, 0);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    encoder.write_all(&bytes)?;
    encoder.finish()
}

fn vlen(words: &[String], len: usize) -> io::Result<Vec<u8>> {
    let number = |len: usize| u32::try_from(len).map(u32::to_le_bytes).map_err(io::Error::other);
    let mut bytes = number(len)?.to_vec();
    for word in words {
        bytes.extend(number(word.len())?);
        bytes.extend(word.as_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_last_chunk_is_as_long_as_the_others() {
        let padded = |value: [u8; 8]| [value, [0; 8], [0; 8]].concat();
        let words = Values::Strings(["ab", "", "ß"].map(str::to_owned).to_vec());
        for (values, expected) in [
            (Values::F64(vec![1.0, 2.0, 3.5]), padded(3.5f64.to_le_bytes())),
            (Values::I64(vec![1, 2, -3]), padded((-3i64).to_le_bytes())),
            (Values::Bool(vec![false, false, true]), vec![1, 0, 0]),
            (words, b"\x03\0\0\0\x02\0\0\0\xc3\x9f\0\0\0\0\0\0\0\0".to_vec()),
        ] {
            let (packed, mut bytes) = (encode(&values, false, 2..3, 3).unwrap(), Vec::new());
            flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, expected, "{values:?}");
        }
    }

    #[test]
    fn singles_have_four_bytes() {
        let (packed, mut bytes) = (encode(&Values::F64(vec![0.5, 1.5]), true, 1..2, 3).unwrap(), Vec::new());
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, [&1.5f32.to_le_bytes()[..], &[0; 8]].concat());
    }
}
