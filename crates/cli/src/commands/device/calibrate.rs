//! `octopus device calibrate` measures the costs of a device.

mod leapfrog;

use super::of_cuda;
use crate::args::{DeviceCalibrateArgs, Global};
use crate::exit::Exit;
use crate::output;
use anyhow::{Context, Result};
use leapfrog::Runs;
use octopus_device::{
    ArrayError, Calibration, CalibrationCache, CalibrationConfig, CalibrationKey, Device, DeviceIdentity, calibrate,
};
use serde_json::json;
use std::time::Duration;

/// Measures a device and keeps the result.
///
/// # Errors
/// When there is no such device, the device fails, or the cache cannot be written.
pub(super) fn run(args: &DeviceCalibrateArgs, global: Global) -> Result<Exit> {
    let device = DeviceIdentity::read(args.device).map_err(of_cuda)?;
    let cache = match &args.cache {
        Some(folder) => CalibrationCache::in_folder(folder),
        None => CalibrationCache::of_user().context("give a folder with --cache")?,
    };
    let key = CalibrationKey::of_device(args.device, device.driver.as_deref()).map_err(of_cuda)?;
    let (config, runs) = if device.test_double { (of_the_double(), Runs::of_the_double()) } else { Default::default() };
    let mut calibration = calibrate(args.device, key, &config).map_err(of_array)?;
    runs.record(&mut calibration, Device::Cuda(args.device), global.quiet)?;
    let path = cache.store(&calibration)?;
    if global.json {
        output::print_json(&json!({
            "schema": 1, "device": device, "test_double": device.test_double, "file": path, "calibration": calibration,
        }))?;
    } else {
        output::print(&text(&device, &calibration))?;
    }
    if !global.quiet {
        output::note(format!("kept in {}", path.display()));
    }
    Ok(Exit::Fine)
}

/// Returns settings for the software GPU. They are just enough to run the code, since its times say nothing.
fn of_the_double() -> CalibrationConfig {
    CalibrationConfig { elements: (256, 16_384), sides: (8, 32), samples: 3, sample_time: Duration::from_micros(100) }
}

fn of_array(error: ArrayError) -> anyhow::Error {
    match error {
        ArrayError::Cuda { source, .. } => of_cuda(source),
        other => other.into(),
    }
}

fn text(device: &DeviceIdentity, calibration: &Calibration) -> String {
    let mut text = device.name.clone();
    if device.test_double {
        text += " (these are no measurements of a GPU)";
    }
    text += &format!(
        "\nstart-up {:.3} s, launch {:.1} us\n",
        calibration.startup_seconds,
        calibration.launch_seconds * 1e6
    );
    text += &format!(
        "{:<52} {:>14} {:>14} {:>14} {:>14}\n",
        "", "CPU start us", "CPU ns/unit", "GPU start us", "GPU ns/unit"
    );
    for (name, cost) in &calibration.kernels {
        let costs = [cost.cpu, cost.device]
            .map(|cost| format!("{:>14.2} {:>14.4}", cost.fixed_seconds * 1e6, cost.unit_seconds * 1e9));
        text += &format!("{name:<52} {} {}\n", costs[0], costs[1]);
    }
    for (name, cost) in [("upload", calibration.transfer.upload), ("download", calibration.transfer.download)] {
        text += &format!(
            "{name:<52} {:>14.2} us a copy, {:.4} ns a byte\n",
            cost.fixed_seconds * 1e6,
            cost.unit_seconds * 1e9
        );
    }
    text
}
