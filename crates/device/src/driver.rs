//! What the CUDA driver library says.

use crate::Version;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// What `libcuda` reports once it is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverFacts {
    /// The newest CUDA version it supports; `None` when it does not tell.
    pub cuda_version: Option<Version>,
    /// The number of devices that this process may use.
    pub devices: u32,
    /// The code with which `cuInit` or `cuDeviceGetCount` failed; `None` when the driver started.
    pub failure: Option<DriverCode>,
}

/// A result code of the driver, kept as it came: newer drivers have codes that no list knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DriverCode(pub i32);

impl DriverCode {
    /// `CUDA_ERROR_STUB_LIBRARY`: a toolkit's link-time stub was loaded instead of the driver.
    pub const STUB_LIBRARY: Self = Self(34);
    /// `CUDA_ERROR_NO_DEVICE`.
    pub const NO_DEVICE: Self = Self(100);
    /// `CUDA_ERROR_SYSTEM_NOT_READY`: on NVSwitch machines, the fabric manager is not running.
    pub const SYSTEM_NOT_READY: Self = Self(802);
    /// `CUDA_ERROR_SYSTEM_DRIVER_MISMATCH`.
    pub const SYSTEM_DRIVER_MISMATCH: Self = Self(803);
    /// `CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE`: a forward-compatibility libcuda on a consumer device.
    pub const COMPAT_NOT_SUPPORTED: Self = Self(804);
    /// `CUDA_ERROR_UNKNOWN`.
    pub const UNKNOWN: Self = Self(999);

    /// The driver's own name of the code, for those that starting up can give.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            1 => "CUDA_ERROR_INVALID_VALUE",
            2 => "CUDA_ERROR_OUT_OF_MEMORY",
            3 => "CUDA_ERROR_NOT_INITIALIZED",
            34 => "CUDA_ERROR_STUB_LIBRARY",
            36 => "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
            46 => "CUDA_ERROR_DEVICE_UNAVAILABLE",
            100 => "CUDA_ERROR_NO_DEVICE",
            101 => "CUDA_ERROR_INVALID_DEVICE",
            304 => "CUDA_ERROR_OPERATING_SYSTEM",
            800 => "CUDA_ERROR_NOT_PERMITTED",
            802 => "CUDA_ERROR_SYSTEM_NOT_READY",
            803 => "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            804 => "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
            999 => "CUDA_ERROR_UNKNOWN",
            _ => return None,
        })
    }
}

impl fmt::Display for DriverCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => write!(f, "{} (not a code this program knows)", self.0),
        }
    }
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
