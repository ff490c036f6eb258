//! The device's own times of kernels and copies, where a program asks for them.
//!
//! Each piece of work stands between two events of its stream. Their times are read once the device has passed both,
//! mostly when the next piece is submitted, so that nobody waits for them.

use super::event;
use crate::session::DeviceSession;
use crate::timeline::{is_recorded, keep};
use crate::{CudaError, DeviceWork, DeviceWorkKind};
use cust::sys::{CUevent, CUstream};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The seconds after which there is a new anchor. The driver tells times as `f32` milliseconds, which are good to a tenth
/// of a microsecond this far from it.
const FAR: f64 = 1.0;

/// A piece of work in words, and its kind.
type Described = (Cow<'static, str>, DeviceWorkKind);

/// The work of one device whose times are not read yet.
#[derive(Default)]
pub(crate) struct Timeline(Mutex<State>);

#[derive(Default)]
struct State {
    /// An event that the device has passed, and the host's time then: all times are told from there.
    anchor: Option<(Mark, Instant)>,
    /// In the order in which it was submitted.
    pending: VecDeque<Pending>,
    /// The end of the last work of each stream.
    ends: HashMap<u64, Instant>,
}

/// Work between two events.
struct Pending {
    stream: u64,
    what: Described,
    begun: Mark,
    done: Mark,
}

/// An event of the session's pool, which it goes back to: not a `RawEvent`, which would keep the session that keeps it.
#[derive(Clone, Copy)]
struct Mark(CUevent);

// SAFETY: as for `RawEvent`.
unsafe impl Send for Mark {}

/// Describes a copy.
pub(super) fn copy_of(words: &'static str, bytes: usize) -> Described {
    (words.into(), DeviceWorkKind::Copy { bytes: bytes as u64 })
}

impl DeviceSession {
    /// Submits work to a stream of this context by `call`; where work is recorded, between two events.
    ///
    /// # Errors
    /// When `call` fails. An event that cannot be recorded leaves a gap in the timeline, and is no reason to stop.
    pub(super) fn submit(
        &self,
        stream: CUstream,
        what: impl FnOnce() -> Described,
        call: impl FnOnce() -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        if !is_recorded() {
            return call();
        }
        // Held until the end: what another thread submits to this stream must not come between the events.
        let mut state = self.timeline.state();
        let begun = state.anchored(self, stream).and_then(|()| self.mark(stream));
        let called = call();
        let Ok(begun) = begun else { return called };
        match called.as_ref().ok().and_then(|()| self.mark(stream).ok()) {
            Some(done) => {
                let stream = stream.expose_provenance() as u64;
                state.pending.push_back(Pending { stream, what: what(), begun, done });
            }
            None => self.events.give_back(begun.0),
        }
        state.read(self);
        called
    }

    /// Records an event.
    fn mark(&self, stream: CUstream) -> Result<Mark, CudaError> {
        let mark = self.events.take(self)?;
        event::record(self, mark, stream).inspect_err(|_| self.events.give_back(mark))?;
        Ok(Mark(mark))
    }
}

impl Timeline {
    /// Reads the times of what is done, without waiting.
    pub(crate) fn read(&self, session: &DeviceSession) {
        self.state().read(session);
    }

    /// Reads the times of all that is left, before the context ends.
    pub(crate) fn end(&self, session: &DeviceSession) {
        let mut state = self.state();
        if !state.pending.is_empty() && session.wait_for_all().is_ok() {
            state.read(session);
        }
        let State { anchor, pending, .. } = std::mem::take(&mut *state);
        let left = pending.into_iter().flat_map(|work| [work.begun, work.done]).chain(anchor.map(|(mark, _)| mark));
        left.for_each(|mark| session.events.give_back(mark.0));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Compares the clocks of device and host, the first time: the host waits for an event and looks at its own clock.
    fn anchored(&mut self, session: &DeviceSession, stream: CUstream) -> Result<(), CudaError> {
        if self.anchor.is_none() {
            let mark = session.mark(stream)?;
            event::synchronize(session, mark.0).inspect_err(|_| session.events.give_back(mark.0))?;
            self.anchor = Some((mark, Instant::now()));
        }
        Ok(())
    }

    fn read(&mut self, session: &DeviceSession) {
        while let Some(first) = self.pending.front() {
            // On a lost device nothing is done any more.
            if !event::is_done(session, first.done.0).unwrap_or(false) {
                return;
            }
            let Some(work) = self.pending.pop_front() else { return };
            let used = self.time(session, work).into_iter().flatten();
            used.for_each(|mark| session.events.give_back(mark.0));
        }
    }

    /// Keeps the work with its times, and returns the events that are not needed any more.
    fn time(&mut self, session: &DeviceSession, work: Pending) -> [Option<Mark>; 2] {
        let Pending { stream, what: (name, kind), begun, done } = work;
        let between = |from: Mark, to: Mark| event::seconds_between(session, from.0, to.0);
        let unused = [Some(begun), Some(done)];
        let Some((anchor, at)) = self.anchor else { return unused };
        let (Ok(before), Ok(took)) = (between(anchor, begun), between(begun, done)) else { return unused };
        let end = after(at, before + took);
        // Both times are rounded: work must not begin before the end of what its stream did before.
        let begin = after(at, before).max(self.ends.get(&stream).copied().unwrap_or(at)).min(end);
        self.ends.insert(stream, end);
        let device = session.ordinal();
        keep(DeviceWork { device, stream, name, kind, begin, duration: end.duration_since(begin) });
        if before + took < FAR {
            return unused;
        }
        self.anchor = Some((done, end));
        [Some(begun), Some(anchor)]
    }
}

/// Returns the time `seconds` later, or earlier where they are negative.
fn after(at: Instant, seconds: f64) -> Instant {
    let span = Duration::try_from_secs_f64(seconds.abs()).unwrap_or_default();
    let moved = if seconds < 0.0 { at.checked_sub(span) } else { at.checked_add(span) };
    moved.unwrap_or(at)
}
