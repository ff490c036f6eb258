//! Each check on a machine that it must refuse: the whole way from the facts to the exit code.

use octopus_device::{
    Access, CHECK_IDS, ComputeMode, DeviceInfo, DeviceProcess, DriverCode, DriverFacts, Environment, FindingStatus,
    FoundBy, LibraryCopy, Needs, NvmlFacts, NvmlFailure, Overall, ProcessKind, ScriptedProvider, Throttle, Version,
    verify_with,
};
use std::collections::BTreeSet;

/// What is broken, and the checks that must say so; no others may.
struct Fault {
    name: &'static str,
    break_it: fn(&mut ScriptedProvider),
    failed: &'static [&'static str],
}

fn device(machine: &mut ScriptedProvider) -> &mut DeviceInfo {
    &mut machine.nvml.as_mut().unwrap().devices[0]
}

fn driver(machine: &mut ScriptedProvider) -> &mut DriverFacts {
    machine.driver.as_mut().unwrap()
}

fn refuse(machine: &mut ScriptedProvider, code: u32) {
    (driver(machine).devices, driver(machine).failure) = (0, Some(DriverCode(code)));
}

fn first_library(machine: &mut ScriptedProvider, file: &str, version: Option<&str>, found: FoundBy) {
    let version = version.map(str::to_owned);
    machine
        .environment
        .driver_libraries
        .insert(0, LibraryCopy { path: file.into(), file: file.into(), version, found });
}

const FAULTS: &[Fault] = &[
    Fault {
        name: "the card fell off the bus before the driver started",
        break_it: |m| {
            m.nvml = Ok(NvmlFacts::default());
            refuse(m, 100);
        },
        failed: &["device-present", "driver-init"],
    },
    Fault { name: "NVML is missing", break_it: |m| m.nvml = ScriptedProvider::empty().nvml, failed: &["nvml-library"] },
    Fault {
        name: "NVML may not be used",
        break_it: |m| {
            m.nvml = Err(NvmlFailure::NoPermission);
            m.environment.device_files[1].access = Access::Denied;
            refuse(m, 100);
        },
        failed: &["device-present", "nvml-library", "driver-init", "device-files"],
    },
    Fault {
        name: "only the display part of the driver is installed",
        break_it: |m| {
            m.driver = ScriptedProvider::empty().driver;
            m.environment.driver_libraries.clear();
            m.environment.compiler_libraries.clear();
        },
        failed: &["driver-library"],
    },
    Fault {
        name: "an update without a reboot",
        break_it: |m| {
            m.nvml = Err(NvmlFailure::VersionMismatch);
            m.environment.kernel_module = Some("535.183.01".into());
            refuse(m, 803);
        },
        failed: &["device-present", "nvml-library", "version-match", "driver-init"],
    },
    Fault {
        name: "an old copy before the driver's",
        break_it: |m| first_library(m, "/usr/lib/libcuda.so.470.82.01", Some("470.82.01"), FoundBy::LoaderCache),
        failed: &["library-copies"],
    },
    Fault { name: "a code that no list knows", break_it: |m| refuse(m, 12345), failed: &["driver-init"] },
    Fault {
        name: "switches that nobody set up",
        break_it: |m| {
            (m.environment.switches, m.environment.fabric_manager) = (4, Some(false));
            refuse(m, 802);
        },
        failed: &["driver-init", "fabric-manager"],
    },
    Fault {
        name: "an old driver",
        break_it: |m| driver(m).cuda_version = Some(Version { major: 11, minor: 4 }),
        failed: &["cuda-version", "ptx-version"],
    },
    Fault {
        name: "kernels may not be compiled",
        break_it: |m| m.environment.cuda_disable_ptx_jit = Some("1".into()),
        failed: &["ptx-compiler"],
    },
    Fault {
        name: "an old card",
        break_it: |m| device(m).compute_capability = Some(Version { major: 5, minor: 2 }),
        failed: &["compute-capability"],
    },
    Fault { name: "a full device", break_it: |m| device(m).memory_free = Some(0), failed: &["device-memory"] },
    Fault {
        name: "a lost device",
        break_it: |m| device(m).problem = Some("the device fell off the bus".into()),
        failed: &["device-health"],
    },
    Fault {
        name: "a forbidden device",
        break_it: |m| device(m).compute_mode = Some(ComputeMode::Prohibited),
        failed: &["compute-mode"],
    },
    Fault {
        name: "a device in use by the one process that it serves",
        break_it: |m| {
            let process = DeviceProcess { pid: 7, name: None, memory: None, kind: ProcessKind::Compute };
            (device(m).compute_mode, device(m).processes) = (Some(ComputeMode::Exclusive), Some(vec![process]));
        },
        failed: &["compute-mode", "other-processes"],
    },
    Fault {
        name: "a split device without an instance",
        break_it: |m| {
            device(m).mig = Some(true);
            refuse(m, 100);
        },
        failed: &["driver-init", "mig-mode"],
    },
    Fault { name: "wrong bits", break_it: |m| device(m).ecc_uncorrected = Some(2), failed: &["memory-errors"] },
    Fault {
        name: "a hot chip",
        break_it: |m| device(m).throttle = Some(vec![Throttle::HardwareThermal]),
        failed: &["clocks"],
    },
    Fault {
        name: "a shared device, for timings",
        break_it: |m| {
            let process = DeviceProcess { pid: 7, name: None, memory: None, kind: ProcessKind::Compute };
            device(m).processes = Some(vec![process]);
        },
        failed: &["other-processes"],
    },
    Fault {
        name: "all devices hidden",
        break_it: |m| {
            m.environment.cuda_visible_devices = Some(String::new());
            refuse(m, 100);
        },
        failed: &["driver-init", "visible-devices"],
    },
    Fault {
        name: "a stub before the driver",
        break_it: |m| {
            first_library(m, "/usr/local/cuda/lib64/stubs/libcuda.so.1", None, FoundBy::LdLibraryPath);
            refuse(m, 34);
        },
        failed: &["driver-init", "library-path"],
    },
    Fault {
        name: "a compatibility library on a consumer card",
        break_it: |m| {
            let file = "/usr/local/cuda/compat/libcuda.so.560.28.03";
            first_library(m, file, Some("560.28.03"), FoundBy::LdLibraryPath);
            refuse(m, 804);
        },
        failed: &["library-copies", "driver-init", "library-path"],
    },
    Fault {
        name: "a container with a part of the driver",
        break_it: |m| {
            m.environment.container = Some("docker".into());
            m.environment.nvidia_driver_capabilities = Some("utility".into());
            m.driver = ScriptedProvider::empty().driver;
            m.environment.driver_libraries.clear();
            m.environment.compiler_libraries.clear();
        },
        failed: &["driver-library", "container-runtime"],
    },
    Fault {
        name: "a Linux driver inside WSL",
        break_it: |m| {
            m.environment.wsl = true;
            m.environment.device_files =
                vec![octopus_device::DeviceFile { path: "/dev/dxg".into(), access: Access::Granted }];
            m.nvml = Ok(NvmlFacts::default());
            m.environment.kernel_module = None;
            refuse(m, 100);
        },
        failed: &["device-present", "driver-init", "wsl-driver"],
    },
];

#[test]
fn each_fault_is_named_by_its_checks_and_by_no_others() {
    // Timings are the strictest use: nothing else differs from the default.
    let needs = Needs { quiet: true, ..Needs::default() };
    for Fault { name, break_it, failed } in FAULTS {
        let mut machine = ScriptedProvider::healthy();
        break_it(&mut machine);
        let report = verify_with(&machine, needs);
        let ids: Vec<&str> = report.with_status(FindingStatus::Fail).map(|finding| finding.id.as_str()).collect();
        assert_eq!(ids, *failed, "{name}:\n{report}");
        assert_eq!((report.overall, report.overall.exit_code()), (Overall::Broken, 1), "{name}");
        assert_eq!(report.summary, format!("the GPU is not fit for use: {} failed", failed.join(", ")));
        for finding in report.with_status(FindingStatus::Fail) {
            let texts = [&finding.observed, finding.cause.as_ref().unwrap(), finding.fix.as_ref().unwrap()];
            assert!(texts.iter().all(|text| !text.is_empty() && !text.contains('\n')), "{name}: {finding:?}");
            assert!(report.to_issue_block().contains(&format!("FAIL {} ", finding.id)), "{name}");
        }
    }
}

#[test]
fn no_check_is_without_a_fault() {
    let named: BTreeSet<&str> = FAULTS.iter().flat_map(|fault| fault.failed).copied().collect();
    assert_eq!(named, BTreeSet::from(CHECK_IDS));
}

#[test]
fn no_single_missing_answer_makes_a_healthy_machine_broken() {
    // Old drivers and small cards leave questions open: what is not told is not held against them.
    let silent: [fn(&mut DeviceInfo); 9] = [
        |d| d.name = None,
        |d| (d.memory_total, d.memory_free) = (None, None),
        |d| d.compute_capability = None,
        |d| d.compute_mode = None,
        |d| d.processes = None,
        |d| (d.throttle, d.sm_clock_mhz, d.performance_state) = (None, None, None),
        |d| (d.ecc, d.ecc_uncorrected, d.pages_pending) = (None, None, None),
        |d| d.mig = None,
        |d| *d = DeviceInfo { index: d.index, ..DeviceInfo::default() },
    ];
    for (i, forget) in silent.into_iter().enumerate() {
        let mut machine = ScriptedProvider::healthy();
        forget(device(&mut machine));
        let report = verify_with(&machine, Needs::default());
        assert_eq!(report.overall, Overall::Fit, "{i}:\n{report}");
    }
    let mut machine = ScriptedProvider::healthy();
    machine.environment = Environment::default();
    assert_eq!(verify_with(&machine, Needs::default()).overall, Overall::Fit);
}
