//! The errors of this crate: each names what was asked and what was found, and says what to do.
//!
//! Here is which of them say that CUDA is absent, that memory is out, or that the context is lost (`is_sticky`).

use crate::{DriverCode, advice::advice, bytes::Bytes};
use std::time::Duration;
use thiserror::Error;

/// An operation on the CUDA driver that did not succeed.
///
/// After a code that loses the context ([`DriverCode::is_sticky`]) every later call on the same device returns the
/// first error again, so its `operation` is the one that failed first. The driver reports a kernel's fault at the
/// next call that looks, so the fault may lie in a kernel launched before that operation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The program was built without the feature `cuda`.
    #[error("this program was built without CUDA: build it with the feature `cuda`, or run on the CPU")]
    NotBuilt,
    /// The driver library cannot be opened: for the most part, it is not installed.
    #[error(
        "the CUDA driver library {library} cannot be opened ({detail}): install the NVIDIA driver, or run on the CPU"
    )]
    LibraryMissing {
        /// The file that was asked for.
        library: String,
        /// The loader's words.
        detail: String,
    },
    /// Another driver library was chosen after the first had been opened.
    #[error("{asked} cannot be used, {library} is open already: choose the driver library before the first CUDA call")]
    LibraryChosenTooLate {
        /// The file that is open, or that could not be opened.
        library: String,
        /// The file that was chosen too late.
        asked: String,
    },
    /// The library lacks a function: it is an old driver, or no driver at all.
    #[error("{library} has no function {symbol}: install an NVIDIA driver that supports CUDA 12.4 or newer")]
    SymbolMissing {
        /// The file that was opened.
        library: String,
        /// The function it lacks.
        symbol: String,
    },
    /// The driver answered with a code.
    #[error("{operation} failed with {code}: {}", advice(*.code))]
    Driver {
        /// The call to the driver, e.g. `starting the driver (cuInit)`.
        operation: String,
        /// The driver's answer.
        code: DriverCode,
    },
    /// A kernel whose blocks wait for each other does not end. The device is then lost to this process.
    #[error(
        "kernel {kernel} is not done after {:.1} s, many times as long as it can take: its blocks wait for each other in \
         vain, and the device is lost to this process; start the program again, on another device or the CPU, and please \
         report it",
        .waited.as_secs_f64()
    )]
    Overdue {
        /// The kernel's name.
        kernel: String,
        /// How long the host has waited for it.
        waited: Duration,
    },
    /// Device memory does not suffice.
    #[error(
        "out of memory: {} asked for, {} of {} free on the device; use fewer chains or smaller batches, or end what \
         else uses the device",
        Bytes(*.requested), Bytes(*.free), Bytes(*.total)
    )]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes free on the device just after.
        free: u64,
        /// Bytes that the device has.
        total: u64,
    },
    /// The host's memory does not suffice, or the system lets this process lock no more of it.
    #[error(
        "out of page-locked host memory: {} asked for; use fewer chains or smaller batches, or let the process lock \
         more (`ulimit -l`, a container's memory limit)",
        Bytes(*.requested)
    )]
    OutOfPinnedMemory {
        /// Bytes asked for.
        requested: u64,
    },
    /// There is no device of this number.
    #[error("there is no CUDA device {ordinal}: the driver shows {count}, counted from 0; see `octopus device list`")]
    DeviceMissing {
        /// The number asked for.
        ordinal: u32,
        /// The number of devices.
        count: u32,
    },
    /// A module has no kernel of this name.
    #[error("the module has no kernel {kernel}: its PTX is not of this program's version, build the program again")]
    KernelMissing {
        /// The kernel's name.
        kernel: String,
    },
    /// A kernel takes other arguments than it would be given.
    #[error(
        "kernel {kernel} takes ({expected}) and would be given ({found}): its PTX is not of this program's version, \
         build the program again"
    )]
    KernelSignature {
        /// The kernel's name.
        kernel: String,
        /// The parameters that its PTX declares.
        expected: String,
        /// The arguments of the launch.
        found: String,
    },
    /// A kernel cannot be launched in this shape.
    #[error("kernel {kernel} cannot be launched: {detail}; use a smaller problem or split it")]
    LaunchShape {
        /// The kernel's name.
        kernel: String,
        /// The limit that is passed, and by what.
        detail: String,
    },
    /// Two lengths that must agree do not.
    #[error("{operation}: {what} has {found} elements, {expected} are needed")]
    LengthMismatch {
        /// The operation, in words.
        operation: String,
        /// The argument that has the wrong length.
        what: &'static str,
        /// Elements that it must have.
        expected: usize,
        /// Elements that it has.
        found: usize,
    },
    /// A part of a buffer was asked for that is not within it.
    #[error("{operation}: elements {start}..{end} are not within the buffer's {length}")]
    RangeOutside {
        /// The operation, in words.
        operation: &'static str,
        /// The first element asked for.
        start: usize,
        /// One past the last element asked for.
        end: usize,
        /// Elements that there are.
        length: usize,
    },
    /// One launch was to do a data set twice.
    #[error("data set {item} is asked for twice in one launch; launch it again afterwards")]
    ItemTwice {
        /// The number of the item in the batch.
        item: usize,
    },
    /// The elements need more bytes than an address can count.
    #[error("{elements} elements of {element_bytes} bytes are more than any memory holds: ask for fewer")]
    TooLarge {
        /// Elements asked for.
        elements: usize,
        /// Bytes of one.
        element_bytes: usize,
    },
    /// Two objects of different devices were used together.
    #[error("{operation}: its arguments are on different devices; copy them to one")]
    ContextMismatch {
        /// The operation, in words.
        operation: String,
    },
    /// The driver did not take a kernel's PTX.
    #[error("the driver refused the kernels' PTX with {code}: {}{}", advice(*.code), log_lines(.log))]
    Ptx {
        /// The driver's answer.
        code: DriverCode,
        /// The log of the driver's compiler; often empty.
        log: String,
    },
}

impl CudaError {
    /// Returns the driver's code, where it gave one.
    #[must_use]
    pub fn code(&self) -> Option<DriverCode> {
        match self {
            Self::Driver { code, .. } | Self::Ptx { code, .. } => Some(*code),
            Self::OutOfMemory { .. } | Self::OutOfPinnedMemory { .. } => Some(DriverCode::OUT_OF_MEMORY),
            _ => None,
        }
    }

    /// Returns whether this is the answer of a machine that has no CUDA device, rather than of one that is broken.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::NotBuilt | Self::LibraryMissing { .. }) || self.code() == Some(DriverCode::NO_DEVICE)
    }

    /// Returns whether less memory would have done.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.code() == Some(DriverCode::OUT_OF_MEMORY) || matches!(self, Self::TooLarge { .. })
    }

    /// Returns whether the device is lost to this process: see [`DriverCode::is_sticky`]; it is so, too, when a kernel
    /// never ends.
    #[must_use]
    pub fn is_sticky(&self) -> bool {
        matches!(self, Self::Overdue { .. }) || self.code().is_some_and(DriverCode::is_sticky)
    }
}

/// Returns the compiler's log below the message, where there is one.
fn log_lines(log: &str) -> String {
    if log.trim().is_empty() { String::new() } else { format!("\nthe driver's compiler said:\n{}", log.trim_end()) }
}
