//! `octopus device info [N]` prints the facts about devices.

use super::list::{Listed, devices, missing};
use crate::args::{DeviceInfoArgs, Global};
use crate::exit::{Exit, HardwareError};
use crate::output;
use anyhow::Result;
use octopus_device::{SystemProvider, verify};
use serde_json::json;

/// Prints all that is known of every device, or of one.
///
/// # Errors
/// [`HardwareError`] when there is no device, or none with the number that was given; when stdout cannot be written.
pub(super) fn run(args: &DeviceInfoArgs, global: Global) -> Result<Exit> {
    let report = verify(&SystemProvider::new());
    let all = devices(&report);
    if all.is_empty() {
        return Err(missing(&report));
    }
    let count = all.len();
    let chosen: Vec<Listed> =
        all.into_iter().filter(|device| args.device.is_none_or(|index| device.info.index == index)).collect();
    if let (true, Some(index)) = (chosen.is_empty(), args.device) {
        let message = format!("device {index}: devices 0 to {} are here, see `octopus device list`", count - 1);
        return Err(HardwareError(message).into());
    }
    let head =
        [("driver", report.driver_version.clone()), ("CUDA", report.cuda_version.map(|version| version.to_string()))];
    if global.json {
        output::print_json(&json!({
            "schema": 1, "driver_version": head[0].1, "cuda_version": head[1].1, "devices": chosen,
        }))?;
        return Ok(Exit::Fine);
    }
    let head = head.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut lines: Vec<String> = head.map(|(name, value)| line(name, &value)).collect();
    for device in &chosen {
        lines.push(format!("\n{} ({})", device.info.label(), device.cuda.as_deref().unwrap_or("hidden")));
        lines.extend(device.info.facts().iter().map(|(name, value)| line(name, value)));
    }
    output::print(&lines.join("\n"))?;
    Ok(Exit::Fine)
}

fn line(name: &str, value: &str) -> String {
    format!("{name:<26} {value}")
}
