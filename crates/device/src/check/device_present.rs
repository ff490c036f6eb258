//! Is there a device at all?

use crate::finding::Question;
use crate::{Environment, Finding, Probe};

pub(super) const QUESTION: Question =
    Question { id: "device-present", title: "NVIDIA device", expected: "at least one device that the driver lists" };

/// Reached only where something shows a device; it fails when the driver lists none.
pub(super) fn check(probe: &Probe) -> Finding {
    let devices = probe.devices();
    if let (Some(index), false) = (probe.needs.device, devices.is_empty()) {
        return match devices.iter().find(|device| device.index == index) {
            Some(device) => QUESTION.pass(device.label()),
            None => QUESTION.fail(
                format!("device {index} of {}", devices.len()),
                format!("there is no device {index}: the machine has {}, counted from 0", devices.len()),
                "choose one that `octopus verify` lists",
            ),
        };
    }
    if !devices.is_empty() {
        let names: Vec<String> = devices.iter().map(crate::DeviceInfo::label).collect();
        return QUESTION.pass(names.join(", "));
    }
    let counted = probe.driver.as_ref().map_or(0, |driver| driver.devices);
    if counted > 0 {
        return QUESTION.pass(format!("{counted} by the driver's count; NVML lists none"));
    }
    let (cause, fix) = remedy(&probe.environment);
    QUESTION.fail(format!("{}, but the driver lists no device", traces(&probe.environment)), cause, fix)
}

fn traces(environment: &Environment) -> String {
    if let Some(card) = environment.pci_devices.first() {
        return format!("a card at PCI {}", card.slot);
    }
    environment
        .device_files
        .first()
        .map_or_else(|| "an NVIDIA driver".into(), |file| format!("a device file {}", file.path))
}

fn remedy(environment: &Environment) -> (&'static str, &'static str) {
    if environment.container.is_some() {
        return (
            "the container was started without the NVIDIA runtime, or without this device",
            "start the container with the device, e.g. `docker run --gpus all ...` (NVIDIA Container Toolkit)",
        );
    }
    if environment.nouveau {
        return (
            "the free driver nouveau holds the card, so NVIDIA's kernel module cannot",
            "blacklist nouveau, rebuild the initial ramdisk, reboot (NVIDIA's driver packages do so)",
        );
    }
    if environment.wsl {
        return (
            "the Windows driver does not pass the device on",
            "update the NVIDIA driver in Windows, `wsl --shutdown`",
        );
    }
    if environment.kernel_module.is_none() {
        return (
            "NVIDIA's kernel module is not loaded (not built for this kernel, or refused by Secure Boot)",
            "`sudo modprobe nvidia` and read `sudo dmesg | grep -i nvidia`; reinstall the driver if it fails",
        );
    }
    (
        "the kernel module is loaded but no device started, or the card fell off the bus",
        "read `sudo dmesg | grep -iE 'nvrm|xid'`; power-cycle the machine if the card is lost",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DriverCode, DriverFacts, FindingStatus, NvmlFacts, NvmlFailure, ScriptedProvider};

    fn lost() -> ScriptedProvider {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = Ok(NvmlFacts::default());
        machine.driver = Ok(DriverFacts { cuda_version: None, devices: 0, failure: Some(DriverCode::NO_DEVICE) });
        machine
    }

    fn cause(machine: &ScriptedProvider) -> String {
        let finding = check(&Probe::new(machine));
        assert_eq!(finding.status, FindingStatus::Fail);
        assert_eq!(finding.observed, "a card at PCI 0000:01:00.0, but the driver lists no device");
        finding.cause.unwrap()
    }

    #[test]
    fn devices_are_named() {
        let finding = check(&Probe::new(&ScriptedProvider::healthy()));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Pass, "0: Scripted device"));
    }

    #[test]
    fn a_device_that_is_asked_for_must_exist() {
        let asked = |index| {
            let needs = crate::Needs { device: Some(index), ..crate::Needs::default() };
            check(&Probe::with_needs(&ScriptedProvider::healthy(), needs))
        };
        assert_eq!(asked(0).observed, "0: Scripted device");
        let finding = asked(3);
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "device 3 of 1"));
        assert_eq!(finding.cause.as_deref(), Some("there is no device 3: the machine has 1, counted from 0"));
    }

    #[test]
    fn the_driver_may_know_more_than_nvml() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = Err(NvmlFailure::NoPermission);
        let finding = check(&Probe::new(&machine));
        assert_eq!(
            (finding.status, finding.observed.as_str()),
            (FindingStatus::Pass, "1 by the driver's count; NVML lists none")
        );
    }

    #[test]
    fn each_reason_for_an_unlisted_card_has_its_cause() {
        assert!(cause(&lost()).contains("fell off the bus"));
        let mut machine = lost();
        machine.environment.kernel_module = None;
        assert!(cause(&machine).contains("kernel module is not loaded"));
        machine.environment.nouveau = true;
        assert!(cause(&machine).contains("nouveau"));
        machine.environment.container = Some("docker".into());
        assert!(cause(&machine).contains("container"));
        let mut machine = lost();
        machine.environment.wsl = true;
        assert!(cause(&machine).contains("Windows"));
    }
}
