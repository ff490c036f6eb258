//! What devices did when, by their own clocks: kernels and copies, where a program asks for them.
//!
//! Nothing is recorded, and nothing costs anything, before [`record_device_work`]. From then on the driver keeps two
//! more events for each kernel and each copy (`ffi/timeline.rs`); what runs, and in which order, stays the same.

use crate::session::DeviceSession;
use std::borrow::Cow;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A kernel or a copy that a device has done. Work of one stream does not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceWork {
    /// The number of the device.
    pub device: u32,
    /// The stream, by a number of the driver's; 0 is the default stream.
    pub stream: u64,
    /// The name of a kernel; of a copy its direction, such as `copy to the device`.
    pub name: Cow<'static, str>,
    /// What it is.
    pub kind: DeviceWorkKind,
    /// When it began by the device's clock, told as the host's time: the two are compared once, at the device's first
    /// work that is recorded.
    pub begin: Instant,
    /// How long it took by the device's clock, to about half a microsecond.
    pub duration: Duration,
}

/// The kinds of work that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceWorkKind {
    /// A kernel.
    Kernel,
    /// A copy between host and device, or on the device.
    Copy {
        /// The bytes that were copied.
        bytes: u64,
    },
}

static IS_RECORDED: AtomicBool = AtomicBool::new(false);
static DONE: Mutex<Vec<DeviceWork>> = Mutex::new(Vec::new());

/// Begins to record what all devices do for this process, or ends it. Each kernel and each copy takes about 100 bytes
/// until [`take_device_work`].
pub fn record_device_work(on: bool) {
    IS_RECORDED.store(on, Relaxed);
}

/// Takes what was recorded and is done, by device and then by time. Work under way comes with a later call; work that
/// was under way on a device when that was lost never comes.
#[must_use]
pub fn take_device_work() -> Vec<DeviceWork> {
    for session in DeviceSession::all() {
        session.timeline.read(&session);
    }
    let mut done = mem::take(&mut *DONE.lock().unwrap_or_else(PoisonError::into_inner));
    done.sort_by_key(|work| (work.device, work.begin));
    done
}

pub(crate) fn is_recorded() -> bool {
    IS_RECORDED.load(Relaxed)
}

/// Keeps work that is done until it is taken.
pub(crate) fn keep(work: DeviceWork) {
    DONE.lock().unwrap_or_else(PoisonError::into_inner).push(work);
}
