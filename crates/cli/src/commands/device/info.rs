//! `octopus device info [N]` prints the facts about this machine and its devices.

use super::list::{Listed, devices, missing};
use crate::args::{DeviceInfoArgs, Global};
use crate::exit::{Exit, HardwareError};
use crate::output;
use anyhow::Result;
use octopus_device::{HostInfo, Overall, SystemProvider, verify};
use serde_json::json;

/// Prints what is known of this machine and of every device, or of one.
///
/// # Errors
/// [`HardwareError`] when there is no device, or none with the number that was given; when stdout cannot be written.
pub(super) fn run(args: &DeviceInfoArgs, global: Global) -> Result<Exit> {
    let report = verify(&SystemProvider::new());
    let host = HostInfo::read();
    let all = devices(&report);
    let (count, none) = (all.len(), all.is_empty());
    let chosen: Vec<Listed> =
        all.into_iter().filter(|device| args.device.is_none_or(|index| device.info.index == index)).collect();
    if let Some(index) = args.device
        && chosen.is_empty()
        && !none
    {
        let message = format!("device {index}: devices 0 to {} are here, see `octopus device list`", count - 1);
        return Err(HardwareError(message).into());
    }
    let head =
        [("driver", report.driver_version.clone()), ("CUDA", report.cuda_version.map(|version| version.to_string()))];
    if global.json {
        output::print_json(&json!({
            "schema": 1,
            "cuda_available": report.overall == Overall::Fit,
            "summary": report.summary,
            "driver_version": head[0].1,
            "cuda_version": head[1].1,
            "host": host,
            "devices": chosen,
        }))?;
    } else {
        output::print(&text(&host, head, &chosen))?;
    }
    if none { Err(missing(&report)) } else { Ok(Exit::Fine) }
}

/// Describes this machine and its devices.
fn text(host: &HostInfo, head: [(&str, Option<String>); 2], devices: &[Listed]) -> String {
    let mut lines = vec![line("host", &host.to_string())];
    lines.extend(head.into_iter().filter_map(|(name, value)| Some(line(name, &value?))));
    for device in devices {
        lines.push(format!("\n{} ({})", device.info.label(), device.cuda.as_deref().unwrap_or("hidden")));
        lines.extend(device.info.facts().iter().map(|(name, value)| line(name, value)));
    }
    lines.join("\n")
}

fn line(name: &str, value: &str) -> String {
    format!("{name:<26} {value}")
}
