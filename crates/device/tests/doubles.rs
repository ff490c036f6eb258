//! The real provider against stand-ins of NVIDIA's libraries: the code that calls C is run here, on any
//! machine. The stand-ins are built by the compiler that builds this test.

use octopus_device::{DriverCode, DriverFailure, NvmlFailure, Overall, Provider, SystemProvider, Version, verify};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds `tests/doubles/<name>.rs` with the given answers; `None`, said aloud, where rustc is not at hand.
fn build(folder: &Path, name: &str, answers: &[(&str, &str)]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doubles").join(name).with_extension("rs");
    let label: String = answers.iter().map(|(_, value)| format!("-{value}")).collect();
    let library = folder.join(format!("{name}{label}.so"));
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args(["--edition=2024", "-A", "nonstandard_style", "-o"])
        .arg(&library)
        .arg(source)
        .envs(answers.iter().copied())
        .status();
    match built {
        Ok(status) => {
            assert!(status.success(), "the stand-in {name} does not build");
            Some(library)
        }
        Err(error) => {
            eprintln!("SKIPPED: no rustc to build the stand-in {name} with: {error}");
            None
        }
    }
}

fn cuda(folder: &Path, version: &str, init: &str, devices: &str) -> Option<SystemProvider> {
    let answers = [("DOUBLE_VERSION", version), ("DOUBLE_INIT", init), ("DOUBLE_DEVICES", devices)];
    Some(SystemProvider::with_libraries(folder.join("no-nvml.so"), build(folder, "libcuda", &answers)?))
}

fn nvml(folder: &Path, init: &str) -> Option<SystemProvider> {
    let library = build(folder, "libnvml", &[("DOUBLE_INIT", init)])?;
    Some(SystemProvider::with_libraries(library, folder.join("no-cuda.so")))
}

#[test]
fn a_driver_that_starts_counts_its_devices() {
    let folder = tempfile::tempdir().unwrap();
    let Some(provider) = cuda(folder.path(), "12080", "0", "3") else { return };
    let facts = provider.driver().unwrap();
    assert_eq!(facts.cuda_version, Some(Version { major: 12, minor: 8 }));
    assert_eq!((facts.devices, facts.failure), (3, None));
    // The driver may be asked again.
    assert_eq!(provider.driver().unwrap(), facts);
}

#[test]
fn a_driver_that_does_not_start_keeps_its_code_and_tells_its_version() {
    let folder = tempfile::tempdir().unwrap();
    // 12345 is no code of any driver: it must come back as it is.
    for code in [100, 802, 803, 12345] {
        let Some(provider) = cuda(folder.path(), "11040", &code.to_string(), "1") else { return };
        let facts = provider.driver().unwrap();
        assert_eq!(facts.cuda_version, Some(Version { major: 11, minor: 4 }));
        assert_eq!((facts.devices, facts.failure), (0, Some(DriverCode(code))));
    }
}

#[test]
fn a_library_that_is_no_driver_is_told_apart_from_none() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = build(folder.path(), "libnvml", &[("DOUBLE_INIT", "0")]) else { return };
    let provider = SystemProvider::with_libraries(folder.path().join("none.so"), &library);
    let Err(DriverFailure::SymbolMissing { library: named, symbol }) = provider.driver() else { panic!() };
    assert_eq!((Path::new(&named), symbol.as_str()), (library.as_path(), "cuDriverGetVersion"));
    std::fs::write(folder.path().join("text.so"), "not a library").unwrap();
    let provider = SystemProvider::with_libraries(folder.path().join("none.so"), folder.path().join("text.so"));
    assert!(matches!(provider.driver(), Err(DriverFailure::LibraryMissing { .. })));
}

#[test]
fn nvml_describes_its_devices_and_leaves_out_what_they_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let Some(provider) = nvml(folder.path(), "0") else { return };
    let facts = provider.nvml().unwrap();
    assert_eq!(facts.driver_version.as_deref(), Some("550.54.15"));
    assert_eq!(facts.cuda_version, Some(Version { major: 12, minor: 4 }));
    let [device, lost] = &facts.devices[..] else { panic!("{facts:?}") };
    assert_eq!(device.name.as_deref(), Some("Test double"));
    assert_eq!(device.uuid.as_deref(), Some("GPU-00000000-dead-4000-8000-000000000000"));
    assert_eq!((device.memory_total, device.memory_free), (Some(48 << 30), Some(40 << 30)));
    assert_eq!(device.compute_capability, Some(Version { major: 8, minor: 6 }));
    assert_eq!((device.sm_clock_mhz, device.memory_clock_mhz), (Some(1410), None));
    assert_eq!((device.power_watts, device.temperature_celsius), (Some(24.5), Some(38)));
    assert_eq!((device.ecc, device.mig, device.problem.as_deref()), (Some(true), None, None));
    // Functions that this library lacks altogether.
    assert_eq!((device.cuda_cores, device.persistence, device.compute_mode), (None, None, None));
    assert_eq!((lost.index, lost.name.as_deref()), (1, None));
    assert!(lost.problem.as_deref().unwrap().contains("fell off the bus"));
}

#[test]
fn nvml_that_does_not_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for (code, expected) in [
        ("18", NvmlFailure::VersionMismatch),
        ("9", NvmlFailure::DriverNotLoaded),
        ("4", NvmlFailure::NoPermission),
        ("16", NvmlFailure::Other { detail: "device requires a reset before it can be used again".into() }),
    ] {
        let Some(provider) = nvml(folder.path(), code) else { return };
        assert_eq!(provider.nvml(), Err(expected));
    }
}

#[test]
fn missing_libraries_are_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let provider = SystemProvider::with_libraries(folder.path().join("nvml.so"), folder.path().join("cuda.so"));
    assert!(
        matches!(provider.nvml(), Err(NvmlFailure::LibraryMissing { library, .. }) if library.ends_with("nvml.so"))
    );
    assert!(
        matches!(provider.driver(), Err(DriverFailure::LibraryMissing { library, .. }) if library.ends_with("cuda.so"))
    );
}

#[test]
fn a_machine_with_a_lost_device_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = build(folder.path(), "libnvml", &[("DOUBLE_INIT", "0")]) else { return };
    let report = verify(&SystemProvider::with_libraries(library, folder.path().join("no-cuda.so")));
    assert_eq!((report.provider.as_str(), report.overall), ("system", Overall::Broken));
    let health = report.findings.iter().find(|finding| finding.id == "device-health").unwrap();
    assert!(health.observed.contains("fell off the bus"), "{health:?}");
}
