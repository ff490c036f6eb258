//! What the CUDA driver library reports when it starts.

use crate::Version;
use octopus_cuda::{CudaError, CudaVersion};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use octopus_cuda::DriverCode;

/// The facts that `libcuda` reports once it is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverFacts {
    /// The newest CUDA version it supports; `None` when it does not tell.
    pub cuda_version: Option<Version>,
    /// The number of devices that this process may use.
    pub devices: u32,
    /// The code with which `cuInit` or `cuDeviceGetCount` failed; `None` when the driver started.
    pub failure: Option<DriverCode>,
}

/// Why the driver library cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriverFailure {
    /// The library is not installed.
    #[error("{library} cannot be loaded: {detail}")]
    LibraryMissing {
        /// The file that was looked for.
        library: String,
        /// The loader's words.
        detail: String,
    },
    /// The library was loaded and is not a CUDA driver.
    #[error("{library} has no function {symbol}")]
    SymbolMissing {
        /// The file that was loaded.
        library: String,
        /// The function it lacks.
        symbol: String,
    },
}

/// Starts the driver and asks for its version and device count; makes no context.
///
/// # Errors
/// When the library cannot be loaded or lacks a function. A driver that does not start is no error here:
/// [`DriverFacts::failure`] tells.
pub(crate) fn ask_driver() -> Result<DriverFacts, DriverFailure> {
    facts(octopus_cuda::driver_version(), || octopus_cuda::driver_start().map(|start| start.devices))
}

/// Returns the facts in these answers. The version is asked first, since a driver tells it even when it does not start.
fn facts(
    version: Result<CudaVersion, CudaError>,
    devices: impl FnOnce() -> Result<u32, CudaError>,
) -> Result<DriverFacts, DriverFailure> {
    let cuda_version = match version {
        Ok(version) => Some(version.into()).filter(|version: &Version| version.major > 0),
        Err(error) => {
            refused(error)?;
            None
        }
    };
    Ok(match devices() {
        Ok(devices) => DriverFacts { cuda_version, devices, failure: None },
        Err(error) => DriverFacts { cuda_version, devices: 0, failure: Some(refused(error)?) },
    })
}

/// Returns the driver's code, or why there is no driver to give one.
fn refused(error: CudaError) -> Result<DriverCode, DriverFailure> {
    match error {
        CudaError::LibraryMissing { library, detail } => Err(DriverFailure::LibraryMissing { library, detail }),
        CudaError::SymbolMissing { library, symbol } => Err(DriverFailure::SymbolMissing { library, symbol }),
        CudaError::NotBuilt => Err(DriverFailure::LibraryMissing {
            library: "libcuda".into(),
            detail: "this program was built without CUDA (feature `cuda`)".into(),
        }),
        other => Ok(other.code().unwrap_or(DriverCode::UNKNOWN)),
    }
}

impl From<CudaVersion> for Version {
    fn from(version: CudaVersion) -> Self {
        Self { major: version.major, minor: version.minor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: u32) -> CudaError {
        CudaError::Driver { operation: "starting".into(), code: DriverCode(code) }
    }

    #[test]
    fn a_driver_that_does_not_start_keeps_its_code_and_tells_its_version() {
        let version = || Ok(CudaVersion { major: 11, minor: 4 });
        for number in [100, 802, 12345] {
            let facts = facts(version(), || Err(code(number))).unwrap();
            assert_eq!(facts.cuda_version, Some(Version { major: 11, minor: 4 }));
            assert_eq!((facts.devices, facts.failure), (0, Some(DriverCode(number))));
        }
        assert_eq!(facts(version(), || Ok(3)).unwrap().devices, 3);
    }

    #[test]
    fn a_version_that_is_not_told_is_no_failure() {
        assert_eq!(facts(Err(code(1)), || Ok(1)).unwrap().cuda_version, None);
        assert_eq!(facts(Ok(CudaVersion { major: 0, minor: 0 }), || Ok(1)).unwrap().cuda_version, None);
    }

    #[test]
    fn libraries_that_are_missing_or_no_driver_are_told_apart() {
        let missing = CudaError::LibraryMissing { library: "a".into(), detail: "b".into() };
        let never = || panic!("there is nothing to start");
        assert!(matches!(facts(Err(missing), never), Err(DriverFailure::LibraryMissing { .. })));
        let no_driver = CudaError::SymbolMissing { library: "a".into(), symbol: "cuInit".into() };
        assert!(matches!(
            facts(Ok(CudaVersion { major: 12, minor: 4 }), || Err(no_driver)),
            Err(DriverFailure::SymbolMissing { .. })
        ));
        assert!(matches!(facts(Err(CudaError::NotBuilt), never), Err(DriverFailure::LibraryMissing { .. })));
    }
}
