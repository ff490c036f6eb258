//! The scripted provider: a machine as a test wants it.

use super::Provider;
use crate::{
    Access, ComputeMode, DeviceFile, DeviceInfo, DriverFacts, DriverFailure, Environment, FoundBy, LibraryCopy,
    NvmlFacts, NvmlFailure, PciDevice, Throttle, Version,
};

/// Answers with the facts it was given. It is for tests and names itself `scripted` in every report:
/// what it says is never this machine.
///
/// Start from [`healthy`](Self::healthy) or [`empty`](Self::empty) and break what the test is about:
/// ```
/// use octopus_device::{NvmlFailure, Overall, ScriptedProvider, verify};
///
/// let mut machine = ScriptedProvider::healthy();
/// machine.nvml = Err(NvmlFailure::VersionMismatch);
/// assert_eq!(verify(&machine).overall, Overall::Broken);
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedProvider {
    /// NVML's answer.
    pub nvml: Result<NvmlFacts, NvmlFailure>,
    /// The driver's answer.
    pub driver: Result<DriverFacts, DriverFailure>,
    /// The devices as the driver tells of them.
    pub driver_devices: Vec<DeviceInfo>,
    /// The operating system's answer.
    pub environment: Environment,
}

impl ScriptedProvider {
    /// Makes a machine with one device that is fit for use.
    pub fn healthy() -> Self {
        let cuda = Version { major: 12, minor: 4 };
        let file = |path: &str| DeviceFile { path: path.into(), access: Access::Granted };
        let library = |name: &str| LibraryCopy {
            path: format!("/usr/lib/x86_64-linux-gnu/{name}.so.1"),
            file: format!("/usr/lib/x86_64-linux-gnu/{name}.so.550.54.15"),
            version: Some("550.54.15".into()),
            found: FoundBy::LoaderCache,
        };
        Self {
            nvml: Ok(NvmlFacts {
                driver_version: Some("550.54.15".into()),
                cuda_version: Some(cuda),
                devices: vec![DeviceInfo {
                    index: 0,
                    name: Some("Scripted device".into()),
                    uuid: Some("GPU-5c1f7ed0-0000-4000-8000-000000000000".into()),
                    memory_total: Some(48 << 30),
                    memory_free: Some(47 << 30),
                    compute_capability: Some(Version { major: 8, minor: 6 }),
                    pci_slot: Some("00000000:01:00.0".into()),
                    cuda_cores: Some(10752),
                    sm_count: Some(84),
                    sm_clock_mhz: Some(210),
                    sm_clock_max_mhz: Some(2100),
                    memory_clock_mhz: Some(405),
                    memory_clock_max_mhz: Some(8001),
                    performance_state: Some(8),
                    throttle: Some(vec![Throttle::Idle]),
                    utilization_percent: Some(0),
                    power_watts: Some(24.5),
                    power_limit_watts: Some(300.0),
                    temperature_celsius: Some(38),
                    ecc: Some(false),
                    ecc_uncorrected: None,
                    pages_pending: Some(false),
                    mig: None,
                    compute_mode: Some(ComputeMode::Default),
                    persistence: Some(true),
                    processes: Some(vec![]),
                    problem: None,
                }],
            }),
            driver: Ok(DriverFacts { cuda_version: Some(cuda), devices: 1, failure: None }),
            driver_devices: Vec::new(),
            environment: Environment {
                device_files: vec![file("/dev/nvidia-uvm"), file("/dev/nvidia0"), file("/dev/nvidiactl")],
                pci_devices: vec![PciDevice { slot: "0000:01:00.0".into(), device: "0x2230".into() }],
                kernel_module: Some("550.54.15".into()),
                driver_libraries: vec![library("libcuda")],
                compiler_libraries: vec![library("libnvidia-ptxjitcompiler")],
                system: Some("Scripted Linux 1".into()),
                kernel: Some("6.1.0".into()),
                ..Environment::default()
            },
        }
    }

    /// Makes a machine with no device and no driver, in the words of a Linux loader.
    pub fn empty() -> Self {
        let detail = |library: &str| format!("{library}: cannot open shared object file: No such file or directory");
        let missing = |library: &str| (library.to_owned(), detail(library));
        let (library, words) = missing("libnvidia-ml.so.1");
        let nvml = Err(NvmlFailure::LibraryMissing { library, detail: words });
        let (library, words) = missing("libcuda.so.1");
        let driver = Err(DriverFailure::LibraryMissing { library, detail: words });
        Self { nvml, driver, driver_devices: Vec::new(), environment: Environment::default() }
    }
}

impl Provider for ScriptedProvider {
    fn name(&self) -> &str {
        "scripted"
    }

    fn nvml(&self) -> Result<NvmlFacts, NvmlFailure> {
        self.nvml.clone()
    }

    fn driver(&self) -> Result<DriverFacts, DriverFailure> {
        self.driver.clone()
    }

    fn driver_devices(&self) -> Vec<DeviceInfo> {
        self.driver_devices.clone()
    }

    fn environment(&self) -> Environment {
        self.environment.clone()
    }
}
