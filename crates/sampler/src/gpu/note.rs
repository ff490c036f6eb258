//! What becomes of the devices of a run.

use crate::run::SamplerError;
use octopus_cuda::CudaError;
use std::fmt;

/// What happened to a device of a run; for the user to know, no draw depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuNote {
    /// Its memory holds fewer at once than it was to have, so they take turns there: chains of a run, data sets of a batch.
    Turns {
        /// The device's number.
        device: u32,
        /// How many were too many at once.
        from: usize,
        /// How many at once are tried instead.
        to: usize,
        /// What its memory did not hold.
        cause: CudaError,
    },
    /// It failed, or holds not even one chain or data set. The others took over what it had to do, from where its chains
    /// were before it began on it.
    GivenUp {
        /// The device's number.
        device: u32,
        /// How it failed.
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
        }
    }
}

/// Whether the device failed at what another one could do.
pub(super) fn is_loss(error: &CudaError) -> bool {
    error.is_sticky() || matches!(error, CudaError::Driver { .. }) && !error.is_out_of_memory()
}

/// The failure that gives up a device, unless it is the last.
///
/// # Errors
/// What ends the run.
pub(super) fn loss(error: SamplerError, others: bool) -> Result<CudaError, SamplerError> {
    match error {
        SamplerError::Device(cause) if others && is_loss(&cause) => Ok(cause),
        other => Err(other),
    }
}
