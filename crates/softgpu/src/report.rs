//! Reports what a program has used of the software GPU, for tests that compare it with predictions.

use crate::unavailable::{Unavailable, at};
use std::path::Path;

/// What one process has used of one device, by the setting [`Settings::report`](crate::Settings::report). The report is
/// written when the process ends, for each device on which it has allocated or launched anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceReport {
    /// The number of the device on the machine.
    pub device: u64,
    /// The most bytes of device memory that were allocated at a time, as they were asked for. Managed memory counts,
    /// pinned host memory does not.
    pub peak_bytes: u64,
    /// The most bytes allocated at a time, counted in the driver's units of 256 bytes.
    pub peak_charged_bytes: u64,
    /// Bytes that were never given back.
    pub held_bytes: u64,
    /// Allocations of device memory.
    pub allocations: u64,
    /// Launches that the device has taken.
    pub launches: u64,
}

impl DeviceReport {
    /// Returns the reports of all processes that were given this file, in the order in which they ended.
    ///
    /// # Errors
    /// When the file cannot be read: no process has used a device and ended by itself.
    pub fn read(file: &Path) -> Result<Vec<Self>, Unavailable> {
        let text = std::fs::read_to_string(file).map_err(at(file))?;
        Ok(text.lines().filter_map(Self::parse).collect())
    }

    /// Parses a line such as `device 0 peak_bytes 8 ...`.
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let value = |name| {
            let at = words.iter().position(|word| *word == name)?;
            words.get(at + 1)?.parse().ok()
        };
        Some(Self {
            device: value("device")?,
            peak_bytes: value("peak_bytes")?,
            peak_charged_bytes: value("peak_charged_bytes")?,
            held_bytes: value("held_bytes")?,
            allocations: value("allocations")?,
            launches: value("launches")?,
        })
    }
}
