//! Writes arrays and groups of Zarr version 2: metadata, types, keys of chunks, shuffle and compression.

use super::write::LEVEL;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use octopus_trace::{Array, Values};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::ops::Range;

pub(super) const GROUP_FILE: &str = ".zgroup";
pub(super) const ARRAY_FILE: &str = ".zarray";
pub(super) const ATTRIBUTES_FILE: &str = ".zattrs";
/// All metadata of a store in one file.
pub(super) const CONSOLIDATED_FILE: &str = ".zmetadata";
/// The attribute in which xarray keeps what an array's axes are called.
pub(super) const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The attribute that marks a missing value in other formats.
const FILL: &str = "_FillValue";

pub(super) fn group() -> Value {
    json!({ "zarr_format": 2 })
}

/// Returns the files of the root; `metadata` are the contents of all others by their paths.
pub(super) fn root(attributes: Value, mut metadata: Value) -> Vec<(&'static str, Value)> {
    metadata[GROUP_FILE] = group();
    metadata[ATTRIBUTES_FILE] = attributes.clone();
    let consolidated = json!({ "metadata": metadata, "zarr_consolidated_format": 1 });
    vec![(GROUP_FILE, group()), (ATTRIBUTES_FILE, attributes), (CONSOLIDATED_FILE, consolidated)]
}

/// Returns the metadata of an array; what marks a missing value stands in them, not in the attributes.
pub(super) fn array(array: &Array, single: bool, chunk: &[usize], attrs: &Map<String, Value>) -> Value {
    let dtype = match &array.values {
        Values::F64(_) if single => "<f4".to_owned(),
        Values::F64(_) => "<f8".to_owned(),
        Values::I64(_) => "<i8".to_owned(),
        Values::Bool(_) => "|b1".to_owned(),
        Values::Strings(words) => format!("<U{}", longest(words)),
    };
    let width = width(&array.values, single);
    let shuffle = is_shuffled(&array.values).then(|| json!([{ "id": "shuffle", "elementsize": width }]));
    json!({
        "zarr_format": 2,
        "shape": array.shape,
        "chunks": chunk,
        "dtype": dtype,
        "order": "C",
        "fill_value": match attrs.get(FILL) {
            Some(fill) => fill.clone(),
            None if matches!(array.values, Values::F64(_)) => json!("NaN"),
            None => Value::Null,
        },
        "compressor": { "id": "zlib", "level": LEVEL },
        "filters": shuffle,
    })
}

pub(super) fn array_attributes(array: &Array, mut attrs: Map<String, Value>) -> Value {
    attrs.remove(FILL);
    attrs.insert(DIMENSIONS.to_owned(), json!(array.dims));
    Value::Object(attrs)
}

pub(super) fn key(index: &[usize]) -> String {
    if index.is_empty() { "0".to_owned() } else { index.iter().map(usize::to_string).collect::<Vec<_>>().join(".") }
}

/// Returns the bytes of a chunk that holds the values of `range` and is `len` values long: the last chunk of an axis is
/// as long as the others.
pub(super) fn encode(values: &Values, single: bool, range: Range<usize>, len: usize) -> io::Result<Vec<u8>> {
    let width = width(values, single);
    let mut bytes: Vec<u8> = match values {
        Values::F64(values) if single => values[range].iter().flat_map(|&value| (value as f32).to_le_bytes()).collect(),
        Values::F64(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
        Values::I64(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
        Values::Bool(flags) => flags[range].iter().map(|&flag| u8::from(flag)).collect(),
        Values::Strings(words) => {
            // NumPy's fixed-length text: UTF-32, padded with zeros.
            let padded = |word: &String| -> Vec<u8> {
                word.chars()
                    .flat_map(|point| u32::from(point).to_le_bytes())
                    .chain(std::iter::repeat(0))
                    .take(width)
                    .collect()
            };
            words[range].iter().flat_map(padded).collect()
        }
    };
    bytes.resize(len * width, 0);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
    encoder.write_all(&if is_shuffled(values) { shuffle(&bytes, width) } else { bytes })?;
    encoder.finish()
}

fn is_shuffled(values: &Values) -> bool {
    matches!(values, Values::F64(_) | Values::I64(_))
}

/// Returns the bytes of one value.
fn width(values: &Values, single: bool) -> usize {
    match values {
        Values::F64(_) if single => 4,
        Values::F64(_) | Values::I64(_) => 8,
        Values::Bool(_) => 1,
        Values::Strings(words) => 4 * longest(words),
    }
}

fn longest(words: &[String]) -> usize {
    words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1)
}

/// Puts all first bytes first, then all second bytes, ...: neighbouring exponents compress, neighbouring values do not.
fn shuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    (0..width).flat_map(|byte| bytes.iter().skip(byte).step_by(width)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_gathers_bytes_of_equal_weight() {
        assert_eq!(shuffle(&[1, 2, 3, 4, 5, 6], 2), [1, 3, 5, 2, 4, 6]);
    }

    #[test]
    fn the_last_chunk_is_as_long_as_the_others() {
        use std::io::Read;
        let gathered = |value: [u8; 8]| value.iter().flat_map(|&byte| [byte, 0, 0]).collect::<Vec<u8>>();
        let words = Values::Strings(["ab", "", "ß"].map(str::to_owned).to_vec());
        for (values, expected) in [
            (Values::F64(vec![1.0, 2.0, 3.5]), gathered(3.5f64.to_le_bytes())),
            (Values::I64(vec![1, 2, -3]), gathered((-3i64).to_le_bytes())),
            (Values::Bool(vec![false, false, true]), vec![1, 0, 0]),
            (words, [[0xdf_u8, 0, 0, 0, 0, 0, 0, 0], [0; 8], [0; 8]].concat()),
        ] {
            let (packed, mut bytes) = (encode(&values, false, 2..3, 3).unwrap(), Vec::new());
            flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, expected, "{values:?}");
        }
    }

    #[test]
    fn singles_have_four_bytes_and_words_room_for_the_longest() {
        let values = Values::F64(vec![0.5, 1.5]);
        let (packed, mut bytes) = (encode(&values, true, 1..2, 3).unwrap(), Vec::new());
        std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(&packed[..]), &mut bytes).unwrap();
        let [a, b, c, d] = 1.5f32.to_le_bytes();
        assert_eq!(bytes, [a, 0, 0, b, 0, 0, c, 0, 0, d, 0, 0]);
        let longest = |words: &[&str]| longest(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!([longest(&[]), longest(&[""]), longest(&["a", ""]), longest(&["ß☃"])], [1, 1, 1, 2]);
    }
}
