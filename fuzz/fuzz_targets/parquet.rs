//! Bytes as a Parquet file.
#![no_main]

mod scratch;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let folder = scratch::scratch();
    let path = folder.path().join("trace");
    std::fs::write(&path, bytes).expect("no room for a file");
    let _ = octopus_formats::read_parquet(&path);
});
