//! `octopus verify` checks this machine: driver and devices, and on a device kernels and a tiny run.

use crate::args::{Global, VerifyArgs};
use crate::exit::Exit;
use crate::output;
use anyhow::Result;
use octopus::with_causes;
use octopus_bench::tiny_run;
use octopus_device::{
    Device, DeviceIdentity, Finding, FindingStatus, Needs, Overall, Question, SystemProvider, VerifyReport, verify_with,
};
use octopus_fitness::{FitnessConfig, fitness, fitness_skipped, fitness_without_device};

/// Checks this machine.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn run(args: &VerifyArgs, global: Global) -> Result<Exit> {
    let mut report = verify_with(&SystemProvider::new(), Needs { device: args.device, ..Needs::default() });
    if !args.no_deep {
        let deep = deep(&report, args);
        report = report.with_findings(deep);
    }
    let text = match (global.json, args.report) {
        (true, _) => report.to_json(),
        (false, true) => report.to_issue_block(),
        (false, false) => report.to_string(),
    };
    output::print(&text)?;
    Ok(match report.overall {
        Overall::Fit => Exit::Fine,
        Overall::Broken => Exit::Bad,
        Overall::Absent => Exit::NoHardware,
    })
}

/// Runs the checks that use the device; skips them where the checks of the machine say that the device cannot work.
fn deep(report: &VerifyReport, args: &VerifyArgs) -> Vec<Finding> {
    if report.overall == Overall::Absent {
        return fitness_skipped("no device to run on");
    }
    let failed = |id: &str| report.with_status(FindingStatus::Fail).any(|finding| finding.id == id);
    for id in ["driver-library", "driver-init"] {
        if failed(id) {
            return fitness_without_device(&format!("the driver does not start (see {id})"), &mut on_cpu);
        }
    }
    if args.device.is_some() && failed("device-present") {
        return fitness_without_device("there is no such device (see device-present)", &mut on_cpu);
    }
    match ordinal(report, args.device) {
        Some(device) => fitness(FitnessConfig { device, small: args.small }, &mut || sample(Device::Cuda(device))),
        None => hidden(),
    }
}

/// Tries the sampler on the CPU, which is possible where the device does not work.
fn on_cpu() -> Result<String, String> {
    sample(Device::Cpu)
}

fn sample(device: Device) -> Result<String, String> {
    tiny_run(device).map_err(|error| with_causes(&error))
}

/// Returns the driver's number of the device. NVML counts all devices, but the driver counts only those that this
/// process may use.
fn ordinal(report: &VerifyReport, asked: Option<u32>) -> Option<u32> {
    let Some(index) = asked else { return Some(0) };
    let uuid = report.devices.iter().find(|device| device.index == index).and_then(|device| device.uuid.as_deref());
    let found = uuid.and_then(|uuid| DeviceIdentity::ordinal_of(uuid).ok().flatten());
    // Without the list CUDA_VISIBLE_DEVICES both count alike; instances of a divided device have their own identities.
    found.or_else(|| report.environment.cuda_visible_devices.is_none().then_some(index))
}

/// Returns the findings for a device that this process may not use.
fn hidden() -> Vec<Finding> {
    let mut findings = fitness_without_device("no context (see context)", &mut on_cpu);
    if let Some(first) = findings.first_mut() {
        let question = Question { id: "context", title: "CUDA context", expected: "the device takes this process" };
        *first = question.fail(
            "the driver does not show the device to this process",
            "CUDA_VISIBLE_DEVICES hides it",
            "unset CUDA_VISIBLE_DEVICES, or add the device to it",
        );
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::{NoProvider, verify};

    #[test]
    fn without_a_list_of_visible_devices_the_driver_counts_as_nvml_does() {
        let mut report = verify(&NoProvider);
        assert_eq!([None, Some(0), Some(3)].map(|asked| ordinal(&report, asked)), [Some(0), Some(0), Some(3)]);
        report.environment.cuda_visible_devices = Some("1".to_owned());
        assert_eq!([None, Some(0), Some(3)].map(|asked| ordinal(&report, asked)), [Some(0), None, None]);
    }
}
