//! Files as a run folder: run.toml, checkpoint, parts.
#![no_main]

#[path = "../folder.rs"]
mod folder;
mod scratch;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let dir = scratch::scratch();
    folder::unpack(bytes, dir.path());
    let _ = octopus_runs::RunFolder::open(dir.path()).and_then(|run| run.read());
});
