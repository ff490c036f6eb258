//! NumPy's `.npy` files: arrays that are written over hours and go on after an interruption, and arrays that are read.
//!
//! | task | begin with |
//! |--|--|
//! | write an array too large for memory, or for one sitting | [`NpyWriter::create`] |
//! | go on with it after the program was killed | [`NpyWriter::resume`] |
//! | read an array that fits into memory | [`read_npy`] |
//! | read one piece by piece | [`NpyReader`] |
//!
//! Arrays are of floating-point numbers, little-endian and in C order (the last index is the fastest). The data of what
//! is written begin at a multiple of 64 bytes, so that `np.load(path, mmap_mode="r")` maps them.
//!
//! An array that is being written is a [`ResumableFile`](crate::ResumableFile).
//!
//! ```
//! use octopus_files::{NpyResumed, NpyType, NpyWriter, Overwrite, read_npy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("angles.npy");
//! let what = "von Mises, kappa = 4, seed 7";
//! let mut writer = NpyWriter::create(&path, NpyType::F8, &[3, 2], what, Overwrite::Refuse)?;
//! writer.append(&[0.1, 0.2, 0.3, 0.4])?;
//! writer.checkpoint()?;
//! drop(writer); // The program is killed.
//!
//! let NpyResumed::Unfinished(mut writer) = NpyWriter::resume(&path, NpyType::F8, &[3, 2], what)? else {
//!     unreachable!("it was not finished")
//! };
//! assert_eq!(writer.written(), 4);
//! writer.append(&[0.5, 0.6])?;
//! writer.finish()?;
//! assert_eq!(read_npy(&path)?.shape, [3, 2]);
//! # Ok(())
//! # }
//! ```

mod dict;
mod error;
mod header;
mod reader;
mod writer;

pub use error::NpyError;
pub use header::NpyHeader;
pub use reader::{NpyArray, NpyReader, NpyValues, read_npy};
pub use writer::{NpyResumed, NpyWriter};
