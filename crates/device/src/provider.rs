//! The interface that answers questions about the machine, with three implementations.

mod driver_device;
mod none;
mod nvml_device;
mod scripted;
mod system;

pub use none::NoProvider;
pub use scripted::ScriptedProvider;
pub use system::SystemProvider;

use crate::{DeviceInfo, DriverFacts, DriverFailure, Environment, NvmlFacts, NvmlFailure};

/// A source of facts. Checks never ask the machine themselves, so that each of their messages can be
/// tested without the broken machine that it is about.
pub trait Provider {
    /// Returns the source's name in reports; only the real machine is `system`.
    fn name(&self) -> &str;

    /// Returns what NVML reports.
    ///
    /// # Errors
    /// When NVML is missing or does not start.
    fn nvml(&self) -> Result<NvmlFacts, NvmlFailure>;

    /// Returns what the CUDA driver library reports.
    ///
    /// # Errors
    /// When the library is missing or is not a CUDA driver.
    fn driver(&self) -> Result<DriverFacts, DriverFailure>;

    /// Returns the devices that the CUDA driver gives this process, as far as it tells of them: it fills what NVML
    /// leaves open, and stands in where there is no NVML. Asked only where the driver started.
    fn driver_devices(&self) -> Vec<DeviceInfo> {
        Vec::new()
    }

    /// Returns what the operating system shows.
    fn environment(&self) -> Environment;
}
