//! How a file begins: anew, or where another writer has ended.

use super::file::remove_record;
use super::record::ResumableRecord;
use super::{FilePlan, ResumableError, ResumableFile, unfinished_path};
use crate::growing::{GrowingFile, GrowingStorage};
use crate::{Disk, FileError, folder_of};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// What is to become of a file of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// It stays, finished or not, and the new one is refused.
    Refuse,
    /// An unfinished one is lost at once, and a finished one when the new one is finished.
    Replace,
}

/// What was there to resume.
#[derive(Debug)]
// There is one of these for a file of gigabytes: the room that its small variant wastes is not worth a box.
#[allow(clippy::large_enum_variant)]
pub enum Resumption<F> {
    /// An unfinished file, to which numbers are appended.
    Unfinished(F),
    /// A finished file of the same plan.
    Finished,
}

impl ResumableFile {
    /// Begins a file; folders above it are made. `description` says what it is (distribution, parameters, seed); only
    /// who gives the same one may resume it.
    ///
    /// # Errors
    /// [`ResumableError::TargetExists`] or [`ResumableError::UnfinishedExists`] when there is one and it is not to be
    /// replaced, [`ResumableError::Folder`] when a folder has its name, [`ResumableError::DiskTooSmall`] when the disk has no room for it, and [`ResumableError::File`] when the
    /// system refuses.
    pub fn create(
        path: &Path,
        plan: FilePlan,
        description: &str,
        overwrite: Overwrite,
    ) -> Result<Self, ResumableError> {
        Self::create_on(Box::new(Disk), path, plan, description, overwrite)
    }

    /// Begins a file as [`ResumableFile::create`] does, on a file system that a test may let fail.
    ///
    /// # Errors
    /// As there.
    pub fn create_on(
        storage: Box<dyn GrowingStorage>,
        path: &Path,
        plan: FilePlan,
        description: &str,
        overwrite: Overwrite,
    ) -> Result<Self, ResumableError> {
        let (unfinished, replace) = (unfinished_path(path), overwrite == Overwrite::Replace);
        no_folder(path)?;
        if !replace && path.exists() {
            return Err(ResumableError::TargetExists { path: path.to_owned() });
        }
        let present = length(&unfinished);
        if !replace && present > 0 {
            return Err(ResumableError::UnfinishedExists { path: path.to_owned(), unfinished });
        }
        let folder = folder_of(path);
        storage.create_dir(folder).map_err(FileError::io("create the folder", folder))?;
        check_space(&*storage, path, &plan, present)?;
        let refused = |action| FileError::io(action, &unfinished);
        let mut file = storage.open(&unfinished).map_err(refused("create"))?;
        // Another writer may have finished its file before this one was opened.
        if !replace && path.exists() {
            if length(&unfinished) == 0 {
                storage.remove_file(&unfinished).map_err(refused("remove"))?;
            }
            return Err(ResumableError::TargetExists { path: path.to_owned() });
        }
        if let Some(former) = former_mode(path) {
            let _ = fs::set_permissions(&unfinished, former);
        }
        // The record goes first: data without a record could not be told from those of another file.
        let record = ResumableRecord::new(&plan, description, replace);
        record.write(&*storage, path)?;
        begin(&mut *file, &plan).map_err(refused("write"))?;
        tracing::info!(file = %path.display(), contents = plan.contents, "a file is begun");
        Ok(Self::over(storage, path, plan, record, file))
    }

    /// Goes on with an unfinished file of the same description and plan, after what is on the disk for sure. A finished
    /// file of the plan has no record of its description, unless the plan has it in what begins or ends the file.
    ///
    /// # Errors
    /// [`ResumableError::NothingToResume`] when there is none, [`ResumableError::OtherDescription`],
    /// [`ResumableError::OtherContents`] or [`ResumableError::OtherFile`] when it is another one,
    /// [`ResumableError::Damaged`] when it is not as its writer has left it, [`ResumableError::TargetExists`] when
    /// meanwhile a file has come to have the final name, and [`ResumableError::DiskTooSmall`] and
    /// [`ResumableError::File`] as in [`ResumableFile::create`].
    pub fn resume(path: &Path, plan: FilePlan, description: &str) -> Result<Resumption<Self>, ResumableError> {
        Self::resume_on(Box::new(Disk), path, plan, description)
    }

    /// Goes on with a file as [`ResumableFile::resume`] does, on a file system that a test may let fail.
    ///
    /// # Errors
    /// As there.
    pub fn resume_on(
        storage: Box<dyn GrowingStorage>,
        path: &Path,
        plan: FilePlan,
        description: &str,
    ) -> Result<Resumption<Self>, ResumableError> {
        let unfinished = unfinished_path(path);
        no_folder(path)?;
        if length(&unfinished) == 0 {
            match ResumableRecord::read(path)? {
                None if path.exists() => return finished(path, &plan).map(|()| Resumption::Finished),
                None => return Err(ResumableError::NothingToResume { path: path.to_owned() }),
                // The writer was killed between giving the final name and removing the record.
                Some(record) if path.exists() && record.durable == plan.count => {
                    known(path, &plan, description)?;
                    finished(path, &plan)?;
                    remove_record(&*storage, path);
                    return Ok(Resumption::Finished);
                }
                // It was killed before it wrote anything, and a file of the final name is one that it was to replace.
                Some(_) => {}
            }
        }
        let mut file = storage.open(&unfinished).map_err(FileError::io("resume", &unfinished))?;
        let record = known(path, &plan, description)?;
        if !record.replace && path.exists() {
            return Err(ResumableError::TargetExists { path: path.to_owned() });
        }
        let present = length(&unfinished);
        check_space(&*storage, path, &plan, present)?;
        let end = plan.bytes_with(record.durable);
        let as_left = record.durable == 0 || {
            let start = start_of(&mut *file, plan.beginning().len()).map_err(FileError::io("read", &unfinished))?;
            start == plan.beginning() && present >= end
        };
        if !as_left {
            let what = format!("it has {present} bytes, and its record promises {end} with its format's beginning");
            return Err(ResumableError::Damaged { unfinished, what });
        }
        let placed = if record.durable == 0 { begin(&mut *file, &plan) } else { file.cut(end) };
        placed.map_err(|error| ResumableError::Interrupted {
            source: FileError::io("write", &unfinished)(error),
            durable: record.durable,
            count: plan.count,
        })?;
        tracing::info!(file = %path.display(), contents = plan.contents, numbers = record.durable, "a file is resumed");
        Ok(Resumption::Unfinished(Self::over(storage, path, plan, record, file)))
    }
}

/// Returns the mode of the file that has the final name, which its successor has too, while its owner may write it.
fn former_mode(path: &Path) -> Option<fs::Permissions> {
    let former = path.symlink_metadata().ok().filter(fs::Metadata::is_file)?.permissions();
    (!former.readonly()).then_some(former)
}

/// Refuses a final name that no file can take.
fn no_folder(path: &Path) -> Result<(), ResumableError> {
    if path.is_dir() { Err(ResumableError::Folder { path: path.to_owned() }) } else { Ok(()) }
}

/// Returns the bytes that an unfinished file has. An empty one is of a writer that was killed before it wrote anything,
/// and as good as none.
fn length(unfinished: &Path) -> u64 {
    fs::metadata(unfinished).map_or(0, |there| there.len())
}

/// Writes what begins a file that has no numbers yet.
fn begin(file: &mut dyn GrowingFile, plan: &FilePlan) -> io::Result<()> {
    file.cut(0)?;
    file.write_all(&plan.start)
}

/// Reads `length` bytes, or all that are there.
fn start_of(file: impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(length as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Returns the record of the unfinished file at `path`, if it is the one that is wanted.
fn known(path: &Path, plan: &FilePlan, description: &str) -> Result<ResumableRecord, ResumableError> {
    let unfinished = unfinished_path(path);
    let Some(record) = ResumableRecord::read(path)? else {
        return Err(ResumableError::Damaged { unfinished, what: "its record is gone".into() });
    };
    if record.description != description {
        let (found, wanted) = (record.description, description.to_owned());
        return Err(ResumableError::OtherDescription { unfinished, found, wanted });
    }
    if record.contents != plan.contents {
        let (found, wanted) = (record.contents, plan.contents.clone());
        return Err(ResumableError::OtherContents { unfinished, found, wanted });
    }
    if record.durable > plan.count {
        let what = format!("its record counts {} numbers of {}", record.durable, plan.count);
        return Err(ResumableError::Damaged { unfinished, what });
    }
    Ok(record)
}

/// Judges the file that has the final name where nothing is unfinished.
fn finished(path: &Path, plan: &FilePlan) -> Result<(), ResumableError> {
    if is_planned(path, plan).map_err(FileError::io("read", path))? {
        Ok(())
    } else {
        Err(ResumableError::OtherFile { path: path.to_owned(), wanted: plan.contents.clone() })
    }
}

/// Whether a file has all that its plan gives it; its numbers are not looked at.
fn is_planned(path: &Path, plan: &FilePlan) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() != plan.bytes() || start_of(&file, plan.start.len())? != plan.start {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(plan.bytes_with(plan.count)))?;
    Ok(start_of(&file, plan.end.len())? == plan.end)
}

/// Checks that the rest of the file has room; `present` bytes of it take none.
fn check_space(storage: &dyn GrowingStorage, path: &Path, plan: &FilePlan, present: u64) -> Result<(), ResumableError> {
    let bytes = plan.bytes().saturating_sub(present);
    match storage.free_space(folder_of(path)) {
        Some(free) if free < bytes => Err(ResumableError::DiskTooSmall { path: path.to_owned(), bytes, free }),
        _ => Ok(()),
    }
}
