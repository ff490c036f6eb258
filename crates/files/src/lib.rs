//! Writes files whole or not at all, or so that they can be resumed, and reads damaged ones without a panic.
//!
//! | task | begin with |
//! |--|--|
//! | write a file that a reader never sees half of | [`write_file`] |
//! | do that with contents that are made while they are written | [`replace`] |
//! | do that where a user has named the file, which may be a symlink or a device | [`Destination`] |
//! | write a folder so | [`NewFolder`] |
//! | keep a second process out | [`lock_file`] |
//! | let a test fail at any one operation on the file system | [`Storage`] |
//! | write numbers over hours, and go on after an interruption | [`ResumableFile`] |
//! | write a NumPy array so | [`NpyWriter`] |
//! | read a NumPy array | [`read_npy`] |
//! | read a file of a folder in which a pipe may lie | [`read_regular`] |
//! | decode bytes of unknown origin with a library that may panic | [`decode`] |
//! | write JSON in which no infinite number is lost | [`WithInfinities`] |
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

mod destination;
mod element;
mod error;
mod growing;
mod guard;
mod infinities;
mod lock;
mod new_folder;
pub mod npy;
mod regular;
pub mod resumable;
mod storage;
mod temporary;
mod unfinished;

pub use destination::{Destination, write_named};
pub use element::{NpyElement, NpyType};
pub use error::FileError;
pub use growing::{GrowingFile, GrowingStorage};
pub use guard::{decode, guard_this_thread, panics_become_errors};
pub use infinities::{WithInfinities, infinity_of};
pub use lock::lock_file;
pub use new_folder::NewFolder;
pub use npy::{NpyArray, NpyError, NpyHeader, NpyReader, NpyResumed, NpyValues, NpyWriter, read_npy};
pub use regular::{open_regular, read_regular};
pub use resumable::{FilePlan, Overwrite, ResumableError, ResumableFile, Resumption};
pub use storage::{Disk, Fill, Storage, folder_of, replace, replace_bytes, write_file};
pub use temporary::is_temporary;
pub use unfinished::exit_without_unfinished;
