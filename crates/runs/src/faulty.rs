//! File systems that fail on purpose.

use octopus_files::{Disk, Fill, Storage};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// What happens at the operation that fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// The process dies: nothing works from then on, the clean-up included.
    Kill,
    /// The disk is full for this one operation; a write leaves the half that still had room.
    Full,
    /// The operation is forbidden.
    Denied,
}

/// The disk until operation `at` (counted from 0), which fails.
#[derive(Debug)]
pub(crate) struct Faulty {
    fault: Fault,
    at: usize,
    done: AtomicUsize,
}

impl Faulty {
    pub(crate) fn new(fault: Fault, at: usize) -> Self {
        Self { fault, at, done: AtomicUsize::new(0) }
    }

    /// Returns the operations asked for so far.
    pub(crate) fn operations(&self) -> usize {
        self.done.load(SeqCst)
    }

    fn fails(&self) -> Option<io::Error> {
        let now = self.done.fetch_add(1, SeqCst);
        match self.fault {
            Fault::Kill if now >= self.at => Some(io::Error::other("killed")),
            Fault::Full if now == self.at => Some(io::ErrorKind::StorageFull.into()),
            Fault::Denied if now == self.at => Some(io::ErrorKind::PermissionDenied.into()),
            _ => None,
        }
    }

    fn step(&self, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.fails().map_or_else(work, Err)
    }
}

impl Storage for Faulty {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step(|| Disk.create_dir(path))
    }

    fn write(&self, path: &Path, fill: Fill) -> io::Result<()> {
        let Some(error) = self.fails() else { return Disk.write(path, fill) };
        // The operation at which it happens still writes half of its bytes; later ones write none.
        if self.fault != Fault::Denied && self.done.load(SeqCst) == self.at + 1 {
            let mut bytes = Vec::new();
            fill(&mut bytes)?;
            Disk.write(path, &mut |writer| writer.write_all(&bytes[..bytes.len() / 2]))?;
        }
        Err(error)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|| Disk.rename(from, to))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step(|| Disk.sync_dir(path))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step(|| Disk.remove_file(path))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.step(|| Disk.remove_dir(path))
    }
}
