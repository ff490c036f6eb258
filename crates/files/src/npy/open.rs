//! How a writer begins: anew, or where another one has ended.

use super::record::NpyRecord;
use super::writer::remove_record;
use super::{NpyError, NpyHeader, NpyReader, NpyType, NpyWriter, unfinished_path};
use crate::growing::{GrowingFile, GrowingStorage};
use crate::{Disk, FileError, folder_of};
use std::fs;
use std::io::Read;
use std::path::Path;

/// What is to become of an array of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// It stays, finished or not, and the new one is refused.
    Refuse,
    /// An unfinished one is lost at once, and a finished one when the new one is finished.
    Replace,
}

/// What was there to resume.
#[derive(Debug)]
// There is one of these for an array of gigabytes: the room that its small variant wastes is not worth a box.
#[allow(clippy::large_enum_variant)]
pub enum NpyResumed {
    /// An unfinished array, and its writer; [`NpyWriter::written`] says how far it had come.
    Unfinished(NpyWriter),
    /// A finished array of the same type and shape. What it is described as is no longer known.
    Finished,
}

impl NpyWriter {
    /// Begins an array; folders above it are made. `description` says what it is (distribution, parameters, seed); only who gives the same one may
    /// resume it.
    ///
    /// # Errors
    /// [`NpyError::TargetExists`] or [`NpyError::UnfinishedExists`] when there is one and it is not to be replaced,
    /// [`NpyError::DiskTooSmall`] when the disk has no room for it, and [`NpyError::File`] when the system refuses.
    pub fn create(
        path: &Path,
        dtype: NpyType,
        shape: &[u64],
        description: &str,
        overwrite: Overwrite,
    ) -> Result<Self, NpyError> {
        Self::create_on(Box::new(Disk), path, NpyHeader::new(path, dtype, shape)?, description, overwrite)
    }

    /// Begins an array as [`NpyWriter::create`] does, on a file system that a test may let fail.
    ///
    /// # Errors
    /// As there.
    pub fn create_on(
        storage: Box<dyn GrowingStorage>,
        path: &Path,
        header: NpyHeader,
        description: &str,
        overwrite: Overwrite,
    ) -> Result<Self, NpyError> {
        let (unfinished, replace) = (unfinished_path(path), overwrite == Overwrite::Replace);
        if !replace && path.exists() {
            return Err(NpyError::TargetExists { path: path.to_owned() });
        }
        let present = length(&unfinished);
        if !replace && present > 0 {
            return Err(NpyError::UnfinishedExists { path: path.to_owned(), unfinished });
        }
        let folder = folder_of(path);
        storage.create_dir(folder).map_err(FileError::io("create the folder", folder))?;
        check_space(&*storage, path, &header, present)?;
        let refused = |action| FileError::io(action, &unfinished);
        let mut file = storage.open(&unfinished).map_err(refused("create"))?;
        // The record goes first: data without a record could not be told from those of another array.
        let record = NpyRecord::new(&header, description, replace);
        record.write(&*storage, path)?;
        begin(&mut *file, &header).map_err(refused("write"))?;
        tracing::info!(file = %path.display(), array = %header, "an array is begun");
        Ok(Self::over(storage, path, header, record, file))
    }

    /// Goes on with an unfinished array of the same description, type and shape, after what is on the disk for sure.
    ///
    /// # Errors
    /// [`NpyError::NothingToResume`] when there is none, [`NpyError::OtherDescription`] or [`NpyError::OtherHeader`] when
    /// it is another one, [`NpyError::Damaged`] when it is not as its writer has left it, [`NpyError::TargetExists`] when
    /// meanwhile a file has come to have the final name, and [`NpyError::DiskTooSmall`] and [`NpyError::File`] as in
    /// [`NpyWriter::create`].
    pub fn resume(path: &Path, dtype: NpyType, shape: &[u64], description: &str) -> Result<NpyResumed, NpyError> {
        Self::resume_on(Box::new(Disk), path, NpyHeader::new(path, dtype, shape)?, description)
    }

    /// Goes on with an array as [`NpyWriter::resume`] does, on a file system that a test may let fail.
    ///
    /// # Errors
    /// As there.
    pub fn resume_on(
        storage: Box<dyn GrowingStorage>,
        path: &Path,
        wanted: NpyHeader,
        description: &str,
    ) -> Result<NpyResumed, NpyError> {
        let unfinished = unfinished_path(path);
        if length(&unfinished) == 0 {
            match NpyRecord::read(path)? {
                None if path.exists() => return finished(path, wanted),
                None => return Err(NpyError::NothingToResume { path: path.to_owned() }),
                // The writer was killed between giving the final name and removing the record.
                Some(record) if path.exists() && record.durable == wanted.count() => {
                    known(path, &wanted, description)?;
                    let finished = finished(path, wanted)?;
                    remove_record(&*storage, path);
                    return Ok(finished);
                }
                // It was killed before it wrote anything, and a file of the final name is one that it was to replace.
                Some(_) => {}
            }
        }
        let mut file = storage.open(&unfinished).map_err(FileError::io("resume", &unfinished))?;
        let record = known(path, &wanted, description)?;
        if !record.replace && path.exists() {
            return Err(NpyError::TargetExists { path: path.to_owned() });
        }
        let present = length(&unfinished);
        check_space(&*storage, path, &wanted, present)?;
        let end = wanted.encode().len() as u64 + wanted.bytes_of(record.durable);
        let as_left = record.durable == 0 || {
            let start = start_of(&mut *file, &wanted).map_err(FileError::io("read", &unfinished))?;
            start == wanted.encode() && present >= end
        };
        if !as_left {
            let what = format!("it has {present} bytes, and its record promises {end} with NumPy's header");
            return Err(NpyError::Damaged { unfinished, what });
        }
        let placed = if record.durable == 0 { begin(&mut *file, &wanted) } else { file.cut(end) };
        placed.map_err(|error| NpyError::Interrupted {
            source: FileError::io("write", &unfinished)(error),
            durable: record.durable,
            count: wanted.count(),
        })?;
        tracing::info!(file = %path.display(), array = %wanted, elements = record.durable, "an array is resumed");
        Ok(NpyResumed::Unfinished(Self::over(storage, path, wanted, record, file)))
    }
}

/// Returns the bytes that an unfinished array's file has. An empty one is of a writer that was killed before it wrote
/// anything, and as good as none.
fn length(unfinished: &Path) -> u64 {
    fs::metadata(unfinished).map_or(0, |there| there.len())
}

/// Writes the header of an array that has no data yet.
fn begin(file: &mut dyn GrowingFile, header: &NpyHeader) -> std::io::Result<()> {
    file.cut(0)?;
    file.write_all(&header.encode())
}

/// Reads as many bytes as the header should have.
fn start_of(file: &mut dyn GrowingFile, header: &NpyHeader) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(header.encode().len() as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Returns the record of the unfinished array at `path`, if it is the one that is wanted.
fn known(path: &Path, wanted: &NpyHeader, description: &str) -> Result<NpyRecord, NpyError> {
    let unfinished = unfinished_path(path);
    let Some(record) = NpyRecord::read(path)? else {
        return Err(NpyError::Damaged { unfinished, what: "its record is gone".into() });
    };
    if record.description != description {
        let (found, wanted) = (record.description, description.to_owned());
        return Err(NpyError::OtherDescription { unfinished, found, wanted });
    }
    match record.header(path) {
        Some(header) if header == *wanted => Ok(record),
        Some(found) => Err(NpyError::OtherHeader { path: unfinished, found, wanted: wanted.clone() }),
        None => Err(NpyError::Damaged { unfinished, what: "its record is of no array that is written here".into() }),
    }
}

/// Judges the file that has the final name where nothing is unfinished.
fn finished(path: &Path, wanted: NpyHeader) -> Result<NpyResumed, NpyError> {
    let found = NpyReader::open(path)?.header().clone();
    if found == wanted {
        Ok(NpyResumed::Finished)
    } else {
        Err(NpyError::OtherHeader { path: path.to_owned(), found, wanted })
    }
}

/// Checks that the rest of the array has room; `present` bytes of it take none.
fn check_space(storage: &dyn GrowingStorage, path: &Path, header: &NpyHeader, present: u64) -> Result<(), NpyError> {
    let whole = header.encode().len() as u64 + header.bytes_of(header.count());
    let bytes = whole.saturating_sub(present);
    match storage.free_space(folder_of(path)) {
        Some(free) if free < bytes => Err(NpyError::DiskTooSmall { path: path.to_owned(), bytes, free }),
        _ => Ok(()),
    }
}
