//! The writer of arrays: a file that can be resumed, with NumPy's header.

use super::{NpyError, NpyHeader};
use crate::{NpyElement, NpyType, Overwrite, ResumableFile, Resumption};
use std::path::Path;

/// A writer of one array, which appends its numbers in C order and survives the end of its program.
///
/// Dropped before [`NpyWriter::finish`], it leaves what was there at the last [`NpyWriter::checkpoint`] to be resumed,
/// and nothing under the final name. All errors but that of the shape are those of [`ResumableFile`].
#[derive(Debug)]
pub struct NpyWriter {
    file: ResumableFile,
}

/// What was there to resume.
pub type NpyResumed = Resumption<NpyWriter>;

impl NpyWriter {
    /// Begins an array; folders above it are made. `description` says what it is (distribution, parameters, seed); only
    /// who gives the same one may resume it.
    ///
    /// # Errors
    /// [`NpyError::Shape`], and those of [`ResumableFile::create`].
    pub fn create(
        path: &Path,
        dtype: NpyType,
        shape: &[u64],
        description: &str,
        overwrite: Overwrite,
    ) -> Result<Self, NpyError> {
        let plan = NpyHeader::new(path, dtype, shape)?.plan();
        Ok(Self { file: ResumableFile::create(path, plan, description, overwrite)? })
    }

    /// Goes on with an unfinished array of the same description, type and shape, after what is on the disk for sure.
    ///
    /// # Errors
    /// [`NpyError::Shape`], and those of [`ResumableFile::resume`].
    pub fn resume(path: &Path, dtype: NpyType, shape: &[u64], description: &str) -> Result<NpyResumed, NpyError> {
        let plan = NpyHeader::new(path, dtype, shape)?.plan();
        Ok(match ResumableFile::resume(path, plan, description)? {
            Resumption::Unfinished(file) => Resumption::Unfinished(Self { file }),
            Resumption::Finished => Resumption::Finished,
        })
    }

    /// Returns the path that the array will have.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns how many elements are appended, those of earlier sittings included: the next one's index.
    pub fn written(&self) -> u64 {
        self.file.written()
    }

    /// Returns how many elements are on the disk for sure, as of the last checkpoint.
    pub fn durable(&self) -> u64 {
        self.file.durable()
    }

    /// Returns how many elements the whole array has.
    pub fn count(&self) -> u64 {
        self.file.count()
    }

    /// Appends numbers, which need not be whole rows.
    ///
    /// # Errors
    /// It fails as [`ResumableFile::append`] does.
    pub fn append<T: NpyElement>(&mut self, values: &[T]) -> Result<(), NpyError> {
        Ok(self.file.append(values)?)
    }

    /// Forces what is appended to the disk and then records it.
    ///
    /// # Errors
    /// It fails as [`ResumableFile::checkpoint`] does.
    pub fn checkpoint(&mut self) -> Result<(), NpyError> {
        Ok(self.file.checkpoint()?)
    }

    /// Finishes the array: its file gets its final name, and its record is removed.
    ///
    /// # Errors
    /// It fails as [`ResumableFile::finish`] does.
    pub fn finish(self) -> Result<(), NpyError> {
        Ok(self.file.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NpyArray, NpyValues, read_npy};

    const WHAT: &str = "normal, seed 7";

    #[test]
    fn empty_arrays_single_numbers_and_large_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        for shape in [&[0][..], &[0, 3], &[3, 0]] {
            let mut writer = NpyWriter::create(&path, NpyType::F4, shape, WHAT, Overwrite::Replace).unwrap();
            writer.append::<f32>(&[]).unwrap();
            writer.finish().unwrap();
            assert_eq!(read_npy(&path).unwrap(), NpyArray { shape: shape.into(), values: NpyValues::F4(Vec::new()) });
        }
        let mut writer = NpyWriter::create(&path, NpyType::F2, &[], WHAT, Overwrite::Replace).unwrap();
        writer.append(&[0x3c00u16]).unwrap();
        writer.finish().unwrap();
        assert_eq!(read_npy(&path).unwrap(), NpyArray { shape: Vec::new(), values: NpyValues::F2(vec![0x3c00]) });
        // Pieces larger than the buffer, and smaller ones between them.
        let (count, sizes) = (1_000_000, [1, 200_000, 3, 499_996, 300_000]);
        let mut writer = NpyWriter::create(&path, NpyType::F8, &[count], WHAT, Overwrite::Replace).unwrap();
        let values = |from: u64, to: u64| (from..to).map(|index| (index as f64).sqrt()).collect::<Vec<f64>>();
        for size in sizes {
            writer.append(&values(writer.written(), writer.written() + size)).unwrap();
        }
        writer.finish().unwrap();
        assert!(read_npy(&path).unwrap().values == NpyValues::F8(values(0, count)));
    }

    #[test]
    fn only_an_array_of_the_same_type_and_shape_is_resumed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        let mut writer = NpyWriter::create(&path, NpyType::F8, &[50, 3], WHAT, Overwrite::Refuse).unwrap();
        writer.append(&[0.5; 40]).unwrap();
        writer.checkpoint().unwrap();
        assert_eq!((writer.written(), writer.durable(), writer.count()), (40, 40, 150));
        assert_eq!(writer.path(), path);
        drop(writer);
        let resume = |dtype, shape: &[u64]| NpyWriter::resume(&path, dtype, shape, WHAT);
        let told = |dtype, shape: &[u64]| resume(dtype, shape).unwrap_err().to_string();
        let error = told(NpyType::F4, &[50, 3]);
        assert!(error.contains("it is of <f8 of shape (50, 3), and <f4 of shape (50, 3) is asked for"), "{error}");
        assert!(told(NpyType::F8, &[150]).contains("and <f8 of shape (150,) is asked for"));
        assert!(told(NpyType::F8, &[1 << 60]).contains("a.npy cannot have the shape"));
        let Ok(NpyResumed::Unfinished(mut writer)) = resume(NpyType::F8, &[50, 3]) else { panic!("it is unfinished") };
        writer.append(&[0.5; 110]).unwrap();
        writer.finish().unwrap();
        assert!(matches!(resume(NpyType::F8, &[50, 3]), Ok(NpyResumed::Finished)));
        let error = told(NpyType::F8, &[3, 50]);
        assert!(error.contains("a.npy is another file") && error.contains("<f8 of shape (3, 50) is asked"), "{error}");
    }
}
