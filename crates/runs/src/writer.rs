//! Writes a run folder while the run goes on.
//!
//! From how many bytes of pending draws on (the buffer) a part is written unasked stands here.
//!
//! The order of operations makes every moment safe to die at. A part is written under a temporary name, forced to disk
//! and renamed; only then may a checkpoint name it. Only when all draws are written does `run.toml` say that the run is
//! complete, and only then is the checkpoint removed. On resume, parts that the checkpoint does not name are removed:
//! they will be drawn again, to the same bits.

use crate::RunError;
use crate::checkpoint::{self, Manifest};
use crate::part::{PartBuffer, check_block};
use crate::under_way::{PartPlace, PartUnderWay};
use crate::{PartRecord, RunRecord, RunStatus, columns, folder};
use flate2::Crc;
use octopus_density::LogDensity;
use octopus_files::{Disk, Storage, read_regular, replace_bytes};
use octopus_sampler::{Block, Phase, Strategy};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Pending draws beyond this many bytes are written without being asked for.
const BUFFER_LIMIT: usize = 64 << 20;

/// Settings for a new run folder: what to do with existing files, and what to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreateOptions {
    /// Replace a run that is in the folder. Other folders that are not empty are never touched.
    pub force: bool,
    /// Keep the draws of warm-up too.
    pub keep_warmup: bool,
}

/// The one writer of a run folder.
#[derive(Debug)]
pub struct RunWriter {
    dir: PathBuf,
    record: RunRecord,
    buffer: PartBuffer,
    /// A full part that nobody writes yet, or that could not be written.
    full: Option<Arc<PartBuffer>>,
    /// A full part that is written while rows are added to the next one.
    under_way: Option<PartUnderWay>,
    /// The memory of a part that is written.
    spare: Option<PartBuffer>,
    /// The parts on disk, in the order in which they were written.
    parts: Vec<PartRecord>,
    storage: Arc<dyn Storage>,
    /// The lock that keeps a second process from writing the same run.
    _lock: File,
}

/// A run that is to be taken up again. Its folder is locked and as it was, until [`go_on`](Self::go_on).
#[derive(Debug)]
pub struct Resumed {
    writer: RunWriter,
    /// The run's record.
    pub record: RunRecord,
    /// The sampler's state at the last checkpoint; `None` when there was no checkpoint yet: begin at the start.
    pub state: Option<Vec<u8>>,
}

impl Resumed {
    /// Begins to continue the folder: the record says that the run is running, and what was written after the last
    /// checkpoint goes.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn go_on(self) -> Result<RunWriter, RunError> {
        let mut writer = self.writer;
        writer.record.status = RunStatus::Running;
        writer.record.parts.clear();
        // The record first: it must not list parts that are about to go.
        writer.write_record()?;
        folder::remove_other_parts(writer.storage.as_ref(), &writer.dir, &writer.parts)?;
        writer.make_folders()?;
        Ok(writer)
    }
}

impl RunWriter {
    /// Begins a run in `dir`, which is made if it does not exist, and sets `record.status`, `record.parts` and
    /// `record.keep_warmup`.
    ///
    /// # Errors
    /// When `dir` is not empty (with [`force`](CreateOptions::force): when it holds something other than a run), is
    /// being written by another process, or cannot be written; when a name of the model clashes with one that the run
    /// folder uses itself; when warm-up is to be kept but has fewer chains than the run.
    pub fn create(dir: &Path, record: RunRecord, options: CreateOptions) -> Result<Self, RunError> {
        Self::create_in(Arc::new(Disk), dir, record, options)
    }

    /// Asks whether a run may begin in `dir`, which stays as it is.
    ///
    /// # Errors
    /// When `dir` is not empty, with [`force`](CreateOptions::force) when it holds something other than a run.
    pub fn may_create(dir: &Path, options: CreateOptions) -> Result<(), RunError> {
        let is_run = folder::is_run(dir);
        if dir.exists() && !(is_run && options.force) && !folder::is_vacant(dir)? {
            let is_unfinished = folder::read_record(dir).is_ok_and(|record| record.status != RunStatus::Complete);
            return Err(RunError::FolderNotEmpty { path: dir.to_owned(), is_run, is_unfinished });
        }
        Ok(())
    }

    pub(crate) fn create_in(
        storage: Arc<dyn Storage>,
        dir: &Path,
        mut record: RunRecord,
        options: CreateOptions,
    ) -> Result<Self, RunError> {
        columns::check_names(&record.layout)?;
        if options.keep_warmup && record.sampler.strategy == Strategy::ManyShort {
            return Err(RunError::KeepWarmup);
        }
        record.status = RunStatus::Running;
        record.parts.clear();
        record.keep_warmup = options.keep_warmup;
        let existed = dir.exists();
        let is_run = folder::is_run(dir);
        Self::may_create(dir, options)?;
        storage.create_dir(dir).map_err(RunError::io("create the folder", dir))?;
        let made = folder::lock(dir).and_then(|lock| {
            // Another process may have made a whole run of it before this one had the lock.
            Self::may_create(dir, options)?;
            let writer = Self::of(dir, record, Vec::new(), storage, lock);
            writer.clear()?;
            writer.write_record()?;
            writer.make_folders()?;
            Ok(writer)
        });
        if made.is_err() && !is_run {
            // Leave the place as it was found; what cannot be removed is ours and harmless.
            if !matches!(made, Err(RunError::InUse { .. } | RunError::FolderNotEmpty { .. })) {
                let _ = fs::remove_file(dir.join(".lock"));
            }
            if !existed {
                let _ = fs::remove_dir(dir);
            }
        }
        made
    }

    /// Reads what is needed to take up the run in `dir` after its last checkpoint, and changes nothing yet.
    ///
    /// # Errors
    /// When `dir` is not a run; when its run is complete, or another process writes it; when its record or checkpoint
    /// is damaged; when a part that the checkpoint names is missing or damaged.
    pub fn resume(dir: &Path) -> Result<Resumed, RunError> {
        Self::resume_in(Arc::new(Disk), dir)
    }

    pub(crate) fn resume_in(storage: Arc<dyn Storage>, dir: &Path) -> Result<Resumed, RunError> {
        if !folder::is_run(dir) {
            return Err(RunError::NotARun { path: dir.to_owned() });
        }
        let lock = folder::lock(dir)?;
        let record = folder::read_record(dir)?;
        if record.status == RunStatus::Complete {
            return Err(RunError::AlreadyComplete { path: dir.to_owned() });
        }
        let (manifest, state) = match read_checkpoint(dir)? {
            Some((manifest, state)) => (manifest, Some(state)),
            None => (Manifest::default(), None),
        };
        for part in &manifest.parts {
            crate::read::verified_bytes(dir, part, "it belongs to the checkpoint: make the run again with --force")?;
        }
        let writer = Self::of(dir, record.clone(), manifest.parts, storage, lock);
        Ok(Resumed { writer, record, state })
    }

    fn of(dir: &Path, record: RunRecord, parts: Vec<PartRecord>, storage: Arc<dyn Storage>, lock: File) -> Self {
        let buffer = PartBuffer::new(&record.layout, record.sampler.algorithm.clone());
        Self {
            dir: dir.to_owned(),
            record,
            buffer,
            full: None,
            under_way: None,
            spare: None,
            parts,
            storage,
            _lock: lock,
        }
    }

    /// Returns the run's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the run's record in its present state.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Returns the number of draws of each chain handed over so far in a phase (0 in a warm-up that is not kept).
    pub fn draws(&self, phase: Phase) -> usize {
        let prefix = folder::phase_folder(phase);
        let written: usize = self.parts.iter().filter(|part| part.file.starts_with(prefix)).map(|part| part.rows).sum();
        let pending = [Some(&self.buffer), self.full.as_deref(), self.under_way.as_ref().map(PartUnderWay::buffer)];
        let pending = pending.into_iter().flatten().filter(|buffer| buffer.phase() == phase);
        let pending: usize = pending.map(PartBuffer::rows).sum();
        (written + pending) / self.record.sampler.chains.max(1)
    }

    /// Changes the record (e.g. when warm-up has found its metric) and writes it.
    ///
    /// # Errors
    /// When `run.toml` cannot be written, or a part that was under way.
    pub fn update(&mut self, change: impl FnOnce(&mut RunRecord)) -> Result<(), RunError> {
        self.settle()?;
        change(&mut self.record);
        self.write_record()
    }

    /// Adds a block of draws. It is written at the next [`flush`](Self::flush) or
    /// [`checkpoint`](Self::checkpoint), or in the background when much is pending; the next call returns the error of such a
    /// write. Warm-up is skipped unless it is kept.
    ///
    /// # Errors
    /// When the block does not follow the last one or has another shape than the run, when `density` is not the run's,
    /// or when a part cannot be written.
    pub fn append(&mut self, block: &Block, density: &dyn LogDensity) -> Result<(), RunError> {
        if block.phase == Phase::Warmup && !self.record.keep_warmup {
            return Ok(());
        }
        if density.layout() != &self.record.layout {
            let (expected, found) = (self.record.model.name.clone(), density.name().to_owned());
            return Err(RunError::Block { what: "the layout of its density", expected, found });
        }
        check_block(block, density, self.record.sampler.chains, self.draws(block.phase))?;
        if self.buffer.phase() != block.phase {
            self.flush()?;
        }
        self.buffer.extend(block, density, self.record.sampler.seed)?;
        if self.buffer.bytes() > BUFFER_LIMIT { self.begin_part() } else { Ok(()) }
    }

    /// Writes pending draws as one Parquet part.
    ///
    /// # Errors
    /// When the part cannot be written; the draws then stay pending.
    pub fn flush(&mut self) -> Result<(), RunError> {
        self.settle()?;
        if self.buffer.rows() > 0 {
            self.full = Some(self.take_buffer());
        }
        self.settle()
    }

    /// Begins to write pending draws in the background, after the part that is under way.
    fn begin_part(&mut self) -> Result<(), RunError> {
        self.settle()?;
        let buffer = self.take_buffer();
        self.under_way = Some(PartUnderWay::begin(self.place_of(buffer.phase()), buffer));
        Ok(())
    }

    /// Takes the pending draws; later ones go into another buffer.
    fn take_buffer(&mut self) -> Arc<PartBuffer> {
        let new = || PartBuffer::new(&self.record.layout, self.record.sampler.algorithm.clone());
        let empty = self.spare.take().unwrap_or_else(new);
        Arc::new(std::mem::replace(&mut self.buffer, empty))
    }

    /// Waits for the part that is under way, and writes a full one that is not.
    fn settle(&mut self) -> Result<(), RunError> {
        if let Some(under_way) = self.under_way.take() {
            let (buffer, written) = under_way.end();
            self.full = Some(buffer);
            if let Some(written) = written {
                self.is_written(written?);
            }
        }
        if let Some(buffer) = &self.full {
            let written = self.place_of(buffer.phase()).write(buffer)?;
            self.is_written(written);
        }
        Ok(())
    }

    /// Notes that the full part is on disk, and keeps its memory for a later one.
    fn is_written(&mut self, part: PartRecord) {
        self.parts.push(part);
        self.spare = self.full.take().and_then(Arc::into_inner);
        self.spare.iter_mut().for_each(PartBuffer::clear);
    }

    /// Where the next part of a phase goes.
    fn place_of(&self, phase: Phase) -> PartPlace {
        let prefix = folder::phase_folder(phase);
        let number = self.parts.iter().filter(|part| part.file.starts_with(prefix)).count();
        PartPlace {
            storage: Arc::clone(&self.storage),
            dir: self.dir.clone(),
            file: folder::part_file(phase, number),
            layout: self.record.layout.clone(),
        }
    }

    /// Writes pending draws, then the sampler's `state` after them. A resumed run goes on from here.
    ///
    /// # Errors
    /// When a file cannot be written; the previous checkpoint then stays good.
    pub fn checkpoint(&mut self, state: &[u8]) -> Result<(), RunError> {
        self.flush()?;
        let path = folder::checkpoint_path(&self.dir);
        let manifest = Manifest { parts: self.parts.clone() };
        let bytes =
            checkpoint::encode(&manifest, state).map_err(|what| RunError::Encode { path: path.clone(), what })?;
        Ok(replace_bytes(self.storage.as_ref(), &path, &bytes)?)
    }

    /// Ends the session of a run that is to be resumed later. Call [`checkpoint`](Self::checkpoint)
    /// before, or draws since the last one will be drawn again.
    ///
    /// # Errors
    /// When a file cannot be written; the run is then as if it had been killed.
    pub fn interrupt(self, change: impl FnOnce(&mut RunRecord)) -> Result<RunRecord, RunError> {
        self.end(RunStatus::Interrupted, change)
    }

    /// Ends the run: writes pending draws and the final record, and removes the checkpoint.
    ///
    /// # Errors
    /// When a file cannot be written; the run can then be resumed.
    pub fn finish(self, change: impl FnOnce(&mut RunRecord)) -> Result<RunRecord, RunError> {
        self.end(RunStatus::Complete, change)
    }

    fn end(mut self, status: RunStatus, change: impl FnOnce(&mut RunRecord)) -> Result<RunRecord, RunError> {
        self.flush()?;
        change(&mut self.record);
        self.record.status = status;
        self.record.parts = self.parts.clone();
        self.write_record()?;
        if status == RunStatus::Complete {
            remove_what_is_over(self.storage.as_ref(), &self.dir)?;
        }
        Ok(self.record)
    }

    /// Removes what the writer of a complete run has left that was killed right after it had said so: the checkpoint and
    /// folders without draws. What cannot be removed stays, and is in nobody's way.
    pub fn clear_complete(dir: &Path) {
        let cleared = folder::lock(dir).and_then(|_lock| {
            let record = folder::read_record(dir)?;
            if record.status == RunStatus::Complete {
                folder::remove_half_written(&Disk, dir)?;
                remove_what_is_over(&Disk, dir)?;
            }
            Ok(())
        });
        if let Err(error) = cleared {
            tracing::debug!(%error, "what a complete run does not need stays");
        }
    }

    fn write_record(&self) -> Result<(), RunError> {
        let path = folder::record_path(&self.dir);
        Ok(replace_bytes(self.storage.as_ref(), &path, self.record.render(&path)?.as_bytes())?)
    }

    /// Removes a former run: its checkpoint first, so that it cannot be resumed into a mixture of two.
    fn clear(&self) -> Result<(), RunError> {
        folder::remove_state(self.storage.as_ref(), &self.dir)?;
        folder::remove_other_parts(self.storage.as_ref(), &self.dir, &[])
    }

    fn make_folders(&self) -> Result<(), RunError> {
        let mut folders = vec![self.dir.join(folder::phase_folder(Phase::Sampling)), folder::state_dir(&self.dir)];
        if self.record.keep_warmup {
            folders.push(self.dir.join(folder::phase_folder(Phase::Warmup)));
        }
        for folder in folders {
            self.storage.create_dir(&folder).map_err(RunError::io("create the folder", &folder))?;
        }
        Ok(())
    }
}

/// Removes what a complete run does not need: its checkpoint, and folders without draws.
fn remove_what_is_over(storage: &dyn Storage, dir: &Path) -> Result<(), RunError> {
    folder::remove_state(storage, dir)?;
    for phase in [Phase::Warmup, Phase::Sampling] {
        folder::remove_if_empty(storage, &dir.join(folder::phase_folder(phase)))?;
    }
    Ok(())
}

/// Returns the checkpoint of a run, if it has one.
pub(crate) fn read_checkpoint(dir: &Path) -> Result<Option<(Manifest, Vec<u8>)>, RunError> {
    let path = folder::checkpoint_path(dir);
    let bytes = match read_regular(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RunError::io("read", &path)(error)),
    };
    checkpoint::decode(&bytes).map(Some).map_err(|what| RunError::DamagedCheckpoint { path, what })
}

/// CRC-32 (IEEE 802.3) of a file's bytes.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}
