//! `octopus device list` lists the devices.

use crate::args::Global;
use crate::exit::{Exit, HardwareError};
use crate::output;
use anyhow::Result;
use octopus_device::{DeviceIdentity, DeviceInfo, Overall, SystemProvider, VerifyReport, verify};
use serde::Serialize;

/// A device in the list.
#[derive(Debug, Serialize)]
pub(super) struct Listed {
    /// The name `cuda:N` for `--device`; `None` for a device that this process may not use.
    pub(super) cuda: Option<String>,
    /// The facts that NVML tells about the device.
    #[serde(flatten)]
    pub(super) info: DeviceInfo,
    /// Whether the device is the software GPU of the tests.
    test_double: bool,
}

#[derive(Debug, Serialize)]
struct List {
    schema: u32,
    driver_version: Option<String>,
    devices: Vec<Listed>,
}

/// Lists all devices.
///
/// # Errors
/// [`HardwareError`] when there is no device; when stdout cannot be written.
pub(super) fn run(global: Global) -> Result<Exit> {
    let report = verify(&SystemProvider::new());
    let devices = devices(&report);
    let none = devices.is_empty();
    if global.json {
        output::print_json(&List { schema: 1, driver_version: report.driver_version.clone(), devices })?;
    } else {
        let line =
            |device: &Listed| format!("{:<8} {}", device.cuda.as_deref().unwrap_or("hidden"), device.info.line());
        let lines: Vec<String> = devices.iter().map(line).collect();
        if !none {
            output::print(&lines.join("\n"))?;
        }
    }
    if none { Err(missing(&report)) } else { Ok(Exit::Fine) }
}

/// Returns every device that NVML lists, with the driver's number of the device.
pub(super) fn devices(report: &VerifyReport) -> Vec<Listed> {
    let name = |device: &DeviceInfo| {
        let uuid = device.uuid.as_deref()?;
        DeviceIdentity::ordinal_of(uuid).ok().flatten().map(|ordinal| format!("cuda:{ordinal}"))
    };
    let listed =
        |device: &DeviceInfo| Listed { cuda: name(device), test_double: device.is_test_double(), info: device.clone() };
    report.devices.iter().map(listed).collect()
}

/// Returns the error that says why no device is listed.
pub(super) fn missing(report: &VerifyReport) -> anyhow::Error {
    let see = if report.overall == Overall::Absent { "" } else { "; see `octopus verify`" };
    HardwareError(format!("{}{see}", report.summary)).into()
}
