//! Who answers questions about the machine: the interface, and three implementations beside it.

mod none;
mod scripted;
mod system;

pub use none::NoProvider;
pub use scripted::ScriptedProvider;
pub use system::SystemProvider;

use crate::{DriverFacts, DriverFailure, Environment, NvmlFacts, NvmlFailure};

/// A source of facts. Checks never ask the machine themselves, so that each of their messages can be
/// tested without the broken machine that it is about.
pub trait Provider {
    /// How reports name the source: `system` for the real one only.
    fn name(&self) -> &str;

    /// What NVML says.
    ///
    /// # Errors
    /// When NVML is missing or does not start.
    fn nvml(&self) -> Result<NvmlFacts, NvmlFailure>;

    /// What the CUDA driver library says.
    ///
    /// # Errors
    /// When the library is missing or is not a CUDA driver.
    fn driver(&self) -> Result<DriverFacts, DriverFailure>;

    /// What the operating system shows.
    fn environment(&self) -> Environment;
}
