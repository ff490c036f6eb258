//! Blosc containers, the default compression of zarr 2: a header, then blocks of bytes that are shuffled and compressed
//! by another method. The format is described in c-blosc's README_CHUNK_FORMAT.rst; where that is silent, this decoder
//! does what c-blosc 1.21 does.

use super::codec::{deflated, zstandard};
use crate::checked::memory_for;

const HEADER: usize = 16;
const SHUFFLED: u8 = 1;
const STORED: u8 = 2;
const BIT_SHUFFLED: u8 = 4;
const NOT_SPLIT: u8 = 16;

/// Returns the bytes in a container, at most `limit`.
pub(crate) fn decode(bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let cut = || "its Blosc data are cut short".to_owned();
    let Some(&[version, _, flags, width]) = bytes.first_chunk() else { return Err(cut()) };
    let number = |at: usize| -> Result<usize, String> {
        let word = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or_else(cut)?;
        Ok(u32::from_le_bytes(*word) as usize)
    };
    let (len, block) = (number(4)?, number(8)?);
    if version != 2 {
        return Err(format!("its Blosc data have format {version}, not 2"));
    }
    if len > limit {
        return Err(format!("its Blosc data announce {len} bytes where at most {limit} fit"));
    }
    if flags & STORED != 0 {
        return bytes.get(HEADER..HEADER + len).map(<[u8]>::to_vec).ok_or_else(cut);
    }
    if len > 0 && (block == 0 || block > len) {
        return Err(format!("its Blosc data have blocks of {block} bytes"));
    }
    let width = usize::from(width).max(1);
    // The blocks, and one of them before and after it is unshuffled.
    memory_for(3 * len)?;
    let mut out = Vec::with_capacity(len);
    while out.len() < len {
        let (at, size) = (number(HEADER + 4 * (out.len() / block))?, block.min(len - out.len()));
        // The last block, if shorter, is never split.
        let streams = if flags & NOT_SPLIT == 0 && size == block { width } else { 1 };
        let packed = streams_of(bytes.get(at..).ok_or_else(cut)?, size, streams, flags >> 5)?;
        out.extend(match flags & (SHUFFLED | BIT_SHUFFLED) {
            SHUFFLED if width > 1 => unshuffle(&packed, width),
            BIT_SHUFFLED if (size / width).is_multiple_of(8) => unshuffle_bits(&packed, width),
            _ => packed,
        });
    }
    Ok(out)
}

/// Returns the `size` bytes of a block that is stored as `streams` streams, each with its length before it.
fn streams_of(mut bytes: &[u8], size: usize, streams: usize, method: u8) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(size);
    let each = size / streams;
    for _ in 0..streams {
        let (len, rest) = bytes.split_first_chunk().ok_or("its Blosc block is cut short")?;
        let len = u32::from_le_bytes(*len) as usize;
        let (stream, rest) = rest.split_at_checked(len).ok_or("its Blosc block is cut short")?;
        bytes = rest;
        if len == each {
            out.extend(stream);
            continue;
        }
        out.extend(match method {
            1 => lz4_flex::block::decompress(stream, each).map_err(|error| format!("LZ4: {error}"))?,
            3 => deflated(flate2::read::ZlibDecoder::new(stream), each)?,
            4 => zstandard(stream, each)?,
            0 => return Err("it is compressed with BloscLZ, which this octopus cannot read: write it with zstd".into()),
            2 => return Err("it is compressed with Snappy in Blosc, which this octopus cannot read: use zstd".into()),
            other => return Err(format!("its Blosc data are compressed by an unknown method {other}")),
        });
    }
    if out.len() == size { Ok(out) } else { Err(format!("its Blosc block has {} bytes, not {size}", out.len())) }
}

/// Puts the bytes of each value together again; those after the last whole value were left alone.
pub(crate) fn unshuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    let values = bytes.len() / width;
    let (planes, rest) = bytes.split_at(values * width);
    let mut out = match width {
        2 => gathered::<2>(planes, values),
        4 => gathered::<4>(planes, values),
        8 => gathered::<8>(planes, values),
        _ => (0..values).flat_map(|value| planes.iter().skip(value).step_by(values)).copied().collect(),
    };
    out.extend(rest);
    out
}

/// Puts the bytes of values of a usual width together: all of a value at once, several times as fast as byte by byte.
fn gathered<const WIDTH: usize>(planes: &[u8], values: usize) -> Vec<u8> {
    let planes: [&[u8]; WIDTH] = std::array::from_fn(|byte| &planes[byte * values..][..values]);
    (0..values).map(|value| planes.map(|plane| plane[value])).collect::<Vec<[u8; WIDTH]>>().into_flattened()
}

/// Undoes a shuffle of bits: the block begins with the lowest bit of the first byte of all values.
fn unshuffle_bits(bytes: &[u8], width: usize) -> Vec<u8> {
    let values = bytes.len() / width;
    let whole = values * width;
    let mut out = vec![0; whole];
    for (plane, bits) in bytes[..whole].chunks_exact((values / 8).max(1)).enumerate() {
        for (at, &eight) in bits.iter().enumerate() {
            for bit in 0..8 {
                out[(8 * at + bit) * width + plane / 8] |= (eight >> bit & 1) << (plane % 8);
            }
        }
    }
    out.extend(&bytes[whole..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a container: the header of README_CHUNK_FORMAT.rst, and what follows it.
    fn container(flags: u8, width: u8, [len, block]: [u32; 2], rest: &[u8]) -> Vec<u8> {
        let words = [len, block, (HEADER + rest.len()) as u32];
        let mut bytes = vec![2, 1, flags, width];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(rest);
        bytes
    }

    #[test]
    fn a_header_that_contradicts_itself_is_told() {
        let stored = |len| container(STORED, 1, [len, len], b"four");
        assert_eq!(decode(&stored(4), 4), Ok(b"four".to_vec()));
        assert!(decode(&stored(4), 3).unwrap_err().contains("announce 4 bytes where at most 3 fit"));
        assert!(decode(&stored(5), 5).unwrap_err().contains("cut short"));
        let empty = container(0, 1, [0, 0], b"");
        assert_eq!(decode(&empty, 0), Ok(vec![]));
        assert!(decode(&empty[..HEADER - 5], 0).unwrap_err().contains("cut short"));
        for block in [0, 5] {
            let message = decode(&container(NOT_SPLIT, 1, [4, block], b"\x14\0\0\0\x04\0\0\0four"), 4).unwrap_err();
            assert!(message.contains(&format!("blocks of {block} bytes")), "{message}");
        }
        let mut newer = stored(4);
        newer[0] = 3;
        assert!(decode(&newer, 4).unwrap_err().contains("format 3, not 2"));
    }

    /// One block that begins after the header and its own place in the container.
    #[test]
    fn streams_are_stored_or_packed() {
        let read = |flags: u8, width: u8, streams: &[u8]| {
            let rest = [&b"\x14\0\0\0"[..], streams].concat();
            decode(&container(flags, width, [4, 4], &rest), 4)
        };
        // A stream as long as its part of the block is stored as it is.
        assert_eq!(read(NOT_SPLIT, 2, b"\x04\0\0\0four"), Ok(b"four".to_vec()));
        assert_eq!(read(0, 2, b"\x02\0\0\0fo\x02\0\0\0ur"), Ok(b"four".to_vec()));
        // By method 1, LZ4: a token of four literals.
        assert_eq!(read(1u8 << 5 | NOT_SPLIT, 1, b"\x05\0\0\0\x40four"), Ok(b"four".to_vec()));
        for (flags, width, streams, words) in [
            (0, 1, &b"\x04\0\0\0fou"[..], "cut short"),
            (0, 1, b"\x04\0\0", "cut short"),
            (0, 3, b"\x01\0\0\0f\x01\0\0\0o\x01\0\0\0u", "3 bytes, not 4"),
            (0, 1, b"\x01\0\0\0f", "BloscLZ"),
            (2u8 << 5, 1, b"\x01\0\0\0f", "Snappy"),
            (5u8 << 5, 1, b"\x01\0\0\0f", "unknown method 5"),
        ] {
            let message = read(flags, width, streams).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
    }

    /// Eight bits in a row of each bit of a value, from the lowest bit of its first byte on.
    fn bits_apart(bytes: &[u8], width: usize) -> Vec<u8> {
        let values = bytes.len() / width;
        let mut out = vec![0; bytes.len()];
        for plane in 0..8 * width {
            for value in 0..values {
                let bit = bytes[value * width + plane / 8] >> (plane % 8) & 1;
                let at = plane * values + value;
                out[at / 8] |= bit << (at % 8);
            }
        }
        out
    }

    #[test]
    fn bits_and_bytes_come_back_where_they_were() {
        for (values, width) in [(8, 1), (8, 2), (16, 1), (24, 3), (40, 2), (16, 8), (72, 4)] {
            let bytes: Vec<u8> = (0..values * width).map(|at| (at * at * 37 + at * 11 + 5) as u8).collect();
            let apart = bits_apart(&bytes, width);
            assert_eq!(unshuffle_bits(&apart, width), bytes, "{values} of {width}");
            assert_eq!(unshuffle_bits(&[&apart[..], b"x"].concat(), width)[..bytes.len()], bytes);
        }
        assert_eq!(unshuffle_bits(b"ab", 3), b"ab");
        assert_eq!(unshuffle(b"fuorx", 2), b"fourx");
        assert_eq!(unshuffle(b"ab", 3), b"ab");
    }

    /// Only blocks of a multiple of eight values have their bits shuffled.
    #[test]
    fn a_block_is_shuffled_as_its_flags_say() {
        let read = |flags: u8, width: u8, streams: &[u8]| {
            let len = streams.len() as u32;
            let rest = [&b"\x14\0\0\0"[..], &len.to_le_bytes(), streams].concat();
            decode(&container(flags | NOT_SPLIT, width, [len, len], &rest), streams.len())
        };
        assert_eq!(read(1, 2, b"fuor"), Ok(b"four".to_vec()));
        assert_eq!(read(1, 1, b"four"), Ok(b"four".to_vec()));
        for len in [4, 7, 9, 12] {
            let bytes = &b"abcdefghijkl"[..len];
            assert_eq!(read(4, 1, bytes), Ok(bytes.to_vec()), "{len}");
        }
        for len in [8, 16, 24] {
            let bytes = &b"abcdefghijklmnopqrstuvwx"[..len];
            assert_eq!(read(4, 1, &bits_apart(bytes, 1)), Ok(bytes.to_vec()), "{len}");
        }
        // 17 bytes are 8 values of two bytes, and one more.
        let bytes = b"abcdefghijklmnopq";
        let apart = [bits_apart(&bytes[..16], 2), b"q".to_vec()].concat();
        assert_eq!(read(4, 2, &apart), Ok(bytes.to_vec()));
        // A value of one byte, or of none, has one stream.
        for width in [0, 1] {
            let split = [&b"\x14\0\0\0\x04\0\0\0"[..], b"four"].concat();
            assert_eq!(decode(&container(0, width, [4, 4], &split), 4), Ok(b"four".to_vec()), "{width}");
        }
        let told = decode(&container(NOT_SPLIT, 1, [1, 0], b"\x14\0\0\0\x01\0\0\0f"), 1).unwrap_err();
        assert!(told.contains("blocks of 0 bytes"), "{told}");
    }
}
