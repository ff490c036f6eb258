//! Measured costs: seconds to start a kernel or copy and seconds for each unit, and the line through two times.

use super::CostsKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Seconds to start something, and seconds for each unit of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinearCost {
    /// Seconds for each start: a launch, a call, a copy.
    pub fixed_seconds: f64,
    /// Seconds for each unit: an element, a byte.
    pub unit_seconds: f64,
}

impl LinearCost {
    /// Fits the line through the times of a small and a large piece of work, each in (units, seconds).
    ///
    /// Noise can make the small one look slower per unit than the line allows; neither cost goes below zero.
    #[must_use]
    pub fn through(small: (f64, f64), large: (f64, f64)) -> Self {
        let unit_seconds = ((large.1 - small.1) / (large.0 - small.0)).max(0.0);
        let unit_seconds = if unit_seconds.is_finite() { unit_seconds } else { 0.0 };
        Self { fixed_seconds: (small.1 - small.0 * unit_seconds).max(0.0), unit_seconds }
    }

    /// Returns the seconds for this many starts and units.
    #[must_use]
    pub fn seconds(&self, starts: f64, units: f64) -> f64 {
        starts * self.fixed_seconds + units * self.unit_seconds
    }

    /// Returns whether both numbers are costs.
    fn is_valid(&self) -> bool {
        [self.fixed_seconds, self.unit_seconds].iter().all(|cost| cost.is_finite() && *cost >= 0.0)
    }
}

/// One kernel on one thread of the processor and on the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelCost {
    /// The cost on one thread of the processor.
    pub cpu: LinearCost,
    /// The cost on the device; the fixed part is the launch.
    pub device: LinearCost,
}

/// Copies between host and device; the unit is a byte.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferCost {
    /// The cost of copies from the host to the device.
    pub upload: LinearCost,
    /// The cost of copies from the device to the host.
    pub download: LinearCost,
}

/// The measured costs of one device and the processor beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceCosts {
    /// The machine and program that the costs hold for.
    pub key: CostsKey,
    /// The device's name when it was measured.
    pub device_name: String,
    /// Unix time of the measurement, in seconds.
    pub measured_at: u64,
    /// Threads that the processor runs at once.
    pub cpu_threads: u32,
    /// Seconds until a process can launch its first kernel: creating the context, loading the kernels.
    pub startup_seconds: f64,
    /// Seconds of an empty launch, from the call until the device has done it.
    pub launch_seconds: f64,
    /// Copies between host and device.
    pub transfer: TransferCost,
    /// Bytes a second that the device's own memory reads and writes while it copies.
    pub device_bytes_per_second: f64,
    /// Kernels by name; see the table of the [module](crate::costs).
    pub kernels: BTreeMap<String, KernelCost>,
}

impl DeviceCosts {
    /// Returns whether they were measured on the software GPU of the tests: then they say nothing of a GPU.
    #[must_use]
    pub fn is_test_double(&self) -> bool {
        self.device_name.contains(crate::nvml::TEST_DOUBLE)
    }

    /// Adds or replaces a kernel's cost, e.g. what a sampler has measured of its own leapfrog.
    pub fn record(&mut self, kernel: impl Into<String>, cost: KernelCost) {
        self.kernels.insert(kernel.into(), cost);
    }

    /// Returns what is wrong with the numbers, if anything: a file may hold anything.
    pub(super) fn fault(&self) -> Option<String> {
        let seconds = [("startup_seconds", self.startup_seconds), ("launch_seconds", self.launch_seconds)];
        for (name, value) in seconds {
            if !(value.is_finite() && value >= 0.0) {
                return Some(format!("{name} is {value}"));
            }
        }
        let bandwidth = self.device_bytes_per_second;
        if bandwidth.is_nan() || bandwidth <= 0.0 || bandwidth.is_infinite() {
            return Some(format!("device_bytes_per_second is {bandwidth}"));
        }
        if self.cpu_threads == 0 {
            return Some("cpu_threads is 0".into());
        }
        let transfers = [("upload", &self.transfer.upload), ("download", &self.transfer.download)];
        let kernels = self.kernels.iter().flat_map(|(name, cost)| [(name.as_str(), &cost.cpu), (name, &cost.device)]);
        let mut costs = transfers.into_iter().chain(kernels);
        costs.find(|(_, cost)| !cost.is_valid()).map(|(name, cost)| format!("the cost of {name} is {cost:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_both_points_and_never_below_zero() {
        let line = LinearCost::through((10.0, 7.0), (1010.0, 2007.0));
        assert_eq!(line, LinearCost { fixed_seconds: 0.0, unit_seconds: 2.0 });
        let line = LinearCost::through((10.0, 25.0), (20.0, 30.0));
        assert_eq!(line, LinearCost { fixed_seconds: 20.0, unit_seconds: 0.5 });
        assert_eq!(line.seconds(3.0, 10.0), 65.0);
        // The large one took less: noise, no gift.
        let line = LinearCost::through((10.0, 5.0), (20.0, 4.0));
        assert_eq!(line, LinearCost { fixed_seconds: 5.0, unit_seconds: 0.0 });
        assert!(LinearCost::through((10.0, 5.0), (10.0, 6.0)).is_valid());
    }
    #[test]
    fn what_is_no_cost_is_named() {
        let line = |fixed_seconds, unit_seconds| LinearCost { fixed_seconds, unit_seconds };
        let free = KernelCost { cpu: line(0.0, 0.0), device: line(0.0, 0.0) };
        let good = DeviceCosts {
            key: CostsKey::new("GPU-0", "550.54.15"),
            device_name: String::new(),
            measured_at: 0,
            cpu_threads: 1,
            startup_seconds: 0.0,
            launch_seconds: 0.0,
            transfer: TransferCost { upload: line(0.0, 0.0), download: line(0.0, 0.0) },
            device_bytes_per_second: 1.0,
            kernels: [("k".to_owned(), free)].into(),
        };
        assert_eq!(good.fault(), None);
        let doubles = ["NVIDIA RTX A6000", "NVIDIA RTX A6000 (test double)"]
            .map(|name| DeviceCosts { device_name: name.to_owned(), ..good.clone() }.is_test_double());
        assert_eq!(doubles, [false, true]);
        let named = |name: &str, wrong: DeviceCosts| {
            let fault = wrong.fault();
            assert!(fault.as_deref().is_some_and(|words| words.contains(name)), "{name}: {fault:?}");
        };
        for value in [-1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            named("startup_seconds is", DeviceCosts { startup_seconds: value, ..good.clone() });
            named("launch_seconds is", DeviceCosts { launch_seconds: value, ..good.clone() });
            named("device_bytes_per_second is", DeviceCosts { device_bytes_per_second: value, ..good.clone() });
            for cost in [line(value, 0.0), line(0.0, value)] {
                let transfer = good.transfer;
                named("of upload", DeviceCosts { transfer: TransferCost { upload: cost, ..transfer }, ..good.clone() });
                let transfer = TransferCost { download: cost, ..transfer };
                named("of download", DeviceCosts { transfer, ..good.clone() });
                for kernel in [KernelCost { cpu: cost, ..free }, KernelCost { device: cost, ..free }] {
                    named("of k is", DeviceCosts { kernels: [("k".to_owned(), kernel)].into(), ..good.clone() });
                }
            }
        }
        named("device_bytes_per_second is 0", DeviceCosts { device_bytes_per_second: 0.0, ..good.clone() });
        named("cpu_threads is 0", DeviceCosts { cpu_threads: 0, ..good });
    }
}
