//! Does a device accept work from this process, by its compute mode (exclusive, prohibited)?

use super::words::{each, others};
use crate::finding::Question;
use crate::{ComputeMode, DeviceInfo, Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "compute-mode",
    title: "Compute mode",
    expected: "a device that accepts another process that computes",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let candidates = probe.candidates();
    let told: Vec<&DeviceInfo> = candidates.iter().copied().filter(|device| device.compute_mode.is_some()).collect();
    if told.is_empty() {
        return QUESTION.skip("no device tells its compute mode");
    }
    let observed = each(&told, |device| device.compute_mode.map(|mode| mode.to_string()));
    // A device that does not tell its mode is given the benefit of the doubt.
    if candidates.iter().any(|device| accepts(device)) {
        return QUESTION.pass(observed);
    }
    let index = told[0].index;
    if told.iter().all(|device| device.compute_mode == Some(ComputeMode::Prohibited)) {
        return QUESTION.fail(
            observed,
            "the administrator forbids computing on the device: the driver answers 46 or 101 when it is used",
            format!("`sudo nvidia-smi -i {index} -c DEFAULT`"),
        );
    }
    QUESTION.fail(
        observed,
        match others(&told) {
            Some(names) => format!("an exclusive device serves one process at a time, and has one: {names}"),
            None => "an exclusive device serves one process at a time, and has one".into(),
        },
        format!("wait for that process, or `sudo nvidia-smi -i {index} -c DEFAULT`"),
    )
}

fn accepts(device: &DeviceInfo) -> bool {
    match device.compute_mode {
        Some(ComputeMode::Prohibited) => false,
        Some(ComputeMode::Exclusive) => device.computing().is_none_or(|mut others| others.next().is_none()),
        Some(ComputeMode::Default) | None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceProcess, FindingStatus, ProcessKind, ScriptedProvider};

    fn with(change: impl FnOnce(&mut Vec<DeviceInfo>)) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        change(&mut machine.nvml.as_mut().unwrap().devices);
        check(&Probe::new(&machine))
    }

    fn process(kind: ProcessKind) -> DeviceProcess {
        DeviceProcess { pid: 4711, name: Some("python3".into()), memory: Some(3 << 30), kind }
    }

    #[test]
    fn modes_that_refuse_work_fail() {
        let finding = with(|devices| devices[0].compute_mode = Some(ComputeMode::Prohibited));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "prohibited"));
        assert_eq!(finding.fix.as_deref(), Some("`sudo nvidia-smi -i 0 -c DEFAULT`"));
        let finding = with(|devices| {
            devices[0].compute_mode = Some(ComputeMode::Exclusive);
            devices[0].processes = Some(vec![process(ProcessKind::Compute)]);
        });
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "exclusive"));
        assert!(finding.cause.unwrap().ends_with("has one: 4711 python3 (3.0 GiB)"));
    }

    #[test]
    fn modes_that_accept_work_pass() {
        assert_eq!(with(|_| ()).observed, "default");
        let exclusive = |processes| {
            with(|devices| {
                devices[0].compute_mode = Some(ComputeMode::Exclusive);
                devices[0].processes = processes;
            })
        };
        assert_eq!(exclusive(Some(vec![])).status, FindingStatus::Pass);
        assert_eq!(exclusive(Some(vec![process(ProcessKind::Graphics)])).status, FindingStatus::Pass);
        assert_eq!(exclusive(None).status, FindingStatus::Pass);
        let finding = with(|devices| {
            let mut display = devices[0].clone();
            (display.index, display.compute_mode) = (1, Some(ComputeMode::Prohibited));
            devices.push(display);
        });
        assert_eq!(finding.status, FindingStatus::Pass);
        assert_eq!(finding.observed, "0: Scripted device default, 1: Scripted device prohibited");
        assert_eq!(with(|devices| devices[0].compute_mode = None).status, FindingStatus::Skip);
    }
}
