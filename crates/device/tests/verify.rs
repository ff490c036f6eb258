//! The whole report on machines as they come: its answer, its one line, its exit code, its JSON.

use octopus_device::{
    CHECK_IDS, DriverCode, DriverFacts, DriverFailure, Environment, FindingStatus, Needs, NoProvider, NvmlFacts,
    NvmlFailure, Overall, PciDevice, Provider, Question, SCHEMA, ScriptedProvider, SystemProvider, VerifyReport,
    verify, verify_with,
};
use std::fs;
use std::time::{Duration, Instant};

/// Ids of the checks that failed.
fn failed(report: &VerifyReport) -> Vec<&str> {
    report.with_status(FindingStatus::Fail).map(|finding| finding.id.as_str()).collect()
}

#[test]
fn a_fit_machine() {
    let report = verify(&ScriptedProvider::healthy());
    assert_eq!((report.overall, report.overall.exit_code()), (Overall::Fit, 0));
    assert_eq!(report.with_status(FindingStatus::Pass).count(), CHECK_IDS.len());
    assert_eq!(
        report.to_string(),
        "\
answers of the provider `scripted`, not of this machine
0: Scripted device, GPU-5c1f7ed0-0000-4000-8000-000000000000, compute capability 8.6, 84 SMs, \
47.0 of 48.0 GiB free, 210 of 2100 MHz, 25 of 300 W, 38 C, ECC off, persistence on
PASS  device-present      0: Scripted device
PASS  nvml-library        driver 550.54.15
PASS  driver-library      loaded, CUDA 12.4
PASS  version-match       both 550.54.15
PASS  library-copies      /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15
PASS  driver-init         1 device
PASS  fabric-manager      no NVSwitch
PASS  cuda-version        CUDA 12.4 (driver 550.54.15)
PASS  ptx-version         PTX up to 8.4 (CUDA 12.4)
PASS  ptx-compiler        /usr/lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.550.54.15
PASS  compute-capability  0: Scripted device has 8.6
PASS  device-memory       0: Scripted device has 47.0 of 48.0 GiB free
PASS  device-health       the device answers
PASS  compute-mode        default
PASS  mig-mode            not supported by the device
PASS  memory-errors       ECC off: errors go unseen
PASS  clocks              210 of 2100 MHz, P8, 38 C, held by idle
PASS  other-processes     none
PASS  visible-devices     unset
PASS  device-files        /dev/nvidia-uvm, /dev/nvidia0, /dev/nvidiactl
PASS  library-path        no libcuda on it
PASS  container-runtime   not in a container
PASS  wsl-driver          not under WSL
23 passed, 0 failed, 0 skipped
the GPU is fit for use"
    );
}

#[test]
fn a_machine_with_nothing_is_absent_and_says_so_in_one_line() {
    for report in [verify(&ScriptedProvider::empty()), verify(&NoProvider)] {
        assert_eq!((report.overall, report.overall.exit_code()), (Overall::Absent, 4));
        assert_eq!(report.with_status(FindingStatus::Skip).count(), CHECK_IDS.len());
        assert!(report.findings.iter().all(|finding| finding.cause.is_none() && finding.fix.is_none()));
        let text = report.to_string();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("answers of the provider")).collect();
        assert_eq!(
            lines,
            ["no NVIDIA GPU on this machine; Octopus runs on the CPU. \
              To use one: a card of compute capability 8.0 or newer with driver 550.54 or newer (docs/setup.md)"]
        );
    }
}

#[test]
fn an_installed_driver_without_a_card_is_absent_too() {
    let mut machine = ScriptedProvider::empty();
    machine.nvml = Err(NvmlFailure::DriverNotLoaded);
    machine.driver = Ok(DriverFacts { cuda_version: None, devices: 0, failure: Some(DriverCode::NO_DEVICE) });
    assert_eq!(verify(&machine).overall, Overall::Absent);
    machine.nvml = Ok(NvmlFacts::default());
    assert_eq!(verify(&machine).overall, Overall::Absent);
}

#[test]
fn an_empty_container_is_told_how_to_get_the_hosts_gpu() {
    let mut machine = ScriptedProvider::empty();
    machine.environment.container = Some("docker".into());
    let report = verify(&machine);
    assert_eq!(report.overall, Overall::Absent);
    assert_eq!(
        report.summary,
        "no NVIDIA GPU in this container (docker); Octopus runs on the CPU. \
         If the host has one, start the container with `--gpus all`"
    );
}

#[test]
fn windows_without_a_gpu_is_told_how_to_pass_one_on() {
    let mut machine = ScriptedProvider::empty();
    machine.environment.wsl = true;
    let report = verify(&machine);
    assert_eq!(report.overall, Overall::Absent);
    assert_eq!(
        report.summary,
        "no NVIDIA GPU in this WSL; Octopus runs on the CPU. \
         If Windows has one, update its NVIDIA driver to 551 or newer and run `wsl --update`"
    );
}

#[test]
fn a_card_without_its_driver_is_absent_with_the_fix() {
    let mut machine = ScriptedProvider::empty();
    machine.environment.pci_devices = vec![PciDevice { slot: "0000:01:00.0".into(), device: "0x2230".into() }];
    let report = verify(&machine);
    assert_eq!(report.overall.exit_code(), 4);
    assert_eq!(
        report.summary,
        "an NVIDIA card (PCI 0000:01:00.0) without its driver; Octopus runs on the CPU. \
         To use the card, install NVIDIA's driver, 550.54 or newer"
    );
    machine.environment.container = Some("docker".into());
    assert!(verify(&machine).summary.ends_with("start this container (docker) with `--gpus all`"));
}

#[test]
fn a_card_with_a_part_of_its_driver_is_broken() {
    let mut machine = ScriptedProvider::healthy();
    machine.nvml = Err(NvmlFailure::DriverNotLoaded);
    machine.driver = Ok(DriverFacts { cuda_version: None, devices: 0, failure: Some(DriverCode::NO_DEVICE) });
    machine.environment.device_files.clear();
    machine.environment.kernel_module = None;
    let report = verify(&machine);
    assert_eq!((report.overall, report.overall.exit_code()), (Overall::Broken, 1));
    assert_eq!(failed(&report), ["device-present", "nvml-library", "driver-init", "device-files"]);
    assert_eq!(
        report.summary,
        "the GPU is not fit for use: device-present, nvml-library, driver-init, device-files failed"
    );
}

#[test]
fn an_updated_driver_before_the_reboot_is_broken() {
    let mut machine = ScriptedProvider::healthy();
    machine.nvml = Err(NvmlFailure::VersionMismatch);
    machine.driver =
        Ok(DriverFacts { cuda_version: None, devices: 0, failure: Some(DriverCode::SYSTEM_DRIVER_MISMATCH) });
    let report = verify(&machine);
    assert_eq!(report.overall, Overall::Broken);
    assert!(failed(&report).contains(&"version-match"));
    // Seen from a container that shows neither files nor cards, the driver's own word suffices.
    machine.environment = Default::default();
    assert_eq!(verify(&machine).overall, Overall::Broken);
}

#[test]
fn hidden_devices_are_broken_not_absent() {
    let mut machine = ScriptedProvider::healthy();
    machine.environment.cuda_visible_devices = Some(String::new());
    machine.driver.as_mut().unwrap().devices = 0;
    machine.driver.as_mut().unwrap().failure = Some(DriverCode::NO_DEVICE);
    let report = verify(&machine);
    assert_eq!(report.overall, Overall::Broken);
    assert_eq!(failed(&report), ["driver-init", "visible-devices"]);
}

#[test]
fn one_device_can_be_judged_alone() {
    let mut machine = ScriptedProvider::healthy();
    let devices = &mut machine.nvml.as_mut().unwrap().devices;
    let mut full = devices[0].clone();
    (full.index, full.memory_free) = (1, Some(0));
    devices.push(full);
    machine.driver.as_mut().unwrap().devices = 2;
    let judge = |device| verify_with(&machine, Needs { device, ..Needs::default() });
    assert_eq!((judge(None).overall, judge(None).devices.len()), (Overall::Fit, 2));
    assert_eq!((judge(Some(0)).overall, judge(Some(0)).devices.len()), (Overall::Fit, 1));
    assert_eq!(failed(&judge(Some(1))), ["device-memory"]);
    assert_eq!(judge(Some(1)).devices[0].index, 1);
    assert_eq!(failed(&judge(Some(2))), ["device-present"]);
}

#[test]
fn deeper_checks_join_the_report_and_change_its_answer() {
    let question = Question { id: "matmul", title: "Matrix product", expected: "as on the CPU" };
    let report = verify(&ScriptedProvider::healthy());
    let good = report.clone().with_findings([question.pass("equal bits")]);
    assert_eq!((good.overall, good.findings.len()), (Overall::Fit, CHECK_IDS.len() + 1));
    assert!(good.to_string().contains("\nPASS  matmul              equal bits\n24 passed, 0 failed, 0 skipped\n"));
    let bad = good.with_findings([question.fail("3 of 1000000 differ", "the device computes wrongly", "reset it")]);
    assert_eq!(bad.overall, Overall::Broken);
    assert_eq!(bad.summary, "the GPU is not fit for use: matmul failed");
    let absent = verify(&NoProvider).with_findings([question.skip("no device")]);
    assert_eq!((absent.overall, absent.findings.len()), (Overall::Absent, CHECK_IDS.len() + 1));
}

#[test]
fn the_software_gpu_is_never_taken_for_a_gpu() {
    let mut machine = ScriptedProvider::healthy();
    machine.nvml.as_mut().unwrap().devices[0].name = Some("Octopus software GPU (test double)".into());
    let report = verify(&machine);
    assert_eq!(
        (report.overall, report.summary.as_str()),
        (Overall::Fit, "the software GPU (a test double, no measurement of a GPU) is fit for use")
    );
}

/// A provider's answers on a machine where the driver is not installed.
struct WithoutDriver(SystemProvider);

impl Provider for WithoutDriver {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn nvml(&self) -> Result<NvmlFacts, NvmlFailure> {
        self.0.nvml()
    }

    fn driver(&self) -> Result<DriverFacts, DriverFailure> {
        ScriptedProvider::empty().driver
    }

    fn environment(&self) -> Environment {
        self.0.environment()
    }
}

#[test]
fn a_library_that_is_named_and_does_not_load_is_a_fault() {
    let mut machine = ScriptedProvider::empty();
    machine.environment.octopus_libcuda = Some("/opt/mine/libcuda.so".into());
    let report = verify(&machine);
    assert_eq!(report.overall, Overall::Broken);
    assert!(failed(&report).contains(&"driver-library"));
}

#[test]
fn the_real_provider_loads_the_library_it_is_given() {
    let failure = SystemProvider::new().with_nvml("/none/mine.so").nvml().unwrap_err();
    assert!(
        matches!(&failure, NvmlFailure::LibraryMissing { library, .. } if library == "/none/mine.so"),
        "{failure:?}"
    );
}

#[test]
fn the_real_provider_reads_below_the_root_it_is_given() {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n"),
        ("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n"),
        ("usr/lib/wsl/lib/libcuda.so.1.1", ""),
        ("usr/lib/x86_64-linux-gnu/libcuda.so.1", ""),
        ("run/.containerenv", ""),
    ] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let missing = root.path().join("none.so");
    let report = verify(&WithoutDriver(SystemProvider::new().with_nvml(&missing).with_root(root.path())));
    assert_eq!(
        report.summary,
        "an NVIDIA card (PCI 0000:01:00.0) without its driver; Octopus runs on the CPU. \
         To use the card, start this container (podman) with `--gpus all`"
    );
    let paths: Vec<&str> = report.environment.driver_libraries.iter().map(|copy| copy.path.as_str()).collect();
    assert_eq!(paths, ["/usr/lib/x86_64-linux-gnu/libcuda.so.1"]);
}

#[test]
fn every_failure_has_a_cause_and_a_one_line_fix() {
    let mut machine = ScriptedProvider::empty();
    machine.environment = ScriptedProvider::healthy().environment;
    machine.environment.cuda_visible_devices = Some("nonsense".into());
    machine.environment.kernel_module = None;
    let report = verify(&machine);
    assert!(report.with_status(FindingStatus::Fail).count() >= 4);
    assert!(report.to_issue_block().contains("     cause: "));
    for finding in &report.findings {
        let expected = finding.status == FindingStatus::Fail;
        assert_eq!((finding.cause.is_some(), finding.fix.is_some()), (expected, expected), "{finding:?}");
        assert!(finding.fix.as_deref().is_none_or(|fix| !fix.contains('\n')));
    }
    let text = report.to_string();
    for line in ["      expected: ", "      cause:    ", "      fix:      "] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn json_comes_back_equal_and_names_its_schema() {
    for machine in [ScriptedProvider::healthy(), ScriptedProvider::empty()] {
        let report = verify(&machine);
        let json = report.to_json();
        assert_eq!(serde_json::from_str::<VerifyReport>(&json).unwrap(), report);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["schema"], SCHEMA);
        assert_eq!(value["provider"], "scripted");
        assert_eq!(value["findings"].as_array().unwrap().len(), CHECK_IDS.len());
    }
    let value: serde_json::Value = serde_json::from_str(&verify(&ScriptedProvider::healthy()).to_json()).unwrap();
    assert_eq!(value["overall"], "fit");
    assert_eq!(value["cuda_version"], "12.4");
    assert_eq!(value["devices"][0]["mig"], serde_json::Value::Null);
    assert_eq!(value["findings"][0]["status"], "PASS");
}

#[test]
fn this_machine_is_judged_quickly_and_consistently() {
    let timed = || {
        let start = Instant::now();
        (verify(&SystemProvider::new()), start.elapsed())
    };
    // The best of five: another test may have the processor.
    let (report, took) = (0..5).map(|_| timed()).min_by_key(|(_, took)| *took).unwrap();
    assert_eq!(report.provider, "system");
    assert_eq!(report.overall == Overall::Broken, report.with_status(FindingStatus::Fail).count() > 0);
    if report.overall == Overall::Absent {
        assert!(report.devices.is_empty());
        assert!(took < Duration::from_millis(100), "{took:?}");
    } else {
        eprintln!("this machine has an NVIDIA device: {}", report.summary);
    }
}
