//! Events: marks in a stream, with the device's clock.

use super::status::{Operation, check};
use super::stream::RawStream;
use super::wait::done;
use crate::CudaError;
use crate::session::DeviceSession;
use core::ptr;
use cust::sys::{self, CUevent, CUstream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const RECORD: Operation<'static> = Operation::Call("recording an event (cuEventRecord)");
pub(super) const ASK: Operation<'static> = Operation::Call("asking for an event (cuEventQuery)");

/// One event with timing.
pub(crate) struct RawEvent {
    session: Arc<DeviceSession>,
    handle: CUevent,
    /// Whether it goes back to the session's pool.
    is_spare: bool,
}

// SAFETY: the driver's functions on events may be called from any thread and by several at once; the context is made
// current on the calling thread first.
unsafe impl Send for RawEvent {}
// SAFETY: as above.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    pub(crate) fn new(session: &Arc<DeviceSession>) -> Result<Self, CudaError> {
        Ok(Self { session: Arc::clone(session), handle: make(session)?, is_spare: false })
    }

    /// An event of the session's pool: one that must be recorded before anything is asked of it, as it may have been
    /// recorded before.
    pub(crate) fn spare(session: &Arc<DeviceSession>) -> Result<Self, CudaError> {
        Ok(Self { session: Arc::clone(session), handle: session.events.take(session)?, is_spare: true })
    }

    pub(crate) fn session(&self) -> &Arc<DeviceSession> {
        &self.session
    }

    pub(super) fn handle(&self) -> CUevent {
        self.handle
    }

    pub(crate) fn record(&self, stream: &RawStream) -> Result<(), CudaError> {
        self.session.same(stream.session(), "recording an event")?;
        record(&self.session, self.handle, stream.handle())
    }

    pub(crate) fn is_done(&self) -> Result<bool, CudaError> {
        is_done(&self.session, self.handle)
    }

    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        synchronize(&self.session, self.handle)
    }

    /// Returns the device's time from another event to this one; both must be done.
    pub(crate) fn elapsed_since(&self, earlier: &Self) -> Result<Duration, CudaError> {
        self.session.same(&earlier.session, "timing between events")?;
        let seconds = seconds_between(&self.session, earlier.handle, self.handle)?;
        // Events recorded in the other order give a negative time, a faulty driver anything: neither is a duration.
        Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default())
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        if self.is_spare {
            self.session.events.give_back(self.handle);
        } else {
            end(&self.session, self.handle);
        }
    }
}

/// Events that were used and are used again: to make one and to end it takes two calls of the driver each.
#[derive(Default)]
pub(crate) struct EventPool(Mutex<Vec<Spare>>);

/// An event that nobody uses; work that is queued may still pass it, which does no harm to who records it anew.
struct Spare(CUevent);

// SAFETY: as for `RawEvent`.
unsafe impl Send for Spare {}

impl EventPool {
    /// Takes an event, or makes one where there is none.
    pub(super) fn take(&self, session: &DeviceSession) -> Result<CUevent, CudaError> {
        let spare = self.spares().pop();
        spare.map_or_else(|| make(session), |Spare(handle)| Ok(handle))
    }

    pub(super) fn give_back(&self, handle: CUevent) {
        self.spares().push(Spare(handle));
    }

    /// Ends all events, before their context ends.
    pub(crate) fn end(&self, session: &DeviceSession) {
        self.spares().drain(..).for_each(|Spare(handle)| end(session, handle));
    }

    fn spares(&self) -> MutexGuard<'_, Vec<Spare>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts an event behind the work that a stream has now; both are alive and of this context. No stream is the default
/// stream.
pub(super) fn record(session: &DeviceSession, event: CUevent, stream: CUstream) -> Result<(), CudaError> {
    session.call(RECORD, || {
        // SAFETY: both handles are alive and of this context (the callers see to it).
        unsafe { sys::cuEventRecord(event, stream) }
    })
}

/// Returns whether the device has passed an event, which is alive and of this context.
pub(super) fn is_done(session: &DeviceSession, event: CUevent) -> Result<bool, CudaError> {
    session.enter()?;
    // SAFETY: the handle is alive, its context current.
    let result = unsafe { sys::cuEventQuery(event) };
    session.judge(done(check(ASK, result)))
}

/// Waits until the device has passed an event, which is alive and of this context.
pub(super) fn synchronize(session: &DeviceSession, event: CUevent) -> Result<(), CudaError> {
    // SAFETY: the handle is alive, its context current.
    let wait = || unsafe { sys::cuEventSynchronize(event) };
    // SAFETY: as above.
    let ask = || unsafe { sys::cuEventQuery(event) };
    session.wait((Operation::Call("waiting for an event (cuEventSynchronize)"), wait), (ASK, ask))
}

/// Returns the device's time from one event to another, negative where the other came first. Both are done, alive and of
/// this context.
pub(super) fn seconds_between(session: &DeviceSession, from: CUevent, to: CUevent) -> Result<f64, CudaError> {
    let mut milliseconds = 0.0_f32;
    session.call(Operation::Call("timing between events (cuEventElapsedTime)"), || {
        // SAFETY: the pointer is to a live, writable float; both handles are alive and of this context (the callers see
        // to it).
        unsafe { sys::cuEventElapsedTime(&raw mut milliseconds, from, to) }
    })?;
    Ok(f64::from(milliseconds) / 1e3)
}

/// Makes an event, which is recorded nowhere yet.
fn make(session: &DeviceSession) -> Result<CUevent, CudaError> {
    let mut handle: CUevent = ptr::null_mut();
    session.call(Operation::Call("making an event (cuEventCreate)"), || {
        // SAFETY: the pointer is to a live, writable handle; 0 are the default flags, which keep time.
        unsafe { sys::cuEventCreate(&raw mut handle, 0) }
    })?;
    Ok(handle)
}

/// Ends an event that [`make`] has made. The driver keeps what it still needs of it, and a failure has no consequence but
/// a lost handle.
fn end(session: &DeviceSession, handle: CUevent) {
    let _ = session.call(Operation::Call("ending an event (cuEventDestroy_v2)"), || {
        // SAFETY: the handle is alive, and whoever gave it does not use it again.
        unsafe { sys::cuEventDestroy_v2(handle) }
    });
}
