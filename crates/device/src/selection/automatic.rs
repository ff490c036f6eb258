//! The device for work on arrays, chosen as `--device auto` chooses.

use super::resolve::auto;
use super::{Accelerators, Selection};
use crate::costs::{CostsCache, CostsMiss, DeviceCosts, Work, quick_costs};
use crate::{Probe, SystemProvider};
use std::collections::BTreeMap;

/// Chooses between the CPU and the GPUs of this machine, for one piece of work on arrays after the other.
///
/// It looks at the machine once. Costs that nobody has measured yet are measured at the first choice (some tenths of a
/// second for each GPU) and kept for later programs; a GPU that no check speaks against and that is predicted to be done
/// first is taken.
///
/// ```
/// use octopus_device::{Array, AutoDevice, Work, with_device};
///
/// let mut auto = AutoDevice::look();
/// let x = vec![1.0_f64; 1000];
/// let work = Work::new("a sum of products").step("array_dot_f64", 1, 1000.0).upload(2, 16_000).download(1, 8);
/// let chosen = auto.for_work(&work);
/// println!("{}", chosen.reason); // e.g. "cpu: there is no CUDA device"
/// let sum = with_device(chosen.device, || Array::from_slice(&x)?.dot(&Array::from_slice(&x)?))?;
/// assert_eq!(sum, 1000.0);
/// # Ok::<(), octopus_device::ArrayError>(())
/// ```
#[derive(Debug)]
pub struct AutoDevice {
    accelerators: Accelerators,
    driver_version: Option<String>,
    /// `None` where the user has no folder for caches.
    cache: Option<CostsCache>,
    known: BTreeMap<u32, Result<DeviceCosts, CostsMiss>>,
}

impl AutoDevice {
    /// Looks at this machine; costs are kept in the user's cache.
    #[must_use]
    pub fn look() -> Self {
        Self::new(CostsCache::of_user().ok())
    }

    /// Looks at this machine; costs are kept in this cache.
    #[must_use]
    pub fn with_cache(cache: CostsCache) -> Self {
        Self::new(Some(cache))
    }

    fn new(cache: Option<CostsCache>) -> Self {
        let probe = Probe::new(&SystemProvider::new());
        let accelerators = Accelerators::of(&probe);
        let driver_version = probe.nvml.ok().and_then(|nvml| nvml.driver_version);
        Self { accelerators, driver_version, cache, known: BTreeMap::new() }
    }

    /// Chooses the device for this work, with the reason. A device that was used in this process before needs no start:
    /// say so with [`Work::on_started_device`].
    pub fn for_work(&mut self, work: &Work) -> Selection {
        let Self { accelerators, driver_version, cache, known } = self;
        let mut costs = |ordinal| {
            known
                .entry(ordinal)
                .or_insert_with(|| kept_or_measured(ordinal, driver_version.as_deref(), cache.as_ref()))
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
) -> Result<DeviceCosts, CostsMiss> {
    if let Some(Ok(costs)) = cache.map(|cache| cache.load_for_device(ordinal, driver_version)) {
        return Ok(costs);
    }
    let measured = quick_costs(ordinal, driver_version);
    let costs = measured.map_err(|error| CostsMiss::NoDevice { why: error.to_string() })?;
    // Costs that cannot be kept serve this program.
    let _ = cache.map(|cache| cache.store(&costs));
    Ok(costs)
}
