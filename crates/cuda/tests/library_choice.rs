//! Which driver library is opened, and what a program says without one. A process opens one, so each case is a
//! process of its own: this file's tests call themselves with `OCTOPUS_CUDA_TEST_INSIDE`.
#![cfg(feature = "cuda")]

use octopus_cuda::{CudaError, Device, driver_start, set_driver_library};
use std::process::Command;
use std::time::{Duration, Instant};

const INSIDE: &str = "OCTOPUS_CUDA_TEST_INSIDE";

/// Runs this test again with the variable, or says that this is that run.
fn inside(test: &str, library: Option<&str>) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(INSIDE, "1").env_remove("OCTOPUS_LIBCUDA");
    if let Some(library) = library {
        command.env("OCTOPUS_LIBCUDA", library);
    }
    let output = command.output().unwrap();
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}{said}");
    // What it could not test.
    eprint!("{said}");
    false
}

#[test]
fn the_variable_names_another_file() {
    if inside("the_variable_names_another_file", Some("/no/such/driver.so")) {
        let words = driver_start().unwrap_err().to_string();
        assert!(words.starts_with("the CUDA driver library /no/such/driver.so cannot be opened ("), "{words}");
        assert!(words.ends_with("): install the NVIDIA driver, or run on the CPU"), "{words}");
    }
}

#[test]
fn the_program_chooses_before_the_variable_and_only_in_time() {
    if inside("the_program_chooses_before_the_variable_and_only_in_time", Some("/no/such/driver.so")) {
        set_driver_library("/first").unwrap();
        set_driver_library("/chosen").unwrap();
        let error = Device::all().unwrap_err();
        assert!(matches!(&error, CudaError::LibraryMissing { library, .. } if library == "/chosen"), "{error}");
        let late = set_driver_library("/late").unwrap_err();
        assert_eq!(
            late.to_string(),
            "/late cannot be used, /chosen is open already: choose the driver library before the first CUDA call"
        );
    }
}

#[test]
fn an_empty_variable_names_nothing() {
    if inside("an_empty_variable_names_nothing", Some("")) {
        match driver_start() {
            Err(CudaError::LibraryMissing { library, .. }) => assert_eq!(library, "libcuda.so.1"),
            answer => eprintln!("SKIPPED: this machine has a driver: {answer:?}"),
        }
    }
}

#[test]
fn a_library_that_is_no_driver_is_named_with_what_it_lacks() {
    // The C library is on every machine, and no driver.
    if inside("a_library_that_is_no_driver_is_named_with_what_it_lacks", Some("libc.so.6")) {
        let error = driver_start().unwrap_err();
        assert_eq!(
            error,
            CudaError::SymbolMissing { library: "libc.so.6".into(), symbol: "cuDriverGetVersion".into() }
        );
        assert_eq!(
            error.to_string(),
            "libc.so.6 has no function cuDriverGetVersion: install an NVIDIA driver that supports CUDA 12.4 or newer"
        );
        let CudaError::SymbolMissing { symbol, .. } = Device::get(0).unwrap_err() else { panic!("another error") };
        assert_eq!(symbol, "cuInit");
    }
}

#[test]
fn absence_is_found_in_less_than_ten_milliseconds() {
    const LIMIT: Duration = Duration::from_millis(10);
    if std::env::var_os(INSIDE).is_some() {
        let clock = Instant::now();
        driver_start().unwrap_err();
        let time = clock.elapsed();
        assert!(time < LIMIT, "{time:?}");
        return;
    }
    // The machine may be busy: the best of some processes counts.
    let name = "absence_is_found_in_less_than_ten_milliseconds";
    let quick = || std::panic::catch_unwind(|| inside(name, Some("/no/such/driver.so"))).is_ok();
    assert!((0..5).any(|_| quick()));
}
