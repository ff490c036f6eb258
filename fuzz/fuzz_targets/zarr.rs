//! Files as a Zarr store of either version.
#![no_main]

#[path = "../folder.rs"]
mod folder;
mod scratch;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let dir = scratch::scratch();
    folder::unpack(bytes, dir.path());
    let _ = octopus_formats::read_zarr(dir.path());
});
