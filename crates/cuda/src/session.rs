//! One device's context as all its objects share it, and whether it was lost.
//!
//! After an error that loses the context, every call on the device gives that first error again.

use crate::CudaError;
use crate::binding::{EventPool, PrimaryContext, RawDevice, Timeline};
use crate::patience::Patience;
use crate::usage::Counters;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// The context of a device with its counters. Buffers, streams, events and modules hold it, so it outlives them.
pub(crate) struct DeviceSession {
    ordinal: u32,
    pub(crate) primary: PrimaryContext,
    /// The error that lost the context.
    lost: OnceLock<CudaError>,
    pub(crate) counters: Counters,
    pub(crate) patience: Patience,
    pub(crate) events: EventPool,
    pub(crate) timeline: Timeline,
    /// Whether work was queued since the host last waited for all of it.
    queued: AtomicBool,
}

/// The facts that this process knows of one device.
struct KnownDevice {
    ordinal: u32,
    session: Weak<DeviceSession>,
    /// Kept when the session ends: the driver makes a lost context no better by giving it out again.
    lost: Option<CudaError>,
}

static KNOWN: Mutex<Vec<KnownDevice>> = Mutex::new(Vec::new());

impl DeviceSession {
    /// Returns the session of a device: the one that is there, else a new one.
    pub(crate) fn of_device(ordinal: u32, device: RawDevice) -> Result<Arc<Self>, CudaError> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = known.iter().find(|entry| entry.ordinal == ordinal) {
            if let Some(error) = &entry.lost {
                return Err(error.clone());
            }
            if let Some(session) = entry.session.upgrade() {
                return Ok(session);
            }
        }
        let primary = PrimaryContext::retain(device)?;
        let session = Arc::new(Self {
            ordinal,
            primary,
            lost: OnceLock::new(),
            counters: Counters::default(),
            patience: Patience::default(),
            events: EventPool::default(),
            timeline: Timeline::default(),
            queued: AtomicBool::new(false),
        });
        known.retain(|entry| entry.ordinal != ordinal);
        known.push(KnownDevice { ordinal, session: Arc::downgrade(&session), lost: None });
        Ok(session)
    }

    /// Returns the sessions of all devices.
    pub(crate) fn all() -> Vec<Arc<Self>> {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().filter_map(|entry| entry.session.upgrade()).collect()
    }

    pub(crate) fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// Work was queued that the host does not wait for.
    pub(crate) fn has_queued(&self) {
        self.queued.store(true, Ordering::Release);
    }

    /// Waits until the device has done all that this process asked of it.
    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        // Before the wait: what another thread queues meanwhile may not be waited for.
        self.queued.store(false, Ordering::Release);
        let waited = self.wait_for_all();
        if waited.is_err() {
            self.has_queued();
        }
        waited
    }

    /// Waits as [`Self::synchronize`] does, if there may be something to wait for.
    pub(crate) fn settle(&self) -> Result<(), CudaError> {
        if self.queued.load(Ordering::Acquire) { self.synchronize() } else { self.healthy() }
    }

    /// The first error again once the context is lost.
    pub(crate) fn healthy(&self) -> Result<(), CudaError> {
        self.lost.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Passes a result on, and remembers the error that loses the context.
    pub(crate) fn judge<T>(&self, result: Result<T, CudaError>) -> Result<T, CudaError> {
        result.map_err(|error| {
            if !error.is_sticky() {
                return error;
            }
            let first = self.lost.get_or_init(|| error).clone();
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(entry) = known.iter_mut().find(|entry| entry.ordinal == self.ordinal) {
                entry.lost.get_or_insert_with(|| first.clone());
            }
            first
        })
    }

    /// Checks that two objects belong to the same context.
    pub(crate) fn same(self: &Arc<Self>, other: &Arc<Self>, operation: &str) -> Result<(), CudaError> {
        if Arc::ptr_eq(self, other) {
            return Ok(());
        }
        Err(CudaError::ContextMismatch { operation: operation.to_owned() })
    }
}

impl Drop for DeviceSession {
    fn drop(&mut self) {
        if self.lost.get().is_some() {
            // Releasing a lost context may wait for work that never ends.
            self.primary.abandon();
        } else {
            self.timeline.end(self);
            self.events.end(self);
        }
    }
}
