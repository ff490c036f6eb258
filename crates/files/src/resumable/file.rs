//! The writer: it appends numbers, and every now and then makes sure that they are on the disk.

use super::record::ResumableRecord;
use super::{FilePlan, ResumableError, record_path, unfinished_path};
use crate::element::in_file_order;
use crate::growing::{GrowingFile, GrowingStorage};
use crate::{FileError, NpyElement, folder_of};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// What is smaller than this is gathered before it is written; what is not is written straight from the caller's memory.
const BUFFER: usize = 1 << 20;

/// A file to which numbers are appended, and which survives the end of its program.
///
/// Dropped before [`ResumableFile::finish`], it leaves what was there at the last [`ResumableFile::checkpoint`] to be
/// resumed, and nothing under the final name.
#[derive(Debug)]
pub struct ResumableFile {
    pub(super) storage: Box<dyn GrowingStorage>,
    pub(super) path: PathBuf,
    pub(super) plan: FilePlan,
    pub(super) record: ResumableRecord,
    pub(super) file: BufWriter<Box<dyn GrowingFile>>,
    pub(super) written: u64,
    pub(super) failed: bool,
}

impl ResumableFile {
    pub(super) fn over(
        storage: Box<dyn GrowingStorage>,
        path: &Path,
        plan: FilePlan,
        record: ResumableRecord,
        file: Box<dyn GrowingFile>,
    ) -> Self {
        let (written, file) = (record.durable, BufWriter::with_capacity(BUFFER, file));
        Self { storage, path: path.to_owned(), plan, record, file, written, failed: false }
    }

    /// Returns the path that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how many numbers are appended, those of earlier sittings included: the next one's index.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns how many numbers are on the disk for sure, as of the last checkpoint.
    pub fn durable(&self) -> u64 {
        self.record.durable
    }

    /// Returns how many numbers the whole file has.
    pub fn count(&self) -> u64 {
        self.plan.count
    }

    /// Appends numbers, which need not be whole rows or groups.
    ///
    /// # Errors
    /// [`ResumableError::OtherType`] or [`ResumableError::TooMany`] when they do not belong into the file; then it stays
    /// as it was. [`ResumableError::Interrupted`] when they cannot be written, and [`ResumableError::Stopped`] from then
    /// on.
    pub fn append<T: NpyElement>(&mut self, numbers: &[T]) -> Result<(), ResumableError> {
        self.goes_on()?;
        let (wanted, given, path) = (self.plan.dtype, numbers.len() as u64, || self.path.clone());
        if T::TYPE != wanted {
            return Err(ResumableError::OtherType { path: path(), wanted, given: T::TYPE });
        }
        let (count, written) = (self.count(), self.written);
        if given > count - written {
            return Err(ResumableError::TooMany { path: path(), count, written, given });
        }
        let result = self.write(&in_file_order(numbers));
        self.on_the_data("write", result)
    }

    /// Writes numbers, and what begins a group before its first one.
    fn write<T: NpyElement>(&mut self, mut numbers: &[T]) -> io::Result<()> {
        while !numbers.is_empty() {
            let (group, into) = (self.written / self.plan.group, self.written % self.plan.group);
            if into == 0 {
                self.file.write_all(self.plan.before(group))?;
            }
            let room = usize::try_from(self.plan.group - into).unwrap_or(usize::MAX);
            let (now, later) = numbers.split_at(numbers.len().min(room));
            self.file.write_all(bytemuck::cast_slice(now))?;
            self.written += now.len() as u64;
            numbers = later;
        }
        Ok(())
    }

    /// Forces what is appended to the disk and then records it, so that a resumed file goes on after it. It takes as
    /// long as the disk needs; every few seconds is often enough.
    ///
    /// # Errors
    /// [`ResumableError::Interrupted`] when it cannot be done; the last checkpoint is then what is resumed.
    pub fn checkpoint(&mut self) -> Result<(), ResumableError> {
        self.goes_on()?;
        // The record must not promise what is not on the disk.
        let flushed = self.file.flush().and_then(|()| self.file.get_mut().sync());
        self.on_the_data("write", flushed)?;
        let record = ResumableRecord { durable: self.written, ..self.record.clone() };
        let recorded = record.write(&*self.storage, &self.path);
        self.interrupted_by(recorded)?;
        self.record = record;
        tracing::debug!(file = %self.path.display(), numbers = self.written, "a file's numbers are on the disk");
        Ok(())
    }

    /// Finishes the file: it gets its final name, and its record is removed.
    ///
    /// # Errors
    /// [`ResumableError::Incomplete`] when numbers are missing, [`ResumableError::TargetExists`] when meanwhile a file
    /// has come to have the final name, and [`ResumableError::Interrupted`] when the system refuses. All that was
    /// appended can be resumed.
    pub fn finish(mut self) -> Result<(), ResumableError> {
        self.goes_on()?;
        let (written, count) = (self.written, self.count());
        if written == count {
            let ended = self.file.write_all(&self.plan.end);
            self.on_the_data("write", ended)?;
        }
        self.checkpoint()?;
        if written != count {
            return Err(ResumableError::Incomplete { path: self.path, written, count });
        }
        if !self.record.replace && self.path.exists() {
            return Err(ResumableError::TargetExists { path: self.path });
        }
        let named = self.storage.rename(&unfinished_path(&self.path), &self.path);
        let named = named.and_then(|()| self.storage.sync_dir(folder_of(&self.path)));
        self.interrupted_by(named.map_err(FileError::io("write", &self.path)))?;
        remove_record(&*self.storage, &self.path);
        Ok(())
    }

    fn goes_on(&self) -> Result<(), ResumableError> {
        if self.failed { Err(ResumableError::Stopped { path: self.path.clone() }) } else { Ok(()) }
    }

    fn on_the_data(&mut self, action: &'static str, result: io::Result<()>) -> Result<(), ResumableError> {
        self.interrupted_by(result.map_err(FileError::io(action, &unfinished_path(&self.path))))
    }

    /// Notes a failure: what the file then holds after the last checkpoint is anyone's guess.
    fn interrupted_by(&mut self, result: Result<(), FileError>) -> Result<(), ResumableError> {
        self.failed |= result.is_err();
        let (durable, count) = (self.durable(), self.count());
        result.map_err(|source| ResumableError::Interrupted { source, durable, count })
    }
}

/// Removes the record of a file that is finished. One that stays does no harm, so that its file is not refused.
pub(super) fn remove_record(storage: &dyn GrowingStorage, path: &Path) {
    let record = record_path(path);
    if let Err(error) = storage.remove_file(&record) {
        tracing::warn!(file = %record.display(), %error, "the record of a finished file cannot be removed");
    }
}
