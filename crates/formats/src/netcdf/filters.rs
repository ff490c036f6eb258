//! The filters (compression) of HDF5 that the reader itself lacks: Zstandard and Blosc are read, others are refused
//! by their names.

use crate::zarr;
use hdf5_reader::error::Error;
use hdf5_reader::filters::FilterRegistry;

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

/// Returns the filters with which files are read; no chunk may unpack to more than `most` bytes.
pub(super) fn registry(most: usize) -> FilterRegistry {
    let mut filters = FilterRegistry::new();
    let read = |decode: fn(&[u8], usize) -> Result<Vec<u8>, String>| {
        Box::new(move |_: &_, bytes: &[u8], _: usize| decode(bytes, most).map_err(Error::DecompressionError))
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use hdf5_reader::messages::filter_pipeline::FilterDescription;

    fn apply(id: u16, bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
        let filter = FilterDescription { id, name: None, client_data: Vec::new() };
        registry(most).apply(&filter, bytes, 1).map_err(|error| error.to_string())
    }

    #[test]
    fn usual_filters_are_read_or_named() {
        // RFC 8878: the magic number, a frame of one segment of four bytes, its last block as it is.
        let zstandard = b"\x28\xb5\x2f\xfd\x20\x04\x21\0\0four";
        assert_eq!(apply(32015, zstandard, 4), Ok(b"four".to_vec()));
        assert!(apply(32015, zstandard, 3).unwrap_err().contains("more than the 3 bytes"));
        let blosc = b"\x02\x01\x02\x01\x04\0\0\0\x04\0\0\0\x14\0\0\0four";
        assert_eq!(apply(32001, blosc, 4), Ok(b"four".to_vec()));
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
