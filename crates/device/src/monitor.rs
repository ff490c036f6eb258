//! Measures what a run used of its device, for the run's record.

mod watch;

use crate::{Device, DeviceError};
use octopus_cuda::{Context, CudaError};
use serde::{Deserialize, Serialize};
use watch::LoadWatch;
pub use watch::{LoadRange, LoadSummary};

/// Memory, kernels and copies of a run on one device; all zero on the CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceUsage {
    /// The device.
    pub device: Device,
    /// The device's name; `cpu` for the CPU.
    #[serde(default)]
    pub device_name: String,
    /// The most bytes of device memory that this process held at once.
    pub peak_bytes: u64,
    /// The device's memory in bytes; 0 for the CPU.
    pub total_bytes: u64,
    /// The most bytes of page-locked host memory that it held at once.
    pub peak_pinned_bytes: u64,
    /// Kernels launched.
    pub launches: u64,
    /// Seconds, by the device's clock, of the sampler's kernels and of what [`octopus_cuda::Stream::measure`] timed. Single
    /// operations on arrays are not timed, which would make them wait for each other.
    pub kernel_seconds: f64,
    /// Seconds of copies in both directions, without the wait for earlier work.
    pub transfer_seconds: f64,
    /// Bytes copied in both directions.
    pub transferred_bytes: u64,
    /// What the device was doing, by a look a second; `None` on the CPU, and of a run that was over before the first look
    /// or whose device NVML does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadSummary>,
}

impl DeviceUsage {
    /// Returns whether it is the software GPU of the tests: then no time here says anything of a GPU.
    #[must_use]
    pub fn is_test_double(&self) -> bool {
        self.device_name.contains(crate::nvml::TEST_DOUBLE)
    }

    /// Returns the share of the device's memory that the process held at its peak, from 0 to 1; `None` on the CPU.
    #[must_use]
    pub fn memory_share(&self) -> Option<f64> {
        (self.total_bytes > 0).then(|| self.peak_bytes as f64 / self.total_bytes as f64)
    }
}

/// Watches a device from its start on.
///
/// The counters are the device's, in this process: what other threads do on it counts too, and starting a second
/// monitor on a device starts the first one anew.
///
/// ```
/// use octopus_device::{Device, Monitor};
///
/// let monitor = Monitor::start(Device::Cpu)?;
/// assert_eq!(monitor.usage().peak_bytes, 0); // of device memory, the CPU has none
/// # Ok::<(), octopus_device::DeviceError>(())
/// ```
#[derive(Debug)]
pub struct Monitor {
    device: Device,
    device_name: String,
    context: Option<Context>,
    total_bytes: u64,
    watch: Option<LoadWatch>,
}

impl Monitor {
    /// Sets the device's counters to zero; peaks start from what is held now.
    ///
    /// # Errors
    /// When the device cannot be used.
    pub fn start(device: Device) -> Result<Self, DeviceError> {
        let failed = |source: CudaError| DeviceError { device, source };
        let Some(context) = device.context().map_err(failed)? else {
            return Ok(Self { device, device_name: device.to_string(), context: None, total_bytes: 0, watch: None });
        };
        let device_name = context.device().name().map_err(failed)?;
        let total_bytes = context.device().total_memory().map_err(failed)?;
        context.reset_usage();
        // NVML knows the device by its UUID: without one there is nothing to look at.
        let watch = context.device().uuid().ok().map(|uuid| LoadWatch::start(uuid.to_string()));
        Ok(Self { device, device_name, context: Some(context), total_bytes, watch })
    }

    /// Returns what was used since the start. It asks nothing of the device, so it answers after a device is lost, too.
    #[must_use]
    pub fn usage(&self) -> DeviceUsage {
        let usage = self.context.as_ref().map(Context::usage).unwrap_or_default();
        DeviceUsage {
            device: self.device,
            device_name: self.device_name.clone(),
            peak_bytes: usage.peak_device_bytes,
            total_bytes: self.total_bytes,
            peak_pinned_bytes: usage.peak_pinned_bytes,
            launches: usage.launches,
            kernel_seconds: usage.measured_time.as_secs_f64(),
            transfer_seconds: (usage.upload_time + usage.download_time).as_secs_f64(),
            transferred_bytes: usage.uploaded_bytes + usage.downloaded_bytes,
            load: self.watch.as_ref().map(LoadWatch::summary).filter(|load| load.looks > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_tells_its_share_of_memory_and_whether_it_is_of_the_double() {
        let cpu = Monitor::start(Device::Cpu).unwrap().usage();
        assert_eq!((cpu.memory_share(), cpu.is_test_double()), (None, false));
        let gpu = DeviceUsage { peak_bytes: 3, total_bytes: 4, device_name: crate::nvml::TEST_DOUBLE.into(), ..cpu };
        assert_eq!((gpu.memory_share(), gpu.is_test_double()), (Some(0.75), true));
    }
}
