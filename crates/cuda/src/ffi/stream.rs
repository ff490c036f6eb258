//! Streams: queues of work on the device.

use super::event::RawEvent;
use super::status::{Operation, check};
use super::wait::done;
use crate::CudaError;
use crate::session::DeviceSession;
use cust::stream::{Stream, StreamFlags};
use cust::sys::{self, CUstream};
use std::sync::Arc;

const ASK: Operation<'static> = Operation::Call("asking for a stream (cuStreamQuery)");

/// A stream that runs beside others, but in order with copies that are done when they return.
pub(crate) struct RawStream {
    session: Arc<DeviceSession>,
    /// Taken out when the stream ends.
    stream: Option<Stream>,
}

impl RawStream {
    pub(crate) fn new(session: &Arc<DeviceSession>) -> Result<Self, CudaError> {
        let stream = session.call_cust(Operation::Call("making a stream (cuStreamCreateWithPriority)"), || {
            // Not NON_BLOCKING: a synchronous copy then waits for this stream's work, and cannot overtake it.
            Stream::new(StreamFlags::DEFAULT, None)
        })?;
        Ok(Self { session: Arc::clone(session), stream: Some(stream) })
    }

    pub(crate) fn session(&self) -> &Arc<DeviceSession> {
        &self.session
    }

    pub(super) fn handle(&self) -> CUstream {
        self.stream.as_ref().map_or(std::ptr::null_mut(), Stream::as_inner)
    }

    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        // SAFETY: the handle is alive, its context current.
        let wait = || unsafe { sys::cuStreamSynchronize(self.handle()) };
        // SAFETY: as above.
        let ask = || unsafe { sys::cuStreamQuery(self.handle()) };
        self.session.wait((Operation::Call("waiting for a stream (cuStreamSynchronize)"), wait), (ASK, ask))
    }

    pub(crate) fn is_idle(&self) -> Result<bool, CudaError> {
        self.session.enter()?;
        // SAFETY: the handle is alive, its context current.
        let result = unsafe { sys::cuStreamQuery(self.handle()) };
        self.session.judge(done(check(ASK, result)))
    }

    /// Hands over to the device what is queued. A driver for Windows gathers kernels and hands them over together, which
    /// a watchdog takes for one; a question makes it hand over what it has.
    pub(super) fn send_off(&self) -> Result<(), CudaError> {
        self.is_idle().map(drop)
    }

    pub(crate) fn wait_for(&self, event: &RawEvent) -> Result<(), CudaError> {
        self.session.same(event.session(), "letting a stream wait for an event")?;
        self.session.call(Operation::Call("letting a stream wait for an event (cuStreamWaitEvent)"), || {
            // SAFETY: both handles are alive and of this context (checked); 0 is the only flag word of old drivers.
            unsafe { sys::cuStreamWaitEvent(self.handle(), event.handle(), 0) }
        })
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        // The driver finishes the work that is queued. On a lost context the handle is abandoned.
        let stream = self.stream.take();
        if self.session.enter().is_ok() {
            drop(stream);
        } else {
            std::mem::forget(stream);
        }
    }
}
