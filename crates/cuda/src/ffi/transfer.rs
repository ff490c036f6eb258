//! Asynchronous copies, which run while the program goes on.
//!
//! The page-locked memory of such a copy belongs to [`InFlight`] until the copy is done. No lifetime keeps it there
//! (a borrow ends when its guard is forgotten): ownership does. Dropped early, the memory waits for the context to be
//! idle; forgotten, it is never freed; and the device's side waits likewise when it is dropped.

use super::event::RawEvent;
use super::memory::RawDeviceMemory;
use super::pinned::PinnedMemory;
use super::status::Operation;
use super::stream::RawStream;
use super::timeline::copy_of;
use crate::usage::Direction;
use crate::{CudaError, Element};
use cust::sys;
use std::ops::Range;

/// A copy under way, with the host's side of it.
pub(crate) struct InFlight {
    pinned: PinnedMemory,
    started: RawEvent,
    done: RawEvent,
    direction: Direction,
    bytes: usize,
}

impl InFlight {
    /// Starts a copy of the first elements of `pinned` to a range of the device's.
    pub(crate) fn upload<T: Element>(
        device: &mut RawDeviceMemory,
        range: Range<usize>,
        pinned: PinnedMemory,
        stream: &RawStream,
    ) -> Result<Self, CudaError> {
        Self::start::<T>(Direction::Upload, device, range, pinned, stream)
    }

    /// Starts a copy of a range of the device's elements to the first of `pinned`.
    pub(crate) fn download<T: Element>(
        device: &RawDeviceMemory,
        range: Range<usize>,
        pinned: PinnedMemory,
        stream: &RawStream,
    ) -> Result<Self, CudaError> {
        Self::start::<T>(Direction::Download, device, range, pinned, stream)
    }

    fn start<T: Element>(
        direction: Direction,
        device: &RawDeviceMemory,
        range: Range<usize>,
        pinned: PinnedMemory,
        stream: &RawStream,
    ) -> Result<Self, CudaError> {
        let words = match direction {
            Direction::Upload => "copying to the device in the background (cuMemcpyHtoDAsync_v2)",
            Direction::Download => "copying from the device in the background (cuMemcpyDtoHAsync_v2)",
        };
        let session = device.session();
        session.same(pinned.session(), words)?;
        session.same(stream.session(), words)?;
        let address = device.part::<T>(words, range.clone())?;
        let room = pinned.slice::<T>().len();
        if range.len() > room {
            let what = "the page-locked buffer";
            return Err(CudaError::LengthMismatch {
                operation: words.into(),
                what,
                expected: range.len(),
                found: room,
            });
        }
        let bytes = range.len() * size_of::<T>();
        let (started, done) = (RawEvent::spare(session)?, RawEvent::spare(session)?);
        started.record(stream)?;
        // From here on a failure drops `pinned`, which waits for the device before it frees.
        if bytes > 0 {
            let copy = || match direction {
                // SAFETY: the range is within the device's allocation (checked), which is freed only when the
                // context is idle; the page-locked side has room (checked), is owned by `Self`, lent to nobody
                // until the event `done`, and freed only when the context is idle. Any bits are values of T.
                Direction::Upload => unsafe {
                    sys::cuMemcpyHtoDAsync_v2(address, pinned.pointer(), bytes, stream.handle())
                },
                // SAFETY: as above.
                Direction::Download => unsafe {
                    sys::cuMemcpyDtoHAsync_v2(pinned.pointer(), address, bytes, stream.handle())
                },
            };
            let what = || copy_of(direction.words(), bytes);
            session.submit(stream.handle(), what, || session.call(Operation::Call(words), copy))?;
            session.has_queued();
        }
        done.record(stream)?;
        Ok(Self { pinned, started, done, direction, bytes })
    }

    pub(crate) fn is_done(&self) -> Result<bool, CudaError> {
        self.done.is_done()
    }

    /// Waits for the copy and gives the memory back.
    pub(crate) fn wait(self) -> Result<PinnedMemory, CudaError> {
        self.done.synchronize()?;
        let time = self.done.elapsed_since(&self.started)?;
        self.pinned.session().counters.copied(self.direction, self.bytes, time);
        Ok(self.pinned)
    }
}
