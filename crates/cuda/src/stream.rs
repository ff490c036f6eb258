//! Streams and events: queues of work on the device, and the device's clock.

use crate::binding::{RawEvent, RawStream};
use crate::{Context, CudaError};
use std::fmt;
use std::time::Duration;

/// A queue of work on the device. Work of one stream runs in order, work of several may run at once.
///
/// Dropping a stream lets its work finish.
pub struct Stream {
    raw: RawStream,
    context: Context,
}

impl Stream {
    /// Makes a new, empty stream.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn new(context: &Context) -> Result<Self, CudaError> {
        Ok(Self { raw: RawStream::new(context.session())?, context: context.clone() })
    }

    /// Returns the context that it is in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Waits until all its work is done.
    ///
    /// # Errors
    /// When any of it failed.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.raw.synchronize()
    }

    /// Returns whether all its work is done, without waiting.
    ///
    /// # Errors
    /// When any of it failed.
    pub fn is_idle(&self) -> Result<bool, CudaError> {
        self.raw.is_idle()
    }

    /// Lets the work queued from now on begin only after an event; the program does not wait.
    ///
    /// # Errors
    /// [`CudaError::ContextMismatch`], and when the driver fails.
    pub fn wait_for(&self, event: &Event) -> Result<(), CudaError> {
        self.raw.wait_for(&event.raw)
    }

    /// Queues work by `submit` and gives the device's time for it, which is also added to
    /// [`Usage::measured_time`](crate::Usage::measured_time). Waits for it.
    ///
    /// # Errors
    /// When `submit` fails (with its error), or any of the work failed.
    pub fn measure<R>(&self, submit: impl FnOnce(&Self) -> Result<R, CudaError>) -> Result<(R, Duration), CudaError> {
        let spare = || RawEvent::spare(self.context.session()).map(|raw| Event { raw });
        let (started, done) = (spare()?, spare()?);
        started.record(self)?;
        let result = submit(self)?;
        done.record(self)?;
        done.synchronize()?;
        let time = done.elapsed_since(&started)?;
        self.context.session().counters.measured(time);
        Ok((result, time))
    }

    pub(crate) fn raw(&self) -> &RawStream {
        &self.raw
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("context", &self.context).finish_non_exhaustive()
    }
}

/// A mark in a stream, with the device's time of passing it.
pub struct Event {
    raw: RawEvent,
}

impl Event {
    /// Makes an event that is recorded nowhere yet, and counts as done.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn new(context: &Context) -> Result<Self, CudaError> {
        Ok(Self { raw: RawEvent::new(context.session())? })
    }

    /// Puts it behind the work that the stream has now.
    ///
    /// # Errors
    /// [`CudaError::ContextMismatch`], and when the driver fails.
    pub fn record(&self, stream: &Stream) -> Result<(), CudaError> {
        self.raw.record(stream.raw())
    }

    /// Returns whether the stream has passed it, without waiting.
    ///
    /// # Errors
    /// When any work before it failed.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        self.raw.is_done()
    }

    /// Waits until the stream has passed it.
    ///
    /// # Errors
    /// When any work before it failed.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.raw.synchronize()
    }

    /// Returns the device's time from an earlier event to this one, to about half a microsecond. Both must be done.
    ///
    /// # Errors
    /// [`CudaError::Driver`] with `NOT_READY` when one is not done, with `INVALID_HANDLE` when one was never recorded.
    pub fn elapsed_since(&self, earlier: &Self) -> Result<Duration, CudaError> {
        self.raw.elapsed_since(&earlier.raw)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Event")
    }
}
