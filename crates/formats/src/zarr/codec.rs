//! Decodes the bytes of a chunk to its values, by the codecs (compression, filters, sharding) of arrays.
//!
//! They are the defaults of zarr-python, zarrs and numcodecs, and what their users choose often. How much a
//! few bytes may grow to is limited here.

use super::blosc;
use super::dtype::{DataType, Kind};
use super::grid::Grid;
use crate::checked::{ALLOWANCE, EXPANSION, memory_for};
use octopus_trace::Values;
use serde_json::Value;
use std::io::Read;

/// How the chunks of an array are encoded, in the order in which a writer encodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipeline {
    /// The order of the stored axes: stored axis `i` is axis `axes[i]` of the array.
    axes: Option<Vec<usize>>,
    array: ArrayCodec,
    bytes: Vec<Codec>,
}

/// A codec from values to bytes.
#[derive(Clone, Debug, Default)]
enum ArrayCodec {
    #[default]
    Bytes,
    /// The number of words, then each with its length before it.
    Words,
    /// A chunk of chunks, with an index of where each begins.
    Shard {
        chunk: Vec<usize>,
        pipeline: Box<Pipeline>,
        index: Box<Pipeline>,
        index_type: DataType,
        index_at_start: bool,
    },
}

/// A codec from bytes to bytes.
#[derive(Clone, Debug)]
enum Codec {
    Gzip,
    Zlib,
    Zstandard,
    Blosc,
    Lz4,
    Shuffle(usize),
    Crc32c,
}

impl Pipeline {
    /// `order`, `filters` and `compressor` of version 2.
    pub(super) fn of_version_2(array: &Value, rank: usize) -> Result<Self, String> {
        let mut pipeline = Self::default();
        if array["order"] == "F" {
            pipeline.axes = Some((0..rank).rev().collect());
        }
        let filters = array["filters"].as_array().map_or(&[] as &[_], Vec::as_slice);
        for codec in filters.iter().chain(Some(&array["compressor"]).filter(|codec| !codec.is_null())) {
            let name = codec["id"].as_str().ok_or_else(|| format!("its codec {codec} has no name"))?;
            pipeline.add(name, codec, rank)?;
        }
        Ok(pipeline)
    }

    /// `codecs` of version 3.
    pub(super) fn of_version_3(codecs: &Value, rank: usize, data_type: &mut DataType) -> Result<Self, String> {
        let mut pipeline = Self::default();
        for codec in codecs.as_array().ok_or("it has no list of codecs")? {
            let name = codec.as_str().or_else(|| codec["name"].as_str());
            let name = name.ok_or_else(|| format!("its codec {codec} has no name"))?;
            let settings = &codec["configuration"];
            match name {
                "bytes" => data_type.big_endian = settings["endian"] == "big",
                "sharding_indexed" => {
                    let mut index_type = DataType::new(Kind::Unsigned, 8);
                    pipeline.array = ArrayCodec::Shard {
                        chunk: super::metadata::lengths(&settings["chunk_shape"]).ok_or("its shards have no shape")?,
                        pipeline: Box::new(Self::of_version_3(&settings["codecs"], rank, data_type)?),
                        index: Box::new(Self::of_version_3(&settings["index_codecs"], rank + 1, &mut index_type)?),
                        index_type,
                        index_at_start: settings["index_location"] == "start",
                    };
                }
                _ => pipeline.add(name.trim_start_matches("numcodecs."), settings, rank)?,
            }
        }
        Ok(pipeline)
    }

    fn add(&mut self, name: &str, settings: &Value, rank: usize) -> Result<(), String> {
        let codec = match name {
            "gzip" => Codec::Gzip,
            "zlib" => Codec::Zlib,
            "zstd" => Codec::Zstandard,
            "blosc" => Codec::Blosc,
            "lz4" => Codec::Lz4,
            "crc32c" => Codec::Crc32c,
            "shuffle" => Codec::Shuffle(settings["elementsize"].as_u64().map_or(4, |size| size.max(1) as usize)),
            "vlen-utf8" => {
                self.array = ArrayCodec::Words;
                return Ok(());
            }
            "transpose" => {
                let order = super::metadata::lengths(&settings["order"]).unwrap_or_default();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                if !sorted.iter().copied().eq(0..rank) {
                    return Err(format!("its codec transpose has the order {}", settings["order"]));
                }
                self.axes = Some(match &self.axes {
                    Some(before) => order.iter().map(|&axis| before[axis]).collect(),
                    None => order,
                });
                return Ok(());
            }
            other => {
                return Err(format!("it is encoded with {other}, which this octopus cannot read: write it with zstd"));
            }
        };
        self.bytes.push(codec);
        Ok(())
    }

    /// Returns the values of a chunk of the shape `shape`, row-major.
    pub(super) fn decode(
        &self,
        bytes: &[u8],
        shape: &[usize],
        data_type: DataType,
        fill: &Value,
    ) -> Result<Values, String> {
        let count: usize = shape.iter().product();
        // A trailing checksum and the lengths of words come on top of the values.
        let most = match self.array {
            ArrayCodec::Bytes => count.saturating_mul(data_type.width).saturating_add(64),
            _ => usize::MAX,
        };
        let limit = most.min(ALLOWANCE.saturating_add(bytes.len().saturating_mul(EXPANSION)));
        let mut unpacked = None;
        for codec in self.bytes.iter().rev() {
            unpacked = Some(codec.decode(unpacked.as_deref().unwrap_or(bytes), limit)?);
        }
        let bytes = unpacked.as_deref().unwrap_or(bytes);
        let stored: Vec<usize> = match &self.axes {
            Some(axes) => axes.iter().map(|&axis| shape[axis]).collect(),
            None => shape.to_vec(),
        };
        let values = match &self.array {
            ArrayCodec::Bytes if bytes.len() == count * data_type.width => data_type.decode(bytes)?,
            ArrayCodec::Bytes => {
                return Err(format!("it has {} bytes for {count} values of {}", bytes.len(), data_type.width));
            }
            ArrayCodec::Words => words(bytes)?,
            ArrayCodec::Shard { chunk, pipeline, index, index_type, index_at_start } => {
                let grid = Grid::new(&stored, chunk)?;
                let entries = index_of(bytes, &grid, index, *index_type, *index_at_start)?;
                let mut values = data_type.filled(fill, count)?;
                for (number, entry) in entries.chunks_exact(2).enumerate() {
                    // The largest number marks a chunk that is not there.
                    if entry == [-1, -1] {
                        continue;
                    }
                    let range = usize::try_from(entry[0]).ok().zip(usize::try_from(entry[1]).ok());
                    let inner = range.and_then(|(at, len)| bytes.get(at..at.checked_add(len)?));
                    let inner = pipeline.decode(inner.ok_or("its shard is cut short")?, chunk, data_type, fill)?;
                    grid.place(&mut values, &inner, &grid.index(number))?;
                }
                values
            }
        };
        if values.len() != count {
            return Err(format!("it has {} values, not {count}", values.len()));
        }
        let Some(axes) = &self.axes else { return Ok(values) };
        let back: Vec<usize> = (0..axes.len()).filter_map(|axis| axes.iter().position(|&at| at == axis)).collect();
        Ok(values.transposed(&stored, &back))
    }
}

/// Returns where each inner chunk begins and how long it is, one after another.
fn index_of(
    bytes: &[u8],
    grid: &Grid,
    codecs: &Pipeline,
    data_type: DataType,
    at_start: bool,
) -> Result<Vec<i64>, String> {
    let mut shape = grid.counts.clone();
    shape.push(2);
    let checksum = codecs.bytes.iter().map(|codec| if matches!(codec, Codec::Crc32c) { 4 } else { 0 }).sum::<usize>();
    let len = shape.iter().product::<usize>().saturating_mul(8).saturating_add(checksum);
    let at = if at_start { Some(0) } else { bytes.len().checked_sub(len) };
    let part = at.and_then(|at| bytes.get(at..at.checked_add(len)?)).ok_or("its shard is cut short")?;
    match codecs.decode(part, &shape, data_type, &Value::Null)? {
        Values::I64(entries) => Ok(entries),
        _ => Err("the index of its shard has no numbers".into()),
    }
}

impl Codec {
    fn decode(&self, bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
        match self {
            Self::Gzip => deflated(flate2::read::MultiGzDecoder::new(bytes), limit),
            Self::Zlib => deflated(flate2::read::ZlibDecoder::new(bytes), limit),
            Self::Zstandard => zstandard(bytes, limit),
            Self::Blosc => blosc::decode(bytes, limit),
            Self::Lz4 => {
                let (len, packed) = bytes.split_first_chunk().ok_or("its LZ4 data are cut short")?;
                let len = u32::from_le_bytes(*len) as usize;
                if len > limit {
                    return Err(format!("its LZ4 data announce {len} bytes where at most {limit} fit"));
                }
                memory_for(len)?;
                lz4_flex::block::decompress(packed, len).map_err(|error| format!("LZ4: {error}"))
            }
            Self::Shuffle(width) => Ok(blosc::unshuffle(bytes, *width)),
            Self::Crc32c => {
                let (data, sum) = bytes.split_last_chunk().ok_or("its checksum is cut short")?;
                if crc32c(data) != u32::from_le_bytes(*sum) {
                    return Err("its checksum is not that of what was written (cut short or changed)".into());
                }
                Ok(data.to_vec())
            }
        }
    }
}

/// Reads a decoder to its end, at most `limit` bytes.
pub(super) fn deflated(decoder: impl Read, limit: usize) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    decoder.take(limit as u64 + 1).read_to_end(&mut out).map_err(|error| format!("it cannot be unpacked ({error})"))?;
    if out.len() > limit { Err(format!("it unpacks to more than the {limit} bytes that fit")) } else { Ok(out) }
}

pub(crate) fn zstandard(bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|error| format!("Zstandard: {error}"))?;
    deflated(decoder, limit)
}

fn words(bytes: &[u8]) -> Result<Values, String> {
    let cut = "its words are cut short";
    let number = |bytes: &[u8]| bytes.first_chunk().map(|word| u32::from_le_bytes(*word) as usize).ok_or(cut);
    let count = number(bytes)?;
    let mut rest = &bytes[4..];
    // Each has its length before it.
    memory_for(count.min(rest.len() / 4) * size_of::<String>() + rest.len())?;
    let mut words = Vec::new();
    for _ in 0..count {
        let len = number(rest)?;
        let (word, after) = rest[4..].split_at_checked(len).ok_or(cut)?;
        words.push(String::from_utf8(word.to_vec()).map_err(|_| "its words are not Unicode")?);
        rest = after;
    }
    Ok(Values::Strings(words))
}

/// Castagnoli's checksum (RFC 3720, appendix B.4), of which Zarr's indices are the only use here.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut at = 0;
        while at < 256 {
            let mut value = at as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0x82f6_3b78 } else { value >> 1 };
                bit += 1;
            }
            table[at] = value;
            at += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |sum: u32, &byte| sum >> 8 ^ TABLE[((sum ^ u32::from(byte)) & 0xff) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use serde_json::json;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn four_bytes_fit_where_four_bytes_fit() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(b"four").unwrap();
        for (codec, packed) in [
            (Codec::Gzip, gzip(b"four")),
            (Codec::Zlib, zlib.finish().unwrap()),
            // RFC 8878: the magic number, a frame of one segment of four bytes, its last block as it is.
            (Codec::Zstandard, b"\x28\xb5\x2f\xfd\x20\x04\x21\0\0four".to_vec()),
            (Codec::Blosc, b"\x02\x01\x02\x01\x04\0\0\0\x04\0\0\0\x14\0\0\0four".to_vec()),
            // The length, then a token of four literals.
            (Codec::Lz4, b"\x04\0\0\0\x40four".to_vec()),
        ] {
            assert_eq!(codec.decode(&packed, 4), Ok(b"four".to_vec()), "{codec:?}");
            assert!(codec.decode(&packed, 3).is_err(), "{codec:?}");
        }
    }

    #[test]
    fn a_chunk_unpacks_to_its_values_and_little_more() {
        let mut data_type = DataType::of_version_3(&json!("float64")).unwrap();
        let codecs = json!([{ "name": "bytes" }, { "name": "gzip" }]);
        let pipeline = Pipeline::of_version_3(&codecs, 1, &mut data_type).unwrap();
        let read = |len: usize| pipeline.decode(&gzip(&vec![0; len]), &[1], data_type, &Value::Null);
        assert_eq!(read(8), Ok(Values::F64(vec![0.0])));
        assert_eq!(read(72).unwrap_err(), "it has 72 bytes for 1 values of 8");
        assert_eq!(read(73).unwrap_err(), "it unpacks to more than the 72 bytes that fit");
    }

    #[test]
    fn checksum_of_the_standard() {
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    /// The index of a shard has an axis more than its array.
    #[test]
    fn the_axes_of_a_shards_index_may_be_transposed() {
        let read = |order: &[usize]| {
            let mut data_type = DataType::of_version_3(&json!("float64")).unwrap();
            let index = json!([{ "name": "transpose", "configuration": { "order": order } }, "bytes"]);
            let shards = json!({ "chunk_shape": [1], "codecs": ["bytes"], "index_codecs": index });
            let codecs = json!([{ "name": "sharding_indexed", "configuration": shards }]);
            Pipeline::of_version_3(&codecs, 1, &mut data_type).map(|_| ())
        };
        assert_eq!(read(&[1, 0]), Ok(()));
        for order in [&[0][..], &[], &[0, 1, 2], &[1, 1]] {
            assert!(read(order).unwrap_err().contains("transpose has the order"), "{order:?}");
        }
    }

    /// Stored axis `i` is axis `order[i]` of the array.
    #[test]
    fn transposed_axes_come_back_in_their_order() {
        let mut data_type = DataType::of_version_3(&json!("float64")).unwrap();
        let codecs = json!([{ "name": "transpose", "configuration": { "order": [2, 0, 1] } }, "bytes"]);
        let pipeline = Pipeline::of_version_3(&codecs, 3, &mut data_type).unwrap();
        let number = |[i, j, k]: [u32; 3]| f64::from(100 * i + 10 * j + k);
        let stored = (0..4).flat_map(|k| (0..2).flat_map(move |i| (0..3).map(move |j| [i, j, k])));
        let bytes: Vec<u8> = stored.flat_map(|place| number(place).to_le_bytes()).collect();
        let places = (0..2).flat_map(|i| (0..3).flat_map(move |j| (0..4).map(move |k| [i, j, k])));
        let expected = Values::F64(places.map(number).collect());
        assert_eq!(pipeline.decode(&bytes, &[2, 3, 4], data_type, &Value::Null), Ok(expected));
    }

    /// Two chunks of a shard, of which one is not there, behind an index at either end, in either order of bytes.
    #[test]
    fn an_index_says_where_the_chunks_of_a_shard_are() {
        let shuffle = json!({ "name": "numcodecs.shuffle", "configuration": { "elementsize": 8 } });
        let crc = json!("crc32c");
        for endian in ["little", "big"] {
            for (location, checks) in [("start", None), ("end", None), ("end", Some(&shuffle)), ("end", Some(&crc))] {
                let bytes = json!({ "name": "bytes", "configuration": { "endian": endian } });
                let index_codecs: Vec<&Value> = [Some(&bytes), checks].into_iter().flatten().collect();
                let shards = json!({
                    "chunk_shape": [2], "codecs": ["bytes"], "index_codecs": index_codecs, "index_location": location,
                });
                let codecs = json!([{ "name": "sharding_indexed", "configuration": shards }]);
                let mut data_type = DataType::of_version_3(&json!("float64")).unwrap();
                let pipeline = Pipeline::of_version_3(&codecs, 1, &mut data_type).unwrap();
                let at = if location == "start" { 32 } else { 0 };
                let order = |number: u64| if endian == "big" { number.to_be_bytes() } else { number.to_le_bytes() };
                let mut index = [u64::MAX, u64::MAX, at, 16].map(order).concat();
                if checks == Some(&shuffle) {
                    index = (0..8).flat_map(|byte| (0..4).map(move |at| 8 * at + byte)).map(|at| index[at]).collect();
                } else if checks == Some(&crc) {
                    index.extend(crc32c(&index).to_le_bytes());
                }
                let chunk = [2.5f64, -3.0].map(f64::to_le_bytes).concat();
                let shard = if location == "start" { [index, chunk] } else { [chunk, index] }.concat();
                let found = pipeline.decode(&shard, &[4], data_type, &json!(0.5));
                assert_eq!(found, Ok(Values::F64(vec![0.5, 0.5, 2.5, -3.0])), "{endian}, {location}, {checks:?}");
            }
        }
    }

    /// numcodecs shuffles values of four bytes where it is not told.
    #[test]
    fn values_are_shuffled_by_their_width() {
        let read = |settings: Value| {
            let mut pipeline = Pipeline::default();
            pipeline.add("shuffle", &settings, 1).unwrap();
            pipeline.bytes[0].decode(b"abcdefgh", 8).unwrap()
        };
        assert_eq!(read(json!({})), b"acegbdfh");
        assert_eq!(read(json!({ "elementsize": 2 })), b"aebfcgdh");
        for width in [0, 1, 9, u64::MAX] {
            assert_eq!(read(json!({ "elementsize": width })), b"abcdefgh", "{width}");
        }
    }
}
