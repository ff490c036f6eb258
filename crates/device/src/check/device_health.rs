//! Does every device answer?

use crate::finding::Question;
use crate::{Finding, Probe};

pub(super) const QUESTION: Question =
    Question { id: "device-health", title: "Device health", expected: "every device answers" };

pub(super) fn check(probe: &Probe) -> Finding {
    // A lost device beside a good one is told too: the driver often hangs on it.
    let devices = probe.devices();
    if devices.is_empty() {
        return QUESTION.skip("NVML lists no device");
    }
    let bad: Vec<_> = devices.iter().filter(|device| device.problem.is_some()).collect();
    let Some(first) = bad.first() else {
        return QUESTION.pass(match devices.len() {
            1 => "the device answers".to_owned(),
            n => format!("{n} devices answer"),
        });
    };
    let problems: Vec<String> = bad
        .iter()
        .map(|device| format!("{}: {}", device.label(), device.problem.as_deref().unwrap_or_default()))
        .collect();
    QUESTION.fail(
        problems.join("; "),
        "the device is lost, needs a reset, or may not be opened",
        format!(
            "read `sudo dmesg | grep -iE 'nvrm|xid'`; reset it (`sudo nvidia-smi -i {} -r`) or power-cycle the machine",
            first.index
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceInfo, FindingStatus, NvmlFailure, ScriptedProvider};

    fn with(change: impl FnOnce(&mut Vec<DeviceInfo>)) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        change(&mut machine.nvml.as_mut().unwrap().devices);
        check(&Probe::new(&machine))
    }

    #[test]
    fn devices_that_answer_pass() {
        assert_eq!(with(|_| ()).observed, "the device answers");
        assert_eq!(with(|devices| devices.push(devices[0].clone())).observed, "2 devices answer");
    }

    #[test]
    fn a_device_that_does_not_answer_fails_even_beside_a_good_one() {
        let finding = with(|devices| {
            devices.push(DeviceInfo { index: 1, problem: Some("fell off the bus".into()), ..DeviceInfo::default() });
        });
        assert_eq!(
            (finding.status, finding.observed.as_str()),
            (FindingStatus::Fail, "1: unnamed device: fell off the bus")
        );
        assert!(finding.fix.unwrap().contains("-i 1 -r"));
    }

    #[test]
    fn without_nvml_it_is_skipped() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = Err(NvmlFailure::NoPermission);
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
