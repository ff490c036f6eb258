//! A file system that fails on purpose, at any one operation on it or on its growing files.

use crate::{Disk, Fill, GrowingFile, GrowingStorage, Storage};
use std::cell::RefCell;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// What happens at the operation that fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GrowingFault {
    /// The process dies: nothing works from then on, the clean-up included.
    Kill,
    /// The machine loses its power: as `Kill`, and what was not forced to the disk is lost.
    PowerLoss,
    /// The disk is full for this one operation; a write leaves the half that still had room.
    Full,
    /// The operation is forbidden.
    Denied,
}

/// The disk until operation `at` (counted from 0), which fails. It forces nothing to the real disk, which takes long.
#[derive(Clone, Debug)]
pub(super) struct FaultyGrowth {
    fault: GrowingFault,
    at: Arc<AtomicUsize>,
    /// The operations asked for so far.
    done: Arc<AtomicUsize>,
    /// What the disk says is free.
    free: Option<u64>,
}

impl FaultyGrowth {
    pub(super) fn new(fault: GrowingFault, at: usize) -> Self {
        Self { fault, at: Arc::new(at.into()), done: Arc::default(), free: None }
    }

    /// The disk that never fails and has so many bytes left.
    pub(super) fn with_room(free: u64) -> Self {
        Self { free: Some(free), ..Self::new(GrowingFault::Kill, usize::MAX) }
    }

    /// Lets the next operation fail.
    pub(super) fn fail_next(&self) {
        self.at.store(self.done.load(SeqCst), SeqCst);
    }

    /// Whether the operation that fails was asked for.
    pub(super) fn has_failed(&self) -> bool {
        self.done.load(SeqCst) > self.at.load(SeqCst)
    }

    /// Does `work`, or fails after `half` of it.
    fn step<T>(&self, half: impl FnOnce() -> io::Result<()>, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let (now, at) = (self.done.fetch_add(1, SeqCst), self.at.load(SeqCst));
        if now == at && self.fault != GrowingFault::Denied {
            half()?;
        }
        match self.fault {
            GrowingFault::Kill | GrowingFault::PowerLoss if now >= at => Err(io::Error::other("killed")),
            GrowingFault::Full if now == at => Err(io::ErrorKind::StorageFull.into()),
            GrowingFault::Denied if now == at => Err(io::ErrorKind::PermissionDenied.into()),
            _ => work(),
        }
    }
}

/// Half of what cannot be done by halves.
fn nothing() -> io::Result<()> {
    Ok(())
}

impl Storage for FaultyGrowth {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step(nothing, || Disk.create_dir(path))
    }

    fn write(&self, path: &Path, fill: Fill) -> io::Result<()> {
        let mut bytes = Vec::new();
        fill(&mut bytes)?;
        self.step(|| fs::write(path, &bytes[..bytes.len() / 2]), || fs::write(path, &bytes))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(nothing, || Disk.rename(from, to))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step(nothing, || path.metadata().map(drop))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step(nothing, || Disk.remove_file(path))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.step(nothing, || Disk.remove_dir(path))
    }
}

impl GrowingStorage for FaultyGrowth {
    fn open(&self, path: &Path) -> io::Result<Box<dyn GrowingFile>> {
        let file = self.step(nothing, || Disk.open(path))?;
        let length = path.metadata()?.len();
        Ok(Box::new(FaultyFile { file, faults: self.clone(), length, synced: length }))
    }

    fn free_space(&self, _: &Path) -> Option<u64> {
        self.free
    }
}

/// A growing file whose operations are counted, and fail, with those of its file system.
#[derive(Debug)]
struct FaultyFile {
    file: Box<dyn GrowingFile>,
    faults: FaultyGrowth,
    /// The bytes that are there.
    length: u64,
    /// Those of them that a power loss leaves.
    synced: u64,
}

impl Drop for FaultyFile {
    fn drop(&mut self) {
        if self.faults.fault == GrowingFault::PowerLoss && self.faults.has_failed() {
            self.file.cut(self.synced).unwrap();
        }
    }
}

impl Read for FaultyFile {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.faults.step(nothing, || self.file.read(room))
    }
}

impl Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = RefCell::new(&mut self.file);
        let half = || file.borrow_mut().write_all(&bytes[..bytes.len() / 2]);
        let written = self.faults.step(half, || file.borrow_mut().write(bytes))?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl GrowingFile for FaultyFile {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.faults.step(nothing, || self.file.cut(length))?;
        (self.length, self.synced) = (length, self.synced.min(length));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.faults.step(nothing, || Ok(()))?;
        self.synced = self.length;
        Ok(())
    }
}
