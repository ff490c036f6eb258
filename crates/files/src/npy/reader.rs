//! The reader: an array's type and shape, and its numbers, whole or piece by piece.

use super::{NpyError, NpyHeader};
use crate::element::to_machine_order;
use crate::{FileError, NpyElement, NpyType};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// A reader of one array, from its first number to its last. For an array that fits into memory take [`read_npy`].
#[derive(Debug)]
pub struct NpyReader {
    path: PathBuf,
    file: BufReader<File>,
    header: NpyHeader,
    left: u64,
}

impl NpyReader {
    /// Opens an array: `<f8`, `<f4` or `<f2`, in C order, of any number of dimensions. What follows it in its file is
    /// not looked at, as NumPy does.
    ///
    /// # Errors
    /// [`NpyError::File`] when the file cannot be opened, [`NpyError::Unreadable`] when it is no such array, and
    /// [`NpyError::Truncated`] when it is shorter than its array.
    pub fn open(path: &Path) -> Result<Self, NpyError> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (found, file) = opened.map_err(FileError::io("read", path))?;
        let mut file = BufReader::with_capacity(1 << 18, file);
        let (header, start) = NpyHeader::read(path, &mut file)?;
        let left = header.count();
        let expected = start + header.bytes_of(left);
        if found < expected {
            return Err(NpyError::Truncated { path: path.to_owned(), header, expected, found });
        }
        Ok(Self { path: path.to_owned(), file, header, left })
    }

    /// Returns the array's type and shape.
    pub fn header(&self) -> &NpyHeader {
        &self.header
    }

    /// Returns how many numbers are still to be read.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Reads the next numbers, as many as there is room for and as there are left; returns how many.
    ///
    /// # Errors
    /// [`NpyError::OtherType`] when the array is of others, and [`NpyError::File`] when the file cannot be read.
    pub fn read<T: NpyElement>(&mut self, room: &mut [T]) -> Result<usize, NpyError> {
        if T::TYPE != self.header.dtype() {
            return Err(NpyError::OtherType { path: self.path.clone(), array: self.header.dtype(), asked: T::TYPE });
        }
        let count = usize::try_from(self.left).unwrap_or(usize::MAX).min(room.len());
        let room = &mut room[..count];
        let read = self.file.read_exact(bytemuck::cast_slice_mut(room));
        read.map_err(FileError::io("read", &self.path))?;
        to_machine_order(room);
        self.left -= count as u64;
        Ok(count)
    }

    /// Reads all numbers that are left.
    fn rest<T: NpyElement>(&mut self) -> Result<Vec<T>, NpyError> {
        let mut values = Vec::new();
        let count = usize::try_from(self.left).unwrap_or(usize::MAX);
        let room = values.try_reserve_exact(count).map_err(|_| io::ErrorKind::OutOfMemory.into());
        room.map_err(FileError::io("read into memory", &self.path))?;
        values.resize(count, T::zeroed());
        self.read(&mut values)?;
        Ok(values)
    }
}

/// An array's numbers, in C order.
#[derive(Clone, Debug, PartialEq)]
pub enum NpyValues {
    /// Double precision.
    F8(Vec<f64>),
    /// Single precision.
    F4(Vec<f32>),
    /// The bits of half precision.
    F2(Vec<u16>),
}

/// An array in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct NpyArray {
    /// Its lengths along each axis; none for a single number.
    pub shape: Vec<u64>,
    /// Its numbers; the last index is the fastest.
    pub values: NpyValues,
}

/// Reads an array whole.
///
/// # Errors
/// As [`NpyReader::open`], and when the array has no room in memory.
pub fn read_npy(path: &Path) -> Result<NpyArray, NpyError> {
    let mut reader = NpyReader::open(path)?;
    let values = match reader.header.dtype() {
        NpyType::F8 => NpyValues::F8(reader.rest()?),
        NpyType::F4 => NpyValues::F4(reader.rest()?),
        NpyType::F2 => NpyValues::F2(reader.rest()?),
    };
    Ok(NpyArray { shape: reader.header.shape().to_vec(), values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(folder: &Path, shape: &[u64], values: &[f32]) -> PathBuf {
        let path = folder.join("a.npy");
        let header = NpyHeader::new(&path, NpyType::F4, shape).unwrap();
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(&path, [header.encode(), data].concat()).unwrap();
        path
    }

    #[test]
    fn an_array_is_read_piece_by_piece() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = NpyReader::open(&file(dir.path(), &[1, 5], &[1.0, 2.0, 3.0, 4.0, 5.0])).unwrap();
        assert_eq!((reader.header().shape(), reader.left()), (&[1, 5][..], 5));
        let mut room = [0f32; 3];
        assert_eq!((reader.read(&mut room).unwrap(), room), (3, [1.0, 2.0, 3.0]));
        assert_eq!((reader.read(&mut room).unwrap(), room), (2, [4.0, 5.0, 3.0]));
        assert_eq!(reader.read(&mut room).unwrap(), 0);
        let error = reader.read(&mut [0f64]).unwrap_err().to_string();
        assert!(error.contains("a.npy is of <f4, and numbers of <f8"), "{error}");
    }

    #[test]
    fn what_follows_an_array_is_not_looked_at_and_what_is_missing_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let array = read_npy(&file(dir.path(), &[2], &[1.0, 2.0, 3.0])).unwrap();
        assert_eq!(array, NpyArray { shape: vec![2], values: NpyValues::F4(vec![1.0, 2.0]) });
        let error = read_npy(&file(dir.path(), &[4], &[1.0, 2.0, 3.0])).unwrap_err().to_string();
        assert!(error.contains("a.npy is cut off: <f4 of shape (4,) takes 144 bytes, and there are 140"), "{error}");
        let error = read_npy(&dir.path().join("none.npy")).unwrap_err().to_string();
        assert!(error.contains("none.npy") && error.contains("check the path"), "{error}");
        assert!(read_npy(dir.path()).is_err());
    }
}
