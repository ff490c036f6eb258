//! What can be wrong with an array's file: each error names it and says what to do.

use super::NpyHeader;
use crate::{FileError, NpyType, ResumableError};
use std::path::PathBuf;
use thiserror::Error;

/// An array could not be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The operating system refuses to read the file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The array could not be begun, resumed, written on or finished.
    #[error(transparent)]
    Resumable(#[from] ResumableError),
    /// A shape that no file can have.
    #[error("{} cannot have the shape {shape:?}: it has more than 32 dimensions, or more than 2^63 bytes", path.display())]
    Shape {
        /// The array's final path.
        path: PathBuf,
        /// The shape.
        shape: Vec<u64>,
    },
    /// Numbers of another type than the array's.
    #[error("{} is of {array}, and numbers of {asked} are asked for", path.display())]
    OtherType {
        /// The array's path.
        path: PathBuf,
        /// The type of the array.
        array: NpyType,
        /// The type of the numbers that are asked for.
        asked: NpyType,
    },
    /// The file is no array that this crate reads.
    #[error("{} cannot be read: {what}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What it is instead, in words.
        what: String,
    },
    /// The file ends before its array does.
    #[error(
        "{} is cut off: {header} takes {expected} bytes, and there are {found}; copy or write it again",
        path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its type and shape.
        header: NpyHeader,
        /// The bytes that it should have.
        expected: u64,
        /// The bytes that it has.
        found: u64,
    },
}
