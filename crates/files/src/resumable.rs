//! Files of numbers that are written over hours and go on after an interruption, to the same bytes.
//!
//! | task | begin with |
//! |--|--|
//! | say what a format puts around the numbers | [`FilePlan`] |
//! | begin a file | [`ResumableFile::create`] |
//! | go on with it after the program was killed | [`ResumableFile::resume`] |
//!
//! While `angles.npy` is being written, its data are in `angles.npy.partial`, and `angles.npy.partial.json` records
//! what they are and how many of them are on the disk for sure.

mod error;
mod file;
mod open;
mod plan;
mod record;

#[cfg(test)]
mod faulty;
#[cfg(test)]
mod interrupted;

pub use error::ResumableError;
pub use file::ResumableFile;
pub use open::{Overwrite, Resumption};
pub use plan::FilePlan;
pub use record::{record_path, unfinished_path};
