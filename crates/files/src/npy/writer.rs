//! The writer: numbers are appended, and every now and then what is there is made sure of.

use super::element::in_file_order;
use super::record::NpyRecord;
use super::{NpyElement, NpyError, NpyHeader, record_path, unfinished_path};
use crate::growing::{GrowingFile, GrowingStorage};
use crate::{FileError, folder_of};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What is smaller than this is gathered before it is written; what is not is written straight from the caller's memory.
const BUFFER: usize = 1 << 20;

/// A writer of one array, which appends its numbers in C order and survives the end of its program.
///
/// Dropped before [`NpyWriter::finish`], it leaves what was there at the last [`NpyWriter::checkpoint`] to be resumed,
/// and nothing under the final name.
#[derive(Debug)]
pub struct NpyWriter {
    pub(super) storage: Box<dyn GrowingStorage>,
    pub(super) path: PathBuf,
    pub(super) header: NpyHeader,
    pub(super) record: NpyRecord,
    pub(super) file: BufWriter<Box<dyn GrowingFile>>,
    pub(super) written: u64,
    pub(super) failed: bool,
}

impl NpyWriter {
    pub(super) fn over(
        storage: Box<dyn GrowingStorage>,
        path: &Path,
        header: NpyHeader,
        record: NpyRecord,
        file: Box<dyn GrowingFile>,
    ) -> Self {
        let (written, file) = (record.durable, BufWriter::with_capacity(BUFFER, file));
        Self { storage, path: path.to_owned(), header, record, file, written, failed: false }
    }

    /// Returns the path that the array will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how many elements are appended, those of earlier sittings included: the next one's index.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns how many elements are on the disk for sure, as of the last checkpoint.
    pub fn durable(&self) -> u64 {
        self.record.durable
    }

    /// Returns how many elements the whole array has.
    pub fn count(&self) -> u64 {
        self.header.count()
    }

    /// Appends numbers, which need not be whole rows.
    ///
    /// # Errors
    /// [`NpyError::OtherType`] or [`NpyError::TooMany`] when they do not belong into the array; then the writer stays as
    /// it was. [`NpyError::Interrupted`] when they cannot be written, and [`NpyError::Stopped`] from then on.
    pub fn append<T: NpyElement>(&mut self, values: &[T]) -> Result<(), NpyError> {
        self.goes_on()?;
        let (array, given, path) = (self.header.dtype(), values.len() as u64, || self.path.clone());
        if T::TYPE != array {
            return Err(NpyError::OtherType { path: path(), array, given: T::TYPE });
        }
        let (count, written) = (self.count(), self.written);
        if given > count - written {
            return Err(NpyError::TooMany { path: path(), count, written, given });
        }
        let result = self.file.write_all(bytemuck::cast_slice(&in_file_order(values)));
        self.on_the_data("write", result)?;
        self.written += given;
        Ok(())
    }

    /// Forces what is appended to the disk and then records it, so that a resumed writer begins after it. It takes as
    /// long as the disk needs; every few seconds is often enough.
    ///
    /// # Errors
    /// [`NpyError::Interrupted`] when it cannot be done; the last checkpoint is then what is resumed.
    pub fn checkpoint(&mut self) -> Result<(), NpyError> {
        self.goes_on()?;
        // The record must not promise what is not on the disk.
        let flushed = self.file.flush().and_then(|()| self.file.get_mut().sync());
        self.on_the_data("write", flushed)?;
        let record = NpyRecord { durable: self.written, ..self.record.clone() };
        let recorded = record.write(&*self.storage, &self.path);
        self.interrupted_by(recorded)?;
        self.record = record;
        tracing::debug!(file = %self.path.display(), elements = self.written, "an array's data are on the disk");
        Ok(())
    }

    /// Finishes the array: its file gets its final name, and its record is removed.
    ///
    /// # Errors
    /// [`NpyError::Incomplete`] when elements are missing, [`NpyError::TargetExists`] when meanwhile a file has come to
    /// have the final name, and [`NpyError::Interrupted`] when the system refuses. All that was appended can be resumed.
    pub fn finish(mut self) -> Result<(), NpyError> {
        self.checkpoint()?;
        let (written, count) = (self.written, self.count());
        if written != count {
            return Err(NpyError::Incomplete { path: self.path, written, count });
        }
        if !self.record.replace && self.path.exists() {
            return Err(NpyError::TargetExists { path: self.path });
        }
        let named = self.storage.rename(&unfinished_path(&self.path), &self.path);
        let named = named.and_then(|()| self.storage.sync_dir(folder_of(&self.path)));
        self.interrupted_by(named.map_err(FileError::io("write", &self.path)))?;
        remove_record(&*self.storage, &self.path);
        Ok(())
    }

    fn goes_on(&self) -> Result<(), NpyError> {
        if self.failed { Err(NpyError::Stopped { path: self.path.clone() }) } else { Ok(()) }
    }

    fn on_the_data(&mut self, action: &'static str, result: std::io::Result<()>) -> Result<(), NpyError> {
        self.interrupted_by(result.map_err(FileError::io(action, &unfinished_path(&self.path))))
    }

    /// Notes a failure: what the file then holds after the last checkpoint is anyone's guess.
    fn interrupted_by(&mut self, result: Result<(), FileError>) -> Result<(), NpyError> {
        self.failed |= result.is_err();
        let (durable, count) = (self.durable(), self.count());
        result.map_err(|source| NpyError::Interrupted { source, durable, count })
    }
}

/// Removes the record of an array that is finished. One that stays does no harm, so that its array is not refused.
pub(super) fn remove_record(storage: &dyn GrowingStorage, path: &Path) {
    let record = record_path(path);
    if let Err(error) = storage.remove_file(&record) {
        tracing::warn!(file = %record.display(), %error, "the record of a finished array cannot be removed");
    }
}
