//! Checks whether the fabric manager runs on machines with NVSwitch.

use crate::finding::Question;
use crate::{DriverCode, Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "fabric-manager",
    title: "Fabric manager",
    expected: "no NVSwitch, or a running fabric manager of the driver's version",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let environment = &probe.environment;
    let not_ready = probe.driver.as_ref().is_ok_and(|driver| driver.failure == Some(DriverCode::SYSTEM_NOT_READY));
    let switches = match environment.switches {
        0 => "no NVSwitch".to_owned(),
        1 => "1 NVSwitch".to_owned(),
        n => format!("{n} NVSwitches"),
    };
    let state = match environment.fabric_manager {
        Some(true) => ", the fabric manager runs",
        Some(false) => ", no fabric manager runs",
        None if environment.switches > 0 => ", the host's processes are not visible from here",
        None => "",
    };
    let stopped = environment.fabric_manager == Some(false) && !probe.driver_works();
    if not_ready || stopped {
        let answer =
            if not_ready { format!("; the driver answers {}", DriverCode::SYSTEM_NOT_READY) } else { String::new() };
        let (cause, fix) = if environment.fabric_manager == Some(true) {
            (
                "the fabric manager is still starting, or is of another version than the driver",
                "wait a minute; `systemctl status nvidia-fabricmanager`; install the package of the driver's version",
            )
        } else {
            (
                "the devices are joined by NVSwitch, and nobody has set up the switches",
                "`sudo systemctl enable --now nvidia-fabricmanager` on the host (its version must be the driver's)",
            )
        };
        return QUESTION.fail(format!("{switches}{state}{answer}"), cause, fix);
    }
    QUESTION.pass(format!("{switches}{state}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    fn with(switches: usize, manager: Option<bool>, failure: Option<DriverCode>) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        (machine.environment.switches, machine.environment.fabric_manager) = (switches, manager);
        machine.driver.as_mut().unwrap().failure = failure;
        check(&Probe::new(&machine))
    }

    #[test]
    fn most_machines_need_none() {
        assert_eq!(with(0, None, None).observed, "no NVSwitch");
        assert_eq!(with(4, Some(true), None).observed, "4 NVSwitches, the fabric manager runs");
        assert_eq!(with(4, None, None).observed, "4 NVSwitches, the host's processes are not visible from here");
        assert_eq!(with(4, None, None).status, FindingStatus::Pass);
        // Others have set up the switches: the driver's start is the proof.
        assert_eq!(with(4, Some(false), None).status, FindingStatus::Pass);
    }

    #[test]
    fn switches_that_nobody_set_up_fail() {
        let not_ready = Some(DriverCode::SYSTEM_NOT_READY);
        let finding = with(4, Some(false), not_ready);
        assert_eq!(finding.status, FindingStatus::Fail);
        assert_eq!(
            finding.observed,
            "4 NVSwitches, no fabric manager runs; the driver answers 802 (CUDA_ERROR_SYSTEM_NOT_READY)"
        );
        assert!(finding.fix.unwrap().contains("enable --now"));
        assert!(with(4, Some(true), not_ready).cause.unwrap().contains("still starting"));
        // The driver knows of switches that cannot be seen from here.
        assert_eq!(with(0, None, not_ready).status, FindingStatus::Fail);
        assert_eq!(with(1, Some(false), Some(DriverCode::UNKNOWN)).observed, "1 NVSwitch, no fabric manager runs");
    }
}
