//! Blosc containers, the default compression of zarr 2: a header, then blocks of bytes that are shuffled and compressed
//! by another method. The format is described in c-blosc's README_CHUNK_FORMAT.rst; where that is silent, this decoder
//! does what c-blosc 1.21 does.

use super::codec::{deflated, zstandard};

const HEADER: usize = 16;
const SHUFFLED: u8 = 1;
const STORED: u8 = 2;
const BIT_SHUFFLED: u8 = 4;
const NOT_SPLIT: u8 = 16;

/// Returns the bytes in a container, at most `limit`.
pub(super) fn decode(bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
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
pub(super) fn unshuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    let values = bytes.len() / width;
    let whole = values * width;
    let gathered = (0..values).flat_map(|value| bytes[..whole].iter().skip(value).step_by(values)).copied();
    gathered.chain(bytes[whole..].iter().copied()).collect()
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
