//! A part that is encoded and written by a thread of its own, while the run goes on.

use crate::part::PartBuffer;
use crate::writer::crc32;
use crate::{PartRecord, RunError};
use octopus_density::Layout;
use octopus_files::{Storage, replace_bytes};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// Where a part goes, and by whom it is written.
#[derive(Clone, Debug)]
pub(crate) struct PartPlace {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) dir: PathBuf,
    /// The name of the file in the run's folder.
    pub(crate) file: String,
    pub(crate) layout: Layout,
}

/// A part on its way to the disk.
#[derive(Debug)]
pub(crate) struct PartUnderWay {
    buffer: Arc<PartBuffer>,
    thread: DiskThread,
}

/// The thread that writes. Whoever lets go of it waits until it is done: the folder stays locked until then.
#[derive(Debug)]
struct DiskThread(Option<JoinHandle<Result<PartRecord, RunError>>>);

impl PartPlace {
    /// Encodes and writes the rows of a buffer.
    ///
    /// # Errors
    /// When they cannot be encoded or written.
    pub(crate) fn write(&self, buffer: &PartBuffer) -> Result<PartRecord, RunError> {
        let path: &Path = &self.dir.join(&self.file);
        let encode = |what: String| RunError::Encode { path: path.to_owned(), what };
        let bytes = buffer.encode(&self.layout).map_err(encode)?;
        replace_bytes(self.storage.as_ref(), path, &bytes)?;
        Ok(PartRecord { file: self.file.clone(), rows: buffer.rows(), crc32: crc32(&bytes) })
    }
}

impl PartUnderWay {
    /// Begins to write the rows of a buffer.
    pub(crate) fn begin(place: PartPlace, buffer: Arc<PartBuffer>) -> Self {
        let own = Arc::clone(&buffer);
        let thread = Builder::new().name("draws to disk".to_owned()).spawn(move || place.write(&own)).ok();
        Self { buffer, thread: DiskThread(thread) }
    }

    /// The rows that are written.
    pub(crate) fn buffer(&self) -> &PartBuffer {
        &self.buffer
    }

    /// Waits for the thread; returns the rows, and what was written: `None` if there was no thread to be had.
    pub(crate) fn end(self) -> (Arc<PartBuffer>, Option<Result<PartRecord, RunError>>) {
        let Self { buffer, mut thread } = self;
        let ended = thread.0.take().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        (buffer, ended)
    }
}

impl Drop for DiskThread {
    fn drop(&mut self) {
        // Another error is told already: this one has nobody who asks for it.
        let _ = self.0.take().map(JoinHandle::join);
    }
}
