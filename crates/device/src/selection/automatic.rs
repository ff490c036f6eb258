//! The device for work on arrays, chosen as `--device auto` chooses.

use super::resolve::auto;
use super::{Accelerators, Selection};
use crate::costs::{CostsCache, CostsMiss, DeviceCosts, Work};
use crate::{DeviceError, Probe, SystemProvider};
use std::collections::BTreeMap;

/// Measures what work costs on a CUDA device, by its number, and on the processor beside it; the text is the driver's
/// version, as NVML tells it. `quick_costs` of `octopus-fitness` is one.
pub type MeasureCosts = fn(u32, Option<&str>) -> Result<DeviceCosts, DeviceError>;

/// Chooses between the CPU and the GPUs of this machine, for one piece of work on arrays after the other.
///
/// It looks at the machine once. Costs that nobody has measured yet are measured at the first choice (some tenths of a
/// second for each GPU) and kept for later programs; a GPU that no check speaks against and that is predicted to be done
/// first is taken.
///
/// ```
/// use octopus_device::{AutoDevice, CudaError, Device, DeviceError, MeasureCosts, Work};
///
/// // A program that cannot measure stays on the CPU, unless costs are kept; `octopus_fitness::quick_costs` measures.
/// let measure: MeasureCosts = |ordinal, _| Err(DeviceError { device: Device::Cuda(ordinal), source: CudaError::NotBuilt });
/// let mut auto = AutoDevice::look(measure);
/// let work = Work::new("a sum of products").step("array_dot_f64", 1, 1000.0).upload(2, 16_000).download(1, 8);
/// println!("{}", auto.for_work(&work).why); // e.g. "there is no CUDA device"
/// ```
#[derive(Debug)]
pub struct AutoDevice {
    accelerators: Accelerators,
    driver_version: Option<String>,
    /// `None` where the user has no folder for caches.
    cache: Option<CostsCache>,
    measure: MeasureCosts,
    known: BTreeMap<u32, Result<DeviceCosts, CostsMiss>>,
}

impl AutoDevice {
    /// Looks at this machine; costs are measured by `measure` and kept in the user's cache.
    #[must_use]
    pub fn look(measure: MeasureCosts) -> Self {
        Self::new(measure, CostsCache::of_user().ok())
    }

    /// Looks at this machine; costs are measured by `measure` and kept in this cache.
    #[must_use]
    pub fn with_cache(measure: MeasureCosts, cache: CostsCache) -> Self {
        Self::new(measure, Some(cache))
    }

    fn new(measure: MeasureCosts, cache: Option<CostsCache>) -> Self {
        let probe = Probe::new(&SystemProvider::new());
        let accelerators = Accelerators::of(&probe);
        let driver_version = probe.nvml.ok().and_then(|nvml| nvml.driver_version);
        Self { accelerators, driver_version, cache, measure, known: BTreeMap::new() }
    }

    /// Chooses the device for this work, with the reason. A device that was used in this process before needs no start:
    /// say so with [`Work::on_started_device`].
    pub fn for_work(&mut self, work: &Work) -> Selection {
        let Self { accelerators, driver_version, cache, measure, known } = self;
        let mut costs = |ordinal| {
            known
                .entry(ordinal)
                .or_insert_with(|| kept_or_measured(ordinal, driver_version.as_deref(), cache.as_ref(), *measure))
                .clone()
        };
        auto(accelerators, work, &mut costs)
    }
}

/// Returns the costs of a device that are kept, or else measures and keeps them.
fn kept_or_measured(
    ordinal: u32,
    driver_version: Option<&str>,
    cache: Option<&CostsCache>,
    measure: MeasureCosts,
) -> Result<DeviceCosts, CostsMiss> {
    if let Some(Ok(costs)) = cache.map(|cache| cache.load_for_device(ordinal, driver_version)) {
        return Ok(costs);
    }
    let measured = measure(ordinal, driver_version);
    let costs = measured.map_err(|error| CostsMiss::NoDevice { why: error.to_string() })?;
    // Costs that cannot be kept serve this program.
    let _ = cache.map(|cache| cache.store(&costs));
    Ok(costs)
}
