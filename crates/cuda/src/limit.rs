//! The most memory that this process takes of each device, where the user wants to leave some to others.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static MOST: AtomicU64 = AtomicU64::new(u64::MAX);

/// Limits the memory that this process takes of each device to so many bytes.
///
/// An allocation beyond the limit fails as if the device were full, and free memory is reported accordingly. What is held
/// already is kept. The driver's own memory (the context and the kernels, some hundred MiB) does not count.
pub fn limit_device_memory(bytes: u64) {
    MOST.store(bytes, Relaxed);
}

/// Returns the bytes that may still be allocated, given the bytes `held`.
pub(crate) fn left(held: u64) -> u64 {
    MOST.load(Relaxed).saturating_sub(held)
}
