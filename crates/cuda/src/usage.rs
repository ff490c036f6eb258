//! Counts what a device was used for, as it happens: memory and its peak, copies, kernels, time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Memory, copies and kernels of one device in this process, since its context was made or
/// [`Context::reset_usage`](crate::Context::reset_usage).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of device memory held now.
    pub device_bytes: u64,
    /// The most bytes of device memory held at once.
    pub peak_device_bytes: u64,
    /// Bytes of page-locked host memory held now.
    pub pinned_bytes: u64,
    /// The most bytes of page-locked host memory held at once.
    pub peak_pinned_bytes: u64,
    /// Bytes copied from the host to the device.
    pub uploaded_bytes: u64,
    /// Bytes copied from the device to the host.
    pub downloaded_bytes: u64,
    /// Time of the copies from the host to the device, without the wait for earlier work.
    pub upload_time: Duration,
    /// Time of the copies from the device to the host, without the wait for earlier work.
    pub download_time: Duration,
    /// Kernels launched.
    pub launches: u64,
    /// Time of what ran under [`Stream::measure`](crate::Stream::measure), by the device's clock.
    pub measured_time: Duration,
}

/// The direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Upload,
    Download,
}

impl Direction {
    /// Returns the copy in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Upload => "copy to the device",
            Self::Download => "copy from the device",
        }
    }
}

/// One amount with its peak.
#[derive(Debug, Default)]
pub(crate) struct Held {
    now: AtomicU64,
    peak: AtomicU64,
}

impl Held {
    pub(crate) fn take(&self, bytes: u64) {
        let now = self.now.fetch_add(bytes, Relaxed) + bytes;
        self.peak.fetch_max(now, Relaxed);
    }

    /// Returns what is held now.
    pub(crate) fn now(&self) -> u64 {
        self.now.load(Relaxed)
    }

    pub(crate) fn give_back(&self, bytes: u64) {
        self.now.fetch_sub(bytes, Relaxed);
    }
}

/// The counters behind [`Usage`]; threads add to them without a lock.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) device: Held,
    pub(crate) pinned: Held,
    uploaded_bytes: AtomicU64,
    downloaded_bytes: AtomicU64,
    upload_nanos: AtomicU64,
    download_nanos: AtomicU64,
    launches: AtomicU64,
    measured_nanos: AtomicU64,
}

impl Counters {
    pub(crate) fn copied(&self, direction: Direction, bytes: usize, time: Duration) {
        let (total, clock) = match direction {
            Direction::Upload => (&self.uploaded_bytes, &self.upload_nanos),
            Direction::Download => (&self.downloaded_bytes, &self.download_nanos),
        };
        total.fetch_add(bytes as u64, Relaxed);
        clock.fetch_add(nanos(time), Relaxed);
    }

    pub(crate) fn launched(&self) {
        self.launches.fetch_add(1, Relaxed);
    }

    pub(crate) fn measured(&self, time: Duration) {
        self.measured_nanos.fetch_add(nanos(time), Relaxed);
    }

    pub(crate) fn read(&self) -> Usage {
        let time = |clock: &AtomicU64| Duration::from_nanos(clock.load(Relaxed));
        Usage {
            device_bytes: self.device.now.load(Relaxed),
            peak_device_bytes: self.device.peak.load(Relaxed),
            pinned_bytes: self.pinned.now.load(Relaxed),
            peak_pinned_bytes: self.pinned.peak.load(Relaxed),
            uploaded_bytes: self.uploaded_bytes.load(Relaxed),
            downloaded_bytes: self.downloaded_bytes.load(Relaxed),
            upload_time: time(&self.upload_nanos),
            download_time: time(&self.download_nanos),
            launches: self.launches.load(Relaxed),
            measured_time: time(&self.measured_nanos),
        }
    }

    /// Peaks fall to what is held now, all else to nothing.
    pub(crate) fn reset(&self) {
        for held in [&self.device, &self.pinned] {
            held.peak.store(held.now.load(Relaxed), Relaxed);
        }
        let rest = [&self.uploaded_bytes, &self.downloaded_bytes, &self.upload_nanos, &self.download_nanos];
        for counter in rest.into_iter().chain([&self.launches, &self.measured_nanos]) {
            counter.store(0, Relaxed);
        }
    }
}

/// Nanoseconds; 584 years are enough for any run.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_outlives_what_was_given_back_until_it_is_reset() {
        let counters = Counters::default();
        counters.device.take(100);
        counters.device.take(50);
        counters.device.give_back(100);
        counters.copied(Direction::Upload, 8, Duration::from_nanos(5));
        let usage = counters.read();
        assert_eq!((usage.device_bytes, usage.peak_device_bytes), (50, 150));
        assert_eq!((usage.uploaded_bytes, usage.upload_time), (8, Duration::from_nanos(5)));
        counters.reset();
        assert_eq!(counters.read(), Usage { device_bytes: 50, peak_device_bytes: 50, ..Usage::default() });
    }
}
