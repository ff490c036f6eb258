//! Writes files whole or not at all, or so that they can be resumed, and reads damaged ones without a panic.
//!
//! | task | begin with |
//! |--|--|
//! | write a file that a reader never sees half of | [`write_file`] |
//! | do that with contents that are made while they are written | [`replace`] |
//! | let a test fail at any one operation on the file system | [`Storage`] |
//! | write numbers over hours, and go on after an interruption | [`ResumableFile`] |
//! | write a NumPy array so | [`NpyWriter`] |
//! | read a NumPy array | [`read_npy`] |
//! | read a file of a folder in which a pipe may lie | [`read_regular`] |
//! | decode bytes of unknown origin with a library that may panic | [`decode`] |
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("summary.json");
//! octopus_files::write_file(&path, b"{}")?;
//! let error = octopus_files::write_file(&path.join("below a file"), b"{}").unwrap_err();
//! assert!(error.to_string().contains("cannot create the folder"), "{error}");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod element;
mod error;
mod growing;
mod guard;
pub mod npy;
mod regular;
pub mod resumable;
mod storage;
mod unfinished;

pub use element::{NpyElement, NpyType};
pub use error::FileError;
pub use growing::{GrowingFile, GrowingStorage};
pub use guard::{decode, panics_become_errors};
pub use npy::{NpyArray, NpyError, NpyHeader, NpyReader, NpyResumed, NpyValues, NpyWriter, read_npy};
pub use regular::{open_regular, read_regular};
pub use resumable::{FilePlan, Overwrite, ResumableError, ResumableFile, Resumption};
pub use storage::{Disk, Fill, Storage, folder_of, is_temporary, replace, replace_bytes, temporary, write_file};
pub use unfinished::{Unfinished, remove_unfinished};
