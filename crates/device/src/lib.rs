//! Finds the accelerators of this machine, checks whether they are fit for use, and says what to do if they are not.
//!
//! | Concept | Here |
//! |---|---|
//! | Who answers | [`Provider`]: [`SystemProvider`] (NVML and the CUDA driver, both loaded at run time), [`ScriptedProvider`] (tests), [`NoProvider`] |
//! | What was seen | [`Probe`]: [`NvmlFacts`] with one [`DeviceInfo`] each, [`DriverFacts`], [`Environment`] |
//! | What is needed | [`Needs`]: CUDA version, compute capability, PTX version, memory; of all devices or of one |
//! | What it means | [`Finding`]: one check's id, status, observed, expected, cause, fix; made by a [`Question`] |
//! | The answer | [`verify`] or [`verify_with`] and their [`VerifyReport`]: [`Overall::Fit`], [`Overall::Broken`] or [`Overall::Absent`] |
//! | One device, for records | [`DeviceIdentity`] |
//! | The machine around it | [`HostInfo`]: CPU, memory, operating system, SIMD |
//! | Which device a thread works on | [`Device`], its scope [`DeviceScope`], [`with_device`] |
//! | Which device a run works on | [`DeviceChoice`], [`Accelerators`], [`resolve`] and its [`Selection`]; for arrays [`AutoDevice`] |
//! | What work costs on this machine | [`costs`]: [`DeviceCosts`], [`CostsCache`], [`choose`] |
//! | How many chains fit | [`memory`]: [`MemoryPlan`] |
//! | What a run used | [`Monitor`] and its [`DeviceUsage`] |
//!
//! **Absent is not broken.** A machine without an NVIDIA device is fine for the CPU: every check is
//! skipped and the report says so in one line. A device that is there and cannot be used is broken, and
//! each failed check names its cause and its fix.
//!
//! Nothing here links against NVIDIA's libraries: the program starts where there are none. Probing and checking
//! never create a CUDA context, allocate device memory or launch a kernel; a [`Monitor`] makes a context, on first use.
//! Arrays are in `octopus-array`; checks and benchmarks that compute on a device are in `octopus-fitness`.
//!
//! # Example
//! ```
//! use octopus_device::{NoProvider, Overall, SystemProvider, verify};
//!
//! // This machine, whatever it is.
//! let report = verify(&SystemProvider::new());
//! println!("{report}");
//! assert!([0, 1, 4].contains(&report.overall.exit_code()));
//!
//! // A machine that has nothing.
//! let report = verify(&NoProvider);
//! assert_eq!(report.overall, Overall::Absent);
//! assert_eq!(report.overall.exit_code(), 4);
//! assert!(report.findings.iter().all(|finding| finding.fix.is_none()));
//! ```

mod architecture;
mod check;
pub mod costs;
mod current;
mod device_text;
mod driver;
mod environment;
mod error;
mod finding;
mod host;
mod identity;
mod load;
pub mod memory;
mod monitor;
mod needs;
mod nvml;
mod probe;
mod provider;
mod ptx;
mod report;
mod selection;
mod version;
mod visible;

pub use check::CHECK_IDS;
pub use costs::{
    Choice, CostsCache, CostsCacheError, CostsKey, CostsMiss, DeviceCosts, DeviceReason, KernelCost, LinearCost,
    Prediction, Seconds, TransferCost, Work, WorkStep, choose, kernels_fingerprint,
};
pub use current::{Device, DeviceNameError, DeviceScope, with_device};
pub use driver::{DriverCode, DriverFacts, DriverFailure};
pub use environment::{Access, DeviceFile, Environment, FoundBy, LibraryCopy, PciDevice};
pub use error::DeviceError;
pub use finding::{Finding, FindingStatus, Question};
pub use host::HostInfo;
pub use identity::DeviceIdentity;
pub use load::DeviceLoad;
pub use memory::{DeviceMemory, MemoryAttempt, MemoryPlan, PlanPart};
pub use monitor::{DeviceUsage, LoadRange, LoadSummary, Monitor};
pub use needs::Needs;
pub use nvml::{
    ComputeMode, DeviceInfo, DeviceProcess, NvmlFacts, NvmlFailure, ProcessKind, TEST_DOUBLE, Throttle, memory_text,
};
pub use octopus_cuda::{
    Context as CudaContext, CudaError, DeviceWork, DeviceWorkKind, PTX, limit_device_memory, record_device_work,
    take_device_work,
};
pub use probe::Probe;
pub use provider::{NoProvider, Provider, ScriptedProvider, SystemProvider};
pub use report::{Overall, SCHEMA, VerifyReport, verify, verify_with};
pub use selection::{
    Accelerators, AutoDevice, ChoiceError, DEVICE_VARIABLE, DeviceChoice, DeviceRequest, DeviceSet, MeasureCosts,
    Selection, SelectionError, Source, Unusable, device_names, devices_named, resolve,
};
pub use version::Version;

/// The oldest CUDA version that a driver must support: the kernels' PTX is made for it.
pub const MINIMUM_CUDA: Version = Version { major: 12, minor: 4 };

/// The oldest compute capability: the kernels' PTX is made for `compute_80`, which newer devices take.
pub const MINIMUM_COMPUTE_CAPABILITY: Version = Version { major: 8, minor: 0 };

/// The least free device memory in bytes: a CUDA context takes some 300 to 500 MiB of it, the rest is
/// ample for thousands of chains of the test model.
pub const MINIMUM_FREE_MEMORY: u64 = 1 << 30;
