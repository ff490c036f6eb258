//! The filters (compression) of HDF5 that the reader itself lacks: Zstandard and Blosc are read, others are refused
//! by their names. Shuffled bytes are put together here, since the reader goes through a chunk once for each byte of a
//! value. Deflate is here, too: three quarters of the time of reading a trace, and fdeflate takes a quarter less of it
//! than flate2's decoder.

use crate::zarr;
use fdeflate::BoundedDecompressionError;
use hdf5_reader::error::Error;
use hdf5_reader::filters::{FILTER_DEFLATE, FILTER_SHUFFLE, FilterRegistry};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const BLOSC: u16 = 32001;
const ZSTANDARD: u16 = 32015;

/// Filters that are not read, by their registered numbers
/// (<https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md>).
const OTHERS: [(u16, &str); 14] = [
    (305, "LZO"),
    (307, "bzip2"),
    (32000, "LZF"),
    (32008, "Bitshuffle"),
    (32013, "ZFP"),
    (32017, "SZ"),
    (32018, "FPZIP"),
    (32019, "JPEG"),
    (32022, "BitGroom"),
    (32023, "Granular BitRound"),
    (32024, "SZ3"),
    (32026, "Blosc2"),
    (32027, "FCI"),
    (32029, "JPEG-LS"),
];

/// How many bytes a chunk may unpack to: more is damage.
#[derive(Clone, Debug)]
pub(super) struct ChunkLimit(Arc<AtomicUsize>);

impl ChunkLimit {
    pub(super) fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Sets the limit for chunks that are read from now on.
    pub(super) fn set(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns the filters with which files are read; no chunk may unpack to more than `limit`.
pub(super) fn registry(limit: &ChunkLimit) -> FilterRegistry {
    let mut filters = FilterRegistry::new();
    let read = |decode: fn(&[u8], usize) -> Result<Vec<u8>, String>| {
        let limit = limit.clone();
        Box::new(move |_: &_, bytes: &[u8], _: usize| decode(bytes, limit.get()).map_err(Error::DecompressionError))
    };
    filters.register(FILTER_DEFLATE, read(inflated));
    filters.register(FILTER_SHUFFLE, Box::new(|_, bytes, width| Ok(zarr::unshuffle(bytes, width.max(1)))));
    filters.register(ZSTANDARD, read(zarr::zstandard));
    filters.register(BLOSC, read(zarr::blosc));
    for (id, name) in OTHERS {
        let what = format!(
            "{name} (filter {id}), which this octopus cannot read: write it with deflate or zstd, e.g. \
             `h5repack -f GZIP=1 OLD NEW`"
        );
        filters.register(id, Box::new(move |_, _, _| Err(Error::UnsupportedFilter(what.clone()))));
    }
    filters
}

/// Undoes deflate (zlib), to at most `limit` bytes.
fn inflated(bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    fdeflate::decompress_to_vec_bounded(bytes, limit).map_err(|error| match error {
        BoundedDecompressionError::DecompressionError { inner } => {
            format!("deflate: its bytes are damaged ({inner:?})")
        }
        BoundedDecompressionError::OutputTooLarge { .. } => {
            format!("deflate: it unpacks to more than the {limit} bytes that fit")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdf5_reader::messages::filter_pipeline::FilterDescription;

    fn apply(id: u16, bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
        let filter = FilterDescription { id, name: None, client_data: Vec::new() };
        registry(&ChunkLimit::new(most)).apply(&filter, bytes, 2).map_err(|error| error.to_string())
    }

    #[test]
    fn usual_filters_are_read_or_named() {
        // RFC 8878: the magic number, a frame of one segment of four bytes, its last block as it is.
        let zstandard = b"\x28\xb5\x2f\xfd\x20\x04\x21\0\0four";
        assert_eq!(apply(32015, zstandard, 4), Ok(b"four".to_vec()));
        assert!(apply(32015, zstandard, 3).unwrap_err().contains("more than the 3 bytes"));
        let blosc = b"\x02\x01\x02\x01\x04\0\0\0\x04\0\0\0\x14\0\0\0four";
        assert_eq!(apply(32001, blosc, 4), Ok(b"four".to_vec()));
        // RFC 1950 and 1951: a header, one block of four bytes as it is, and the checksum of Adler.
        let deflate = b"\x78\x01\x01\x04\0\xfb\xfffour\x04\x45\x01\xbd";
        assert_eq!(apply(1, deflate, 4), Ok(b"four".to_vec()));
        assert!(apply(1, deflate, 3).unwrap_err().contains("more than the 3 bytes"));
        assert!(apply(1, &deflate[..9], 4).unwrap_err().contains("deflate: "));
        assert!(apply(1, b"\x78\x01\x01\x04\0\xfb\xfffour\x04\x45\x01\xbe", 5).unwrap_err().contains("deflate: "));
        // Two values of two bytes.
        assert_eq!(apply(2, b"fuor", 4), Ok(b"four".to_vec()));
        // As the HDF Group has registered them.
        let registered = [
            "305 LZO",
            "307 bzip2",
            "32000 LZF",
            "32008 Bitshuffle",
            "32013 ZFP",
            "32017 SZ",
            "32018 FPZIP",
            "32019 JPEG",
            "32022 BitGroom",
            "32023 Granular BitRound",
            "32024 SZ3",
            "32026 Blosc2",
            "32027 FCI",
            "32029 JPEG-LS",
        ];
        assert_eq!(OTHERS.map(|(id, name)| format!("{id} {name}")), registered);
        for (id, name) in OTHERS {
            let told = apply(id, b"four", 4).unwrap_err();
            assert!(told.contains(name) && told.contains(&id.to_string()) && told.contains("h5repack"), "{told}");
        }
    }
}
