//! Notes of what happens to the devices of a run, and when a device counts as lost (`is_loss`).

use crate::error::SamplerError;
use octopus_cuda::CudaError;
use std::fmt;

/// What happened to a device of a run. The note is for the user only: no draw depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuNote {
    /// The device's memory holds fewer chains of a run, or data sets of a batch, than it was to have at once, so they
    /// take turns there.
    Turns {
        /// The device's number.
        device: u32,
        /// The number of chains or data sets that were too many at once.
        from: usize,
        /// The number that is tried at once instead.
        to: usize,
        /// The device's error: what its memory did not hold.
        cause: CudaError,
    },
    /// The device failed, or holds not even one chain or data set. The other devices took over its work, from where its
    /// chains were before it began on that work.
    GivenUp {
        /// The device's number.
        device: u32,
        /// The device's error.
        cause: CudaError,
    },
    /// The last device failed, and the CPU took over its work, to the same bits.
    LeftToCpu {
        /// The device's error.
        cause: CudaError,
    },
}

impl fmt::Display for GpuNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns { device, from, to, cause } => {
                write!(f, "cuda:{device}: {from} at once is too much, going on with {to} at once ({cause})")
            }
            Self::GivenUp { device, cause } => {
                write!(f, "cuda:{device} is given up, the other devices go on with what it had to do ({cause})")
            }
            Self::LeftToCpu { cause } => {
                write!(f, "no GPU is left, the CPU goes on with what is to do, to the same draws ({cause})")
            }
        }
    }
}

/// Returns whether the device failed at something that another device or the CPU could do. What is left are errors of
/// this program.
pub(crate) fn is_loss(error: &CudaError) -> bool {
    let refused = matches!(error, CudaError::Driver { .. } | CudaError::Ptx { .. } | CudaError::KernelMissing { .. });
    refused || error.is_sticky() || error.is_out_of_memory()
}

/// Returns the device's error where `others`, devices or the CPU, can go on without the device.
///
/// # Errors
/// When there is nothing else, or the error is not the loss of a device: it ends the run.
pub(crate) fn loss(error: SamplerError, others: bool) -> Result<CudaError, SamplerError> {
    match error {
        SamplerError::Device(cause) if others && is_loss(&cause) => Ok(cause),
        other => Err(other),
    }
}
