//! The real provider, against the software GPU: all code that asks NVIDIA's libraries runs here, on any machine. Each
//! machine is a process of its own, since a driver is loaded once.

use octopus_device::{
    ComputeMode, DeviceInfo, DriverCode, DriverFacts, DriverFailure, NvmlFacts, NvmlFailure, Overall, ProcessKind,
    Provider, SystemProvider, VerifyReport, Version, verify,
};
use octopus_softgpu::{Settings, SoftwareGpu};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;

/// Where a process that was started by a test leaves its answers.
const ANSWERS: &str = "OCTOPUS_TEST_ANSWERS";

#[derive(Debug, Serialize, Deserialize)]
struct Answers {
    nvml: Result<NvmlFacts, NvmlFailure>,
    driver: Result<DriverFacts, DriverFailure>,
    again: Result<DriverFacts, DriverFailure>,
    driver_devices: Vec<DeviceInfo>,
    report: VerifyReport,
}

/// The test that is no test: what the started process runs.
#[test]
#[ignore = "started by other tests"]
fn started_by_a_test() {
    let path = std::env::var_os(ANSWERS).expect("another test starts this one");
    let machine = SystemProvider::new();
    let answers = Answers {
        nvml: machine.nvml(),
        driver: machine.driver(),
        again: machine.driver(),
        driver_devices: machine.driver_devices(),
        report: verify(&machine),
    };
    std::fs::write(path, serde_json::to_string(&answers).unwrap()).unwrap();
}

/// The answers of a process for which `set` makes the machine.
fn ask(set: impl FnOnce(&mut Command)) -> Answers {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.json");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "started_by_a_test", "--ignored", "--test-threads=1"]).env(ANSWERS, &path);
    set(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn ask_gpu(gpu: &SoftwareGpu, settings: &Settings) -> Answers {
    ask(|command| {
        gpu.command(command, settings);
    })
}

#[test]
fn a_driver_that_starts_counts_its_devices() {
    let Some(gpu) = SoftwareGpu::for_test() else { return };
    let answers = ask_gpu(&gpu, &Settings::new().driver(12_080).devices(3));
    let facts = answers.driver.unwrap();
    assert_eq!(facts.cuda_version, Some(Version { major: 12, minor: 8 }));
    assert_eq!((facts.devices, facts.failure), (3, None));
    // The driver may be asked again.
    assert_eq!(answers.again.unwrap(), facts);
}

#[test]
fn a_driver_describes_its_devices() {
    let Some(gpu) = SoftwareGpu::for_test() else { return };
    let (default, exclusive) = (ComputeMode::Default, ComputeMode::Exclusive);
    let modes = [default, exclusive, ComputeMode::Prohibited, exclusive];
    for (mode, expected) in modes.into_iter().enumerate() {
        let settings = Settings::new().memory(48 << 10, 40 << 10).clock(1_410).ecc(true).compute_mode(mode as u32);
        let devices = ask_gpu(&gpu, &settings).driver_devices;
        let [device] = &devices[..] else { panic!("{devices:?}") };
        assert_eq!((device.index, device.name.as_deref()), (0, Some("Octopus software GPU (test double)")));
        assert!(device.uuid.as_deref().unwrap().starts_with("GPU-") && device.pci_slot.is_some(), "{device:?}");
        assert_eq!((device.memory_total, device.sm_count), (Some(48 << 30), Some(84)));
        assert_eq!(device.compute_capability, Some(Version { major: 8, minor: 6 }));
        assert_eq!((device.sm_clock_max_mhz, device.memory_clock_max_mhz), (Some(1_410), Some(8_001)));
        assert_eq!((device.ecc, device.compute_mode), (Some(true), Some(expected)), "{mode}");
    }
    let none = ask_gpu(&gpu, &Settings::new().devices(2).clock(0).fail("cuDeviceGetName", 999)).driver_devices;
    assert_eq!((none[0].sm_clock_max_mhz, none[0].name.as_deref()), (None, None));
    assert_eq!(none.iter().map(|device| device.index).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_driver_that_does_not_start_keeps_its_code_and_tells_its_version() {
    let Some(gpu) = SoftwareGpu::for_test() else { return };
    // 12345 is no code of any driver: it must come back as it is.
    for code in [34, 100, 802, 803, 12345] {
        let facts = ask_gpu(&gpu, &Settings::new().driver(11_040).fail("cuInit", code)).driver.unwrap();
        assert_eq!(facts.cuda_version, Some(Version { major: 11, minor: 4 }));
        assert_eq!((facts.devices, facts.failure), (0, Some(DriverCode(code))));
    }
    let facts = ask_gpu(&gpu, &Settings::new().fail("cuDeviceGetCount", 999)).driver.unwrap();
    assert_eq!((facts.devices, facts.failure), (0, Some(DriverCode::UNKNOWN)));
    let facts = ask_gpu(&gpu, &Settings::new().fail("cuDriverGetVersion", 1)).driver.unwrap();
    assert_eq!((facts.cuda_version, facts.failure), (None, Some(DriverCode(1))));
}

#[test]
fn a_library_that_is_no_driver_is_told_apart_from_none() {
    let Some(gpu) = SoftwareGpu::for_test() else { return };
    let with = |library: &Path| {
        ask(|command| {
            gpu.command(command, "").env("OCTOPUS_LIBCUDA", library);
        })
    };
    let Err(DriverFailure::SymbolMissing { library, symbol }) = with(&gpu.libnvml()).driver else { panic!() };
    assert_eq!((Path::new(&library), symbol.as_str()), (gpu.libnvml().as_path(), "cuDriverGetVersion"));
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.so");
    std::fs::write(&text, "not a library").unwrap();
    assert!(matches!(with(&text).driver, Err(DriverFailure::LibraryMissing { .. })));
    // NVML's side: a library without its functions.
    let nvml = SystemProvider::new().with_nvml(gpu.libcuda()).nvml();
    assert!(matches!(nvml, Err(NvmlFailure::Other { .. } | NvmlFailure::LibraryMissing { .. })), "{nvml:?}");
}

#[test]
fn nvml_describes_its_devices_and_leaves_out_what_they_refuse() {
    let Some(gpu) = SoftwareGpu::for_test() else { return };
    let settings = Settings::new()
        .devices(2)
        .memory(48 << 10, 40 << 10)
        .clock(1_410)
        .power(24_500)
        .temperature(38)
        .ecc(true)
        .processes(2)
        .fail("nvmlDeviceGetGraphicsRunningProcesses_v3", 3)
        .fail("nvmlDeviceGetUtilizationRates", 3)
        .fail("nvmlDeviceGetPersistenceMode", 3)
        .fail("nvmlDeviceGetHandleByIndex_v2", 15)
        .at_call(2);
    let facts = ask_gpu(&gpu, &settings).nvml.unwrap();
    assert_eq!(facts.driver_version.as_deref(), Some("550.90.07"));
    assert_eq!(facts.cuda_version, Some(Version { major: 12, minor: 4 }));
    let [device, lost] = &facts.devices[..] else { panic!("{facts:?}") };
    assert_eq!(device.name.as_deref(), Some("Octopus software GPU (test double)"));
    assert!(device.is_test_double() && device.uuid.as_deref().unwrap().starts_with("GPU-"));
    assert_eq!((device.memory_total, device.memory_free), (Some(48 << 30), Some(40 << 30)));
    assert_eq!(device.compute_capability, Some(Version { major: 8, minor: 6 }));
    assert_eq!((device.sm_clock_mhz, device.sm_count), (Some(1410), Some(84)));
    assert_eq!((device.power_watts, device.temperature_celsius), (Some(24.5), Some(38)));
    assert_eq!((device.ecc, device.problem.as_deref()), (Some(true), None));
    assert_eq!((device.utilization_percent, device.persistence), (None, None));
    // What draws is not told, what computes is.
    let processes = device.processes.as_ref().unwrap();
    assert_eq!(processes.len(), 2, "{processes:?}");
    assert!(processes.iter().all(|process| process.kind == ProcessKind::Compute && process.memory.is_some()));
    assert_eq!((lost.index, lost.name.as_deref()), (1, None));
    assert!(lost.problem.as_deref().unwrap().contains("fell off the bus"));
}

#[test]
fn nvml_tells_what_is_split_and_what_is_lost() {
    let Some(gpu) = SoftwareGpu::for_test() else { return };
    let device = |settings: Settings| ask_gpu(&gpu, &settings).nvml.unwrap().devices.swap_remove(0);
    assert_eq!([true, false].map(|on| device(Settings::new().mig(on)).mig), [Some(true), Some(false)]);
    // A device that is lost (15) has a problem; one that does not support the question (3) has none.
    let lost = device(Settings::new().fail("nvmlDeviceGetMemoryInfo_v2", 15));
    assert!(lost.problem.as_deref().is_some_and(|words| words.contains("fell off the bus")), "{lost:?}");
    let silent = device(Settings::new().fail("nvmlDeviceGetMemoryInfo_v2", 3));
    assert_eq!((silent.problem, silent.memory_total, silent.memory_free), (None, None, None));
}

#[test]
fn nvml_that_does_not_start_says_why() {
    let Some(gpu) = SoftwareGpu::for_test() else { return };
    for (code, expected) in [
        (18, NvmlFailure::VersionMismatch),
        (9, NvmlFailure::DriverNotLoaded),
        (4, NvmlFailure::NoPermission),
        (16, NvmlFailure::Other { detail: "device requires a reset before it can be used again".into() }),
    ] {
        assert_eq!(ask_gpu(&gpu, &Settings::new().fail("nvmlInit_v2", code)).nvml, Err(expected));
    }
}

#[test]
fn missing_libraries_are_an_answer() {
    let answers = ask(|command| {
        command.env("OCTOPUS_LIBCUDA", "/none/cuda.so").env("OCTOPUS_LIBNVML", "/none/nvml.so");
    });
    assert!(matches!(answers.nvml, Err(NvmlFailure::LibraryMissing { library, .. }) if library == "/none/nvml.so"));
    assert!(matches!(answers.driver, Err(DriverFailure::LibraryMissing { library, .. }) if library == "/none/cuda.so"));
}

#[test]
fn a_machine_with_a_lost_device_is_broken() {
    let Some(gpu) = SoftwareGpu::for_test() else { return };
    let report = ask_gpu(&gpu, &Settings::new().fail("nvmlDeviceGetHandleByIndex_v2", 15)).report;
    assert_eq!((report.provider.as_str(), report.overall), ("system", Overall::Broken));
    let health = report.findings.iter().find(|finding| finding.id == "device-health").unwrap();
    assert!(health.observed.contains("fell off the bus"), "{health:?}");
}
