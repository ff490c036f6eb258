//! An interpreter of PTX for tests: it runs the text that a GPU's driver gets, on the host, and checks what it does.
//!
//! The software GPU (`octopus-softgpu`) loads it as a library and hands launches to it, so that a program under test runs
//! the committed PTX itself: its masks, barriers, shared memory and parameters come from the compiler that made it,
//! not from a host's C++.
//!
//! | Concept | What it is |
//! |---|---|
//! | [`Module`] | a module's text, read; a form that our kernels do not have is a [`PtxError`] with its line |
//! | [`Entry`] | a kernel of it |
//! | [`Launch`] | how it is run: blocks, parameters, memory, [`Order`], checks |
//! | [`Recording`] | a launch with its memory before and after, to run it again without the program |
//! | [`LaunchOutcome`] | how often each instruction was done, and the [`LaunchFault`] that ended it, if one did |
//!
//! # What it is true to
//!
//! - Each operation is rounded by itself, as the text says: nothing is contracted.
//! - The lanes of a warp do an instruction together until a branch parts them. In lock-step those behind catch up at
//!   the next label; in a random order lanes part and meet at any label, and warps and blocks take turns in between.
//! - A shuffle or a warp's barrier waits for all lanes of its mask; one that asks for a lane that is not there is a
//!   fault. A block's barrier waits for all threads that have not left.
//! - Addresses are bounded and aligned: [`LaunchFault::Address`], [`LaunchFault::Alignment`], [`LaunchFault::Beyond`].
//! - With [`Launch::checked`]: races in shared and global memory, between blocks too, where relaxed accesses may meet each
//!   other; registers and shared memory that are read before they are written; barriers and shuffles that lanes come to in
//!   different lines.
//!
//! It is no measure of time. Memory is in order, so that a fence that is missing shows as a race and not as a wrong value;
//! only relaxed stores come late in a random order, word by word.

mod body;
mod checks;
mod compute;
mod constants;
mod dispatch;
mod error;
mod fault;
mod ffi;
mod forms;
mod global;
mod instruction;
mod lanes;
mod late;
mod launch;
mod memory;
mod module;
mod order;
mod recording;
mod registers;

mod text;
mod warp;
mod watch;

/// The name of the library that cargo makes of this crate, for programs that load it.
pub const LIBRARY: &str = "liboctopus_ptx.so";

pub use error::PtxError;
pub use fault::{LaunchFault, Place};
pub use global::Allocation;
pub use launch::{Launch, LaunchOutcome, LaunchShape};
pub use module::{Entry, EntryParameter, Module};
pub use order::Order;
pub use recording::{RecordedMemory, Recording, Replay};
pub use warp::Count;
