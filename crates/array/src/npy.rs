//! Arrays to and from files of NumPy (`.npy`).

use crate::pool::HostBuffer;
use crate::storage::Storage;
use crate::{Array, ArrayElement, ArrayError, ArrayShape};
use octopus_device::Device;
use octopus_files::{NpyError, NpyReader, NpyWriter, Overwrite};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An array that cannot be saved or loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArrayFileError {
    /// The file cannot be written or read; it has numbers of another type, for example.
    #[error(transparent)]
    File(#[from] NpyError),
    /// The array in the file has no dimension, or more than two.
    #[error(
        "{} has an array of {} dimensions, of shape {shape:?}: one or two are expected; reshape it with NumPy",
        path.display(),
        shape.len()
    )]
    Dimensions {
        /// The file.
        path: PathBuf,
        /// The lengths along each axis.
        shape: Vec<u64>,
    },
    /// The device failed, or memory does not suffice.
    #[error(transparent)]
    Array(#[from] ArrayError),
}

impl<T: ArrayElement> Array<T> {
    /// Saves the array as a file of NumPy (`.npy`), in the place of one of that name; folders above it are made. The file
    /// has its name once it is whole: who loads it never finds a part.
    ///
    /// ```
    /// use octopus_array::Array;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("a.npy"); // in Python: numpy.load("a.npy")
    /// let a = Array::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    /// a.save(&path)?;
    /// assert_eq!(Array::<f64>::load(&path)?.transpose()?.to_host()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the file cannot be written, or the device fails.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ArrayFileError> {
        let lengths = match self.shape {
            ArrayShape::Vector(length) => vec![length as u64],
            ArrayShape::Matrix(rows, columns) => vec![rows as u64, columns as u64],
        };
        let mut writer = NpyWriter::create(path.as_ref(), T::TYPE, &lengths, "an array", Overwrite::Replace)?;
        match &self.storage {
            Storage::Host(elements) => writer.append(elements)?,
            Storage::Cuda(_) => writer.append(&self.to_host()?)?,
        }
        Ok(writer.finish()?)
    }

    /// Loads an array of one dimension or two from a file of NumPy (`.npy`), in C order and of this type (`float16`,
    /// `float32` or `float64`), to this thread's [`Device::current`].
    ///
    /// # Errors
    /// [`ArrayFileError::File`] when the file cannot be read, is no such file or has numbers of another type;
    /// [`ArrayFileError::Dimensions`]; and when the device is not there, memory does not suffice, or it fails.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ArrayFileError> {
        let path = path.as_ref();
        let mut reader = NpyReader::open(path)?;
        // A length that no address counts has no memory either.
        let side = |length: u64| usize::try_from(length).unwrap_or(usize::MAX);
        let shape = match *reader.header().shape() {
            [length] => ArrayShape::Vector(side(length)),
            [rows, columns] => ArrayShape::Matrix(side(rows), side(columns)),
            ref shape => return Err(ArrayFileError::Dimensions { path: path.to_owned(), shape: shape.to_vec() }),
        };
        let mut elements = HostBuffer::<T>::unfilled(shape.elements("load")?)?;
        reader.read(&mut elements)?;
        let array = Self::from(elements).reshape(shape)?;
        match Device::current() {
            Device::Cpu => Ok(array),
            device => Ok(array.to_device(device)?),
        }
    }
}
