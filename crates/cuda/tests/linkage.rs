//! A program with this crate needs no NVIDIA library to start, and shows none of the driver's symbols to others.
#![cfg(feature = "cuda")]

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// What `readelf` says of a program; `None`, said aloud, where there is no readelf.
fn readelf(option: &str, program: &Path) -> Option<String> {
    match Command::new("readelf").args([option, "--wide"]).arg(program).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("SKIPPED: readelf (binutils) is not installed");
            None
        }
        Err(error) => panic!("readelf: {error}"),
    }
}

#[test]
fn the_program_is_not_linked_to_libcuda_and_exports_none_of_its_symbols() {
    // This test itself is such a program, as long as it calls the driver.
    let _ = octopus_cuda::driver_start();
    let program = std::env::current_exe().unwrap();
    let Some(dynamic) = readelf("--dynamic", &program) else { return };
    assert!(dynamic.contains("(NEEDED)") && dynamic.contains("libc.so"), "{dynamic}");
    assert!(!dynamic.contains("libcuda") && !dynamic.contains("nvidia"), "{dynamic}");
    let exported = readelf("--dyn-syms", &program).unwrap();
    let ours: Vec<&str> = exported.lines().filter(|line| line.contains(" cu")).collect();
    assert!(ours.is_empty(), "{ours:?}");
    // The symbols are there, or the test proves nothing.
    let all = readelf("--symbols", &program).unwrap();
    assert!(all.lines().any(|line| line.ends_with(" cuInit")), "the shim is not in the program");
}
