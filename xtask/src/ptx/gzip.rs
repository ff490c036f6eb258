//! Gzip whose bytes depend on the text alone: no name, no time, one level of one compressor (RFC 1952).

use anyhow::{Context, Result, bail};

/// Magic, deflate, no flags, no time, as small as it gets, Unix: what `gzip -n -9` writes.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3];
const LEVEL: u8 = 9;
/// Checksum and length.
const TRAILER: usize = 8;
/// More than any PTX here has: a broken file must not take all memory.
const MOST_BYTES: usize = 64 << 20;

/// Compresses `text`.
pub(super) fn pack(text: &str) -> Vec<u8> {
    let mut packed = HEADER.to_vec();
    packed.extend(miniz_oxide::deflate::compress_to_vec(text.as_bytes(), LEVEL));
    packed.extend(crc32fast::hash(text.as_bytes()).to_le_bytes());
    // The format counts modulo 2^32.
    packed.extend((text.len() as u32).to_le_bytes());
    packed
}

/// The text of what [`pack`] has made.
///
/// # Errors
/// When the header is another, the data are damaged or no text.
pub(super) fn unpack(packed: &[u8]) -> Result<String> {
    let body = packed.strip_prefix(&HEADER).filter(|body| body.len() >= TRAILER);
    let Some((data, trailer)) = body.map(|body| body.split_at(body.len() - TRAILER)) else {
        bail!("no gzip without name and time")
    };
    let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(data, MOST_BYTES)
        .map_err(|error| anyhow::anyhow!("damaged gzip: {error}"))?;
    let expected = [crc32fast::hash(&bytes).to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
    if trailer != expected {
        bail!("damaged gzip: its checksum is of another text");
    }
    String::from_utf8(bytes).context("the gzip holds no text")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by Python 3.11: `gzip.compress(b".visible .entry x()\n" * 3, 9, mtime=0)`.
    const BY_PYTHON: &[u8] = &[
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 211, 43, 203, 44, 206, 76, 202, 73, 85, 208, 75, 205, 43, 41, 170, 84, 168,
        208, 208, 228, 210, 35, 82, 12, 0, 100, 251, 129, 10, 60, 0, 0, 0,
    ];

    #[test]
    fn what_another_program_has_packed_is_unpacked() {
        assert_eq!(unpack(BY_PYTHON).unwrap(), ".visible .entry x()\n".repeat(3));
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let long: String = (0..30_000).map(|i| format!("add.rn.f64 %fd{}, %fd{i};\n", i * i % 977)).collect();
        for text in ["", "x", "\u{e9}\n", &long] {
            let packed = pack(text);
            assert_eq!(unpack(&packed).unwrap(), text);
            assert_eq!(packed, pack(text));
        }
        assert!(pack(&long).len() < long.len() / 3);
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let packed = pack("add.rn.f64 %fd1, %fd2, %fd3;\n");
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 4;
            assert!(unpack(&damaged).is_err(), "byte {at}");
            assert!(unpack(&packed[..at]).is_err(), "{at} bytes");
        }
    }
}
