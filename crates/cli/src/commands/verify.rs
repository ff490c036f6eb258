//! `octopus verify`

use crate::args::{Global, VerifyArgs};
use crate::exit::{Exit, UsageError};
use crate::output;
use anyhow::Result;
use octopus_device::{Overall, SystemProvider, verify};

/// Checks this machine.
///
/// # Errors
/// When there is no device of that index, or stdout cannot be written.
pub(crate) fn run(args: &VerifyArgs, global: Global) -> Result<Exit> {
    let mut report = verify(&SystemProvider::new());
    if let (Some(index), false) = (args.device, report.devices.is_empty()) {
        let count = report.devices.len();
        if index >= count {
            return Err(UsageError(format!("--device {index}: devices 0 to {} are here", count - 1)).into());
        }
        report.devices = vec![report.devices.swap_remove(index)];
    }
    output::print(&if global.json { report.to_json() } else { report.to_string() })?;
    Ok(match report.overall {
        Overall::Fit => Exit::Fine,
        Overall::Broken => Exit::Bad,
        Overall::Absent => Exit::NoHardware,
    })
}
