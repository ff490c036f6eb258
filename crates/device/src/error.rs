//! The error of a device, with the device's name.

use crate::Device;
use octopus_cuda::CudaError;
use thiserror::Error;

/// A device that failed, or is not there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{device}: {source}")]
pub struct DeviceError {
    /// The device.
    pub device: Device,
    /// The device's error.
    pub source: CudaError,
}
