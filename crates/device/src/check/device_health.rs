//! Does every device answer, and does one accept work?

use crate::finding::Question;
use crate::{ComputeMode, DeviceInfo, Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "device-health",
    title: "Device health",
    expected: "every device answers and at least one accepts work",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let devices = probe.devices();
    if devices.is_empty() {
        return QUESTION.skip("NVML lists no device");
    }
    let problems: Vec<String> = devices
        .iter()
        .filter_map(|device| device.problem.as_ref().map(|problem| format!("{}: {problem}", device.label())))
        .collect();
    if !problems.is_empty() {
        return QUESTION.fail(
            problems.join("; "),
            "the device is lost, needs a reset, or may not be opened",
            "read `sudo dmesg | grep -iE 'nvrm|xid'`; reset it (`sudo nvidia-smi -r -i N`) or power-cycle the machine",
        );
    }
    if devices.iter().any(accepts) {
        return QUESTION.pass(match devices.len() {
            1 => "the device answers and accepts work".to_owned(),
            n => format!("{n} devices answer, {} accept work", devices.iter().filter(|d| accepts(d)).count()),
        });
    }
    if devices.iter().all(|device| device.compute_mode == Some(ComputeMode::Prohibited)) {
        return QUESTION.fail(
            "compute mode prohibited",
            "the administrator forbids computing on the device",
            "`sudo nvidia-smi -c DEFAULT`",
        );
    }
    QUESTION.fail(
        "compute mode exclusive, and another process has the device",
        "an exclusive device serves one process at a time",
        "wait for that process (`nvidia-smi`), or `sudo nvidia-smi -c DEFAULT`",
    )
}

fn accepts(device: &DeviceInfo) -> bool {
    match device.compute_mode {
        Some(ComputeMode::Prohibited) => false,
        Some(ComputeMode::Exclusive) => device.compute_processes.is_none_or(|n| n == 0),
        Some(ComputeMode::Default) | None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NvmlFailure, ScriptedProvider, Status};

    fn with(change: impl FnOnce(&mut Vec<DeviceInfo>)) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        change(&mut machine.nvml.as_mut().unwrap().devices);
        check(&Probe::new(&machine))
    }

    #[test]
    fn a_device_that_does_not_answer_fails_even_beside_a_good_one() {
        let finding = with(|devices| {
            devices.push(DeviceInfo { index: 1, problem: Some("fell off the bus".into()), ..DeviceInfo::default() });
        });
        assert_eq!((finding.status, finding.observed.as_str()), (Status::Fail, "1: unnamed device: fell off the bus"));
    }

    #[test]
    fn modes_that_refuse_work_fail() {
        let finding = with(|devices| devices[0].compute_mode = Some(ComputeMode::Prohibited));
        assert_eq!((finding.status, finding.observed.as_str()), (Status::Fail, "compute mode prohibited"));
        let finding = with(|devices| {
            devices[0].compute_mode = Some(ComputeMode::Exclusive);
            devices[0].compute_processes = Some(1);
        });
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.cause.unwrap().contains("one process"));
    }

    #[test]
    fn modes_that_accept_work_pass() {
        assert_eq!(with(|_| ()).observed, "the device answers and accepts work");
        assert_eq!(with(|devices| devices[0].compute_mode = Some(ComputeMode::Exclusive)).status, Status::Pass);
        assert_eq!(with(|devices| devices[0].compute_mode = None).status, Status::Pass);
        let finding = with(|devices| {
            let mut display = devices[0].clone();
            display.compute_mode = Some(ComputeMode::Prohibited);
            devices.push(display);
        });
        assert_eq!((finding.status, finding.observed.as_str()), (Status::Pass, "2 devices answer, 1 accept work"));
    }

    #[test]
    fn without_nvml_it_is_skipped() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = Err(NvmlFailure::NoPermission);
        assert_eq!(check(&Probe::new(&machine)).status, Status::Skip);
    }
}
