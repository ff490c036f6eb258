//! What accelerators this machine has, whether they are fit for use, and what to do if they are not.
//!
//! | Concept | Here |
//! |---|---|
//! | Who answers | [`Provider`]: [`SystemProvider`] (NVML and the CUDA driver, both loaded at run time), [`ScriptedProvider`] (tests), [`NoProvider`] |
//! | What was seen | [`Probe`]: [`NvmlFacts`] with one [`DeviceInfo`] each, [`DriverFacts`], [`Environment`] |
//! | What it means | [`Finding`]: one check's id, status, observed, expected, cause, fix |
//! | The answer | [`verify`] and its [`VerifyReport`]: [`Overall::Fit`], [`Overall::Broken`] or [`Overall::Absent`] |
//! | The machine around it | [`HostInfo`]: CPU, memory, operating system, SIMD |
//!
//! **Absent is not broken.** A machine without an NVIDIA device is fine for the CPU: every check is
//! skipped and the report says so in one line. A device that is there and cannot be used is broken, and
//! each failed check names its cause and its fix.
//!
//! Nothing here links against NVIDIA's libraries: the program starts where there are none. This crate
//! never creates a CUDA context, allocates device memory or launches a kernel.
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

mod check;
mod driver;
mod environment;
mod ffi;
mod finding;
mod host;
mod nvml;
mod probe;
mod provider;
mod report;
mod version;

pub use check::CHECK_IDS;
pub use driver::{DriverCode, DriverFacts, DriverFailure};
pub use environment::{Access, DeviceFile, Environment, PciDevice};
pub use finding::{Finding, Status};
pub use host::HostInfo;
pub use nvml::{ComputeMode, DeviceInfo, NvmlFacts, NvmlFailure};
pub use probe::Probe;
pub use provider::{NoProvider, Provider, ScriptedProvider, SystemProvider};
pub use report::{Overall, SCHEMA, VerifyReport, verify};
pub use version::Version;

/// The oldest CUDA version that a driver must support: the kernels' PTX is made for it.
pub const MINIMUM_CUDA: Version = Version { major: 12, minor: 4 };

/// The oldest compute capability: the kernels' PTX is made for `compute_80`, which newer devices take.
pub const MINIMUM_COMPUTE_CAPABILITY: Version = Version { major: 8, minor: 0 };

/// The least free device memory in bytes: a CUDA context takes some 300 to 500 MiB of it, the rest is
/// ample for thousands of chains of the test model.
pub const MINIMUM_FREE_MEMORY: u64 = 1 << 30;
