//! Words about several devices.

use crate::DeviceInfo;

/// One text per device that has one; the device is named only where there are several.
pub(super) fn each(devices: &[&DeviceInfo], text: impl Fn(&DeviceInfo) -> Option<String>) -> String {
    let texts = devices.iter().filter_map(|device| {
        let text = text(device)?;
        Some(if devices.len() == 1 { text } else { format!("{} {text}", device.label()) })
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns the other processes on these devices; `None` when there are none, or NVML does not tell.
pub(super) fn others(devices: &[&DeviceInfo]) -> Option<String> {
    let named: Vec<String> =
        devices.iter().filter_map(|device| device.processes.as_ref()).flatten().map(ToString::to_string).collect();
    (!named.is_empty()).then(|| named.join(", "))
}
