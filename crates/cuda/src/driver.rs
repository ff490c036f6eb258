//! The driver itself: which library, whether it starts, what it supports.

use crate::{CudaError, binding};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// A version of CUDA, e.g. 12.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CudaVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The facts that a driver reports when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverStart {
    /// The newest CUDA version that it supports.
    pub cuda_version: CudaVersion,
    /// The devices that this process may use.
    pub devices: u32,
}

/// Chooses the file that is opened as the driver library, instead of the default (`libcuda.so.1` by the loader's
/// rules) and of the one that the variable `OCTOPUS_LIBCUDA` names.
///
/// # Errors
/// [`CudaError::LibraryChosenTooLate`] when a library has been opened already.
pub fn set_driver_library(path: impl AsRef<Path>) -> Result<(), CudaError> {
    binding::set_library(path.as_ref())
}

/// Opens the driver library, starts the driver and counts its devices. Makes no context.
///
/// Without a driver this takes less than a millisecond. With one, the first start takes the time that the driver needs,
/// some tenths of a second, and later ones none.
///
/// # Errors
/// [`CudaError::LibraryMissing`] where there is no driver; [`CudaError::Driver`] with the driver's code when it does
/// not start, for example `NO_DEVICE`; [`CudaError::SymbolMissing`] when the library is no driver.
pub fn driver_start() -> Result<DriverStart, CudaError> {
    let cuda_version = driver_version()?;
    Ok(DriverStart { cuda_version, devices: binding::device_count()? })
}

/// Returns the newest CUDA version that the driver supports, which it tells even when it does not start.
///
/// # Errors
/// [`CudaError::LibraryMissing`] where there is no driver, else what the driver answers.
pub fn driver_version() -> Result<CudaVersion, CudaError> {
    binding::driver_version().map(|(major, minor)| CudaVersion { major, minor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let version = |major, minor| CudaVersion { major, minor };
        assert!(version(12, 4) < version(12, 10) && version(12, 9) < version(13, 0));
        assert_eq!(version(12, 4).to_string(), "12.4");
    }
}
