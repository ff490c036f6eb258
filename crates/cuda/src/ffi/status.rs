//! Converts the driver's result codes to errors that say what was done.

use super::shim::{self, Last};
use crate::{CudaError, DriverCode};
use cust::error::CudaResult;
use cust::sys::CUresult;
use std::fmt;

/// The operation that is asked of the driver. It becomes text only when it fails.
#[derive(Clone, Copy)]
pub(super) enum Operation<'a> {
    /// A call, in words, with the driver's function in parentheses.
    Call(&'static str),
    /// The launch of this kernel.
    Launch(&'a str),
    /// The launch of this kernel with all blocks side by side.
    LaunchTogether(&'a str),
    /// The question how many blocks of this kernel run at once.
    Occupancy(&'a str),
    /// The look-up of this kernel.
    FindKernel(&'a str),
}

impl fmt::Display for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(words) => f.write_str(words),
            Self::Launch(kernel) => write!(f, "launching {kernel} (cuLaunchKernel)"),
            Self::LaunchTogether(kernel) => write!(f, "launching {kernel} (cuLaunchCooperativeKernel)"),
            Self::Occupancy(kernel) => {
                write!(f, "asking for the occupancy of {kernel} (cuOccupancyMaxActiveBlocksPerMultiprocessor)")
            }
            Self::FindKernel(kernel) => write!(f, "looking up {kernel} (cuModuleGetFunction)"),
        }
    }
}

/// The result of a call to `cust::sys` made just before, on this thread.
pub(super) fn check(operation: Operation<'_>, result: CUresult) -> Result<(), CudaError> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(failure(operation)) }
}

/// Returns the result of a call to `cust` made just before, on this thread. cust's own errors keep fewer codes than the
/// driver has, so the number comes from the shim.
pub(super) fn check_cust<T>(operation: Operation<'_>, result: CudaResult<T>) -> Result<T, CudaError> {
    result.map_err(|error| match failure(operation) {
        // The driver was content: cust refused before or after.
        CudaError::Driver { operation, code: DriverCode(0) } => {
            CudaError::Driver { operation, code: DriverCode(error as u32) }
        }
        failure => failure,
    })
}

/// Returns the result of the last call on this thread as an error.
fn failure(operation: Operation<'_>) -> CudaError {
    let library = || shim::name().to_owned();
    match shim::last() {
        Last::Answered(code) => CudaError::Driver { operation: operation.to_string(), code: DriverCode(code) },
        Last::NoLibrary => {
            let detail = shim::opened().err().unwrap_or("it could not be opened");
            CudaError::LibraryMissing { library: library(), detail: detail.to_owned() }
        }
        Last::NoSymbol(symbol) => CudaError::SymbolMissing { library: library(), symbol: symbol.to_owned() },
    }
}
