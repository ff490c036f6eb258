//! What work costs on CPU and GPU, kept for `--device auto`: `octopus device measure`.

mod leapfrog;

use super::of_cuda;
use crate::error::BenchError;
use leapfrog::Runs;
use octopus_device::{CostsCache, CostsKey, Device, DeviceCosts, DeviceIdentity, KernelCost};
use octopus_diag::{TableLook, TextColumn, text_table};
use octopus_fitness::{CostsConfig, measure_costs};
use std::fmt;
use std::path::{Path, PathBuf};

/// What was measured, and where it is kept.
#[derive(Debug)]
pub struct MeasuredCosts {
    /// The device.
    pub device: DeviceIdentity,
    /// The file in the cache.
    pub file: PathBuf,
    /// The costs.
    pub device_costs: DeviceCosts,
}

impl fmt::Display for MeasuredCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(&self.device, &self.device_costs))
    }
}

/// Measures cuda:N and keeps the result in this folder, else in the user's cache; tells what comes next by `say`.
///
/// # Errors
/// When there is no such device, it fails, or the cache cannot be written.
pub fn run(ordinal: u32, cache: Option<&Path>, say: &dyn Fn(String)) -> Result<MeasuredCosts, BenchError> {
    let device = DeviceIdentity::read(ordinal).map_err(of_cuda)?;
    let cache = match cache {
        Some(folder) => CostsCache::in_folder(folder),
        None => CostsCache::of_user().map_err(BenchError::NoCache)?,
    };
    let key = CostsKey::of_device(ordinal, device.driver.as_deref()).map_err(of_cuda)?;
    let (config, runs) =
        if device.test_double { (CostsConfig::of_the_double(), Runs::of_the_double()) } else { Default::default() };
    let mut device_costs = measure_costs(ordinal, key, &config).map_err(|failed| of_cuda(failed.source))?;
    runs.record(&mut device_costs, Device::Cuda(ordinal), say)?;
    let file = cache.store(&device_costs)?;
    Ok(MeasuredCosts { device, file, device_costs })
}

fn text(device: &DeviceIdentity, device_costs: &DeviceCosts) -> String {
    let mut text = device.name.clone();
    if device.test_double {
        text += " (these are no measurements of a GPU)";
    }
    text += &format!(
        "\nstart-up {:.3} s, launch {:.1} us\n",
        device_costs.startup_seconds,
        device_costs.launch_seconds * 1e6
    );
    let costs = ["CPU start us", "CPU ns/unit", "GPU start us", "GPU ns/unit"].map(TextColumn::right);
    let columns = [&[TextColumn::left("")], &costs[..]].concat();
    let micros = |seconds: f64| format!("{:.2}", seconds * 1e6);
    let nanos = |seconds: f64| format!("{:.4}", seconds * 1e9);
    let row = |(name, cost): (&String, &KernelCost)| {
        let [cpu, gpu] = [cost.cpu, cost.device].map(|cost| [micros(cost.fixed_seconds), nanos(cost.unit_seconds)]);
        [vec![name.clone()], cpu.into(), gpu.into()].concat()
    };
    let rows: Vec<_> = device_costs.kernels.iter().map(row).collect();
    text += &text_table(&columns, &rows, TableLook::default());
    for (name, cost) in [("upload", device_costs.transfer.upload), ("download", device_costs.transfer.download)] {
        text += &format!("{name}: {} us a copy, {} ns a byte\n", micros(cost.fixed_seconds), nanos(cost.unit_seconds));
    }
    text
}
