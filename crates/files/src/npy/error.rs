//! What can be wrong with an array's file: each error names it and says what to do.

use super::{NpyHeader, NpyType};
use crate::FileError;
use std::path::PathBuf;
use thiserror::Error;

/// An array could not be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The operating system refused something, and there is nothing to go on with.
    #[error(transparent)]
    File(#[from] FileError),
    /// The operating system refused something while an array was being written; the disk is full, for example.
    #[error("{source}; {durable} of {count} elements are safe there: resume to go on after them")]
    Interrupted {
        /// What was refused, and where.
        source: FileError,
        /// How many elements a resumed writer begins with.
        durable: u64,
        /// How many elements the whole array has.
        count: u64,
    },
    /// The writer is used after it has failed.
    #[error("{} is no longer written, since an earlier operation failed: resume it", path.display())]
    Stopped {
        /// The array's final path.
        path: PathBuf,
    },
    /// There is a file under the final name.
    #[error("{} already exists: choose another name, move it away, or say that it is to be replaced", path.display())]
    TargetExists {
        /// The file.
        path: PathBuf,
    },
    /// There is an unfinished array of that name.
    #[error(
        "{} was begun and not finished: resume it, or remove {}, or say that it is to be replaced",
        path.display(),
        unfinished.display()
    )]
    UnfinishedExists {
        /// The array's final path.
        path: PathBuf,
        /// The file with its data.
        unfinished: PathBuf,
    },
    /// There is no unfinished array of that name, nor a finished one.
    #[error("{} was not begun: there is nothing to resume; create it", path.display())]
    NothingToResume {
        /// The array's final path.
        path: PathBuf,
    },
    /// The unfinished array is described otherwise than the one to resume.
    #[error(
        "{} is another array: it is described as `{found}`, and `{wanted}` is to be resumed; \
         ask for the former, or remove the file to begin anew",
        unfinished.display()
    )]
    OtherDescription {
        /// The file with its data.
        unfinished: PathBuf,
        /// The description that it was begun with.
        found: String,
        /// The description of what is to be resumed.
        wanted: String,
    },
    /// A file has numbers of another type, or another shape.
    #[error("{} is another array: it is of {found}, and {wanted} is asked for", path.display())]
    OtherHeader {
        /// The file.
        path: PathBuf,
        /// Its type and shape.
        found: NpyHeader,
        /// The type and shape that are asked for.
        wanted: NpyHeader,
    },
    /// What is there of an unfinished array is not what its writer has left.
    #[error("{} cannot be resumed: {what}; remove it and begin anew", unfinished.display())]
    Damaged {
        /// The file with its data.
        unfinished: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A shape that no file can have.
    #[error("{} cannot have the shape {shape:?}: it has more than 32 dimensions, or more than 2^63 bytes", path.display())]
    Shape {
        /// The array's final path.
        path: PathBuf,
        /// The shape.
        shape: Vec<u64>,
    },
    /// There is not enough room on the disk for the whole array.
    #[error(
        "{} takes {} more, and its disk has {} left: free some space, or choose another disk",
        path.display(),
        mebibytes(*bytes),
        mebibytes(*free)
    )]
    DiskTooSmall {
        /// The array's final path.
        path: PathBuf,
        /// The bytes that are still to be written.
        bytes: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// Numbers of another type than the array's.
    #[error("{} is of {array}, and numbers of {given} are given or asked for", path.display())]
    OtherType {
        /// The array's path.
        path: PathBuf,
        /// The type of the array.
        array: NpyType,
        /// The type of the numbers.
        given: NpyType,
    },
    /// More numbers than the shape has room for; none of them is written.
    #[error("{} has room for {count} elements, of which {written} are written: {given} more do not fit", path.display())]
    TooMany {
        /// The array's final path.
        path: PathBuf,
        /// How many elements the shape has.
        count: u64,
        /// How many are written.
        written: u64,
        /// How many more were given.
        given: u64,
    },
    /// The array is to be finished before all of it is written.
    #[error("{} has {written} of {count} elements: resume it and write the rest", path.display())]
    Incomplete {
        /// The array's final path.
        path: PathBuf,
        /// How many elements are written.
        written: u64,
        /// How many elements the shape has.
        count: u64,
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

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
