//! What can be wrong with a file that is written over hours: each error names it and says what to do.

use crate::{FileError, NpyType};
use std::path::PathBuf;
use thiserror::Error;

/// A file could not be begun, resumed, written on or finished.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResumableError {
    /// The operating system refused something, and there is nothing to go on with.
    #[error(transparent)]
    File(#[from] FileError),
    /// The operating system refused something while a file was being written; the disk is full, for example.
    #[error("{source}; {durable} of {count} numbers are safe there: resume to go on after them")]
    Interrupted {
        /// What was refused, and where.
        source: FileError,
        /// How many numbers a resumed file begins with.
        durable: u64,
        /// How many numbers the whole file has.
        count: u64,
    },
    /// The file is written on after it has failed.
    #[error("{} is no longer written, since an earlier operation failed: resume it", path.display())]
    Stopped {
        /// The file's final path.
        path: PathBuf,
    },
    /// There is a file under the final name.
    #[error("{} already exists: choose another name, move it away, or say that it is to be replaced", path.display())]
    TargetExists {
        /// The file.
        path: PathBuf,
    },
    /// A folder has the final name, which no file can take from it.
    #[error("{} is a folder: name a file", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// There is an unfinished file of that name.
    #[error(
        "{} was begun and not finished: resume it, or remove {}, or say that it is to be replaced",
        path.display(),
        unfinished.display()
    )]
    UnfinishedExists {
        /// The file's final path.
        path: PathBuf,
        /// The file with its data.
        unfinished: PathBuf,
    },
    /// There is no unfinished file of that name, nor a finished one.
    #[error("{} was not begun: there is nothing to resume; create it", path.display())]
    NothingToResume {
        /// The file's final path.
        path: PathBuf,
    },
    /// The unfinished file is described otherwise than the one to resume.
    #[error(
        "{} is another file: it is described as `{found}`, and `{wanted}` is to be resumed; \
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
    /// The unfinished file has numbers of another type, or another number of them.
    #[error("{} is another file: it is of {found}, and {wanted} is asked for", unfinished.display())]
    OtherContents {
        /// The file with its data.
        unfinished: PathBuf,
        /// What it was begun with.
        found: String,
        /// What is asked for.
        wanted: String,
    },
    /// The file under the final name is not the one to resume, and nothing is unfinished.
    #[error("{} is another file, or damaged: {wanted} is asked for; choose another name, or move it away", path.display())]
    OtherFile {
        /// The file.
        path: PathBuf,
        /// What is asked for.
        wanted: String,
    },
    /// What is there of an unfinished file is not what its writer has left.
    #[error("{} cannot be resumed: {what}; remove it and begin anew", unfinished.display())]
    Damaged {
        /// The file with its data.
        unfinished: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// There is not enough room on the disk for the whole file.
    #[error(
        "{} takes {} more, and its disk has {} left: free some space, or choose another disk",
        path.display(),
        mebibytes(*bytes),
        mebibytes(*free)
    )]
    DiskTooSmall {
        /// The file's final path.
        path: PathBuf,
        /// The bytes that are still to be written.
        bytes: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// Numbers of another type than the file's.
    #[error("{} is of {wanted}, and numbers of {given} are given", path.display())]
    OtherType {
        /// The file's final path.
        path: PathBuf,
        /// The type of its numbers.
        wanted: NpyType,
        /// The type of the numbers that are given.
        given: NpyType,
    },
    /// More numbers than the file has room for; none of them is written.
    #[error("{} has room for {count} numbers, of which {written} are written: {given} more do not fit", path.display())]
    TooMany {
        /// The file's final path.
        path: PathBuf,
        /// How many numbers the file has in the end.
        count: u64,
        /// How many are written.
        written: u64,
        /// How many more were given.
        given: u64,
    },
    /// The file is to be finished before all of it is written.
    #[error("{} has {written} of {count} numbers: resume it and write the rest", path.display())]
    Incomplete {
        /// The file's final path.
        path: PathBuf,
        /// How many numbers are written.
        written: u64,
        /// How many numbers the file has in the end.
        count: u64,
    },
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
