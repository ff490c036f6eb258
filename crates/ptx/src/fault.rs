//! Why a launch ends before its kernel does.

use std::fmt;

/// A place in a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kernel's name.
    pub entry: String,
    /// The line of the module's text.
    pub line: u32,
    /// The opcode there.
    pub opcode: String,
    /// The number of the block, x running fastest.
    pub block: u32,
    /// The number of the thread in its block.
    pub thread: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, line, opcode, block, thread } = self;
        write!(f, "{entry} line {line} ({opcode}), block {block} thread {thread}")
    }
}

/// Why a launch failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchFault {
    /// An address of global memory is in no allocation.
    #[error("{place}: {bytes} bytes at {address:#x} are in no allocation")]
    Address {
        /// Where.
        place: Place,
        /// The first byte.
        address: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// An address is no multiple of the bytes that are read or written.
    #[error("{place}: the address {address:#x} is no multiple of {bytes}")]
    Alignment {
        /// Where.
        place: Place,
        /// The first byte.
        address: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// An address is beyond a block's shared memory or the parameters.
    #[error("{place}: {bytes} bytes at {address:#x} are beyond the {size} bytes of {memory}")]
    Beyond {
        /// Where.
        place: Place,
        /// The first byte.
        address: u64,
        /// The number of bytes.
        bytes: u64,
        /// The bytes that there are.
        size: u64,
        /// `shared memory` or `parameters`.
        memory: &'static str,
    },
    /// Lanes meet in a way that a GPU does not define.
    #[error("{place}: {what}")]
    Meeting {
        /// Where.
        place: Place,
        /// What is wrong.
        what: String,
    },
    /// Threads wait for others that never come.
    #[error("block {block} waits for ever: {}", .waits.join("; "))]
    Deadlock {
        /// The block's number.
        block: u32,
        /// Where each group of lanes waits.
        waits: Vec<String>,
    },
    /// Threads have slept for longer than the limit.
    #[error("threads wait for what does not come within {milliseconds} ms: {}", .waits.join("; "))]
    Timeout {
        /// The limit.
        milliseconds: u64,
        /// Where the first of them sleep.
        waits: Vec<String>,
    },
    /// The kernel goes on for longer than it may.
    #[error("{place}: the kernel does not end")]
    Endless {
        /// Where it is.
        place: Place,
    },
    /// The shape of the launch does not fit the kernel.
    #[error("{0}")]
    Shape(String),
    /// The checks have found something; the launch was finished.
    #[error("{} found: {}", .0.len(), .0.join("; "))]
    Findings(Vec<String>),
}

impl LaunchFault {
    /// Returns the code that a driver gives (`CUresult`).
    pub fn code(&self) -> i32 {
        match self {
            Self::Address { .. } => 700,
            Self::Alignment { .. } => 716,
            Self::Timeout { .. } | Self::Endless { .. } => 702,
            Self::Beyond { .. } | Self::Meeting { .. } | Self::Deadlock { .. } | Self::Findings(_) => 719,
            Self::Shape(_) => 1,
        }
    }
}
