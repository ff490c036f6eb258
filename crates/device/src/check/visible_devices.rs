//! Does `CUDA_VISIBLE_DEVICES` say something sensible?

use crate::finding::Question;
use crate::visible::Visible;
use crate::{Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "visible-devices",
    title: "CUDA_VISIBLE_DEVICES",
    expected: "unset, or a list of device indices or UUIDs that exist",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let Some(value) = probe.environment.cuda_visible_devices.as_deref() else { return QUESTION.pass("unset") };
    let observed = format!("CUDA_VISIBLE_DEVICES={value:?}");
    match probe.visible() {
        Some(Visible::Refused(cause)) => {
            QUESTION.fail(observed, cause, "`unset CUDA_VISIBLE_DEVICES`, or set it to e.g. 0")
        }
        Some(Visible::Devices(_) | Visible::Unknown) | None => QUESTION.pass(observed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    fn with(value: &str) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.cuda_visible_devices = Some(value.into());
        check(&Probe::new(&machine))
    }

    #[test]
    fn unset_and_sensible_lists_pass() {
        assert_eq!(check(&Probe::new(&ScriptedProvider::healthy())).observed, "unset");
        for value in ["0", " 0 ", "GPU-5c1f7ed0", "MIG-1d2e3f40-0000-4000-8000-000000000000"] {
            assert_eq!(with(value).status, FindingStatus::Pass, "{value}");
        }
    }

    #[test]
    fn lists_that_hide_devices_fail_with_the_reason() {
        for (value, cause) in [
            ("", "an empty list hides every device"),
            ("-1", "-1 hides all devices from there on"),
            ("1", "there is no device 1: the machine has 1, counted from 0"),
            ("0,0", "0 is listed twice, which CUDA refuses"),
            ("all", "\"all\" is neither an index nor a UUID: it hides all from there on"),
            ("0,,", "\"\" is neither an index nor a UUID: it hides all from there on"),
            ("GPU-ffff", "no device has a UUID that starts with GPU-ffff"),
        ] {
            let finding = with(value);
            assert_eq!(finding.status, FindingStatus::Fail, "{value}");
            assert_eq!(finding.observed, format!("CUDA_VISIBLE_DEVICES={value:?}"));
            assert_eq!(finding.cause.as_deref(), Some(cause));
            assert!(finding.fix.unwrap().contains("unset"));
        }
    }

    #[test]
    fn without_nvml_only_the_form_is_judged() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = ScriptedProvider::empty().nvml;
        machine.environment.cuda_visible_devices = Some("7,GPU-ffff".into());
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        machine.environment.cuda_visible_devices = Some("none".into());
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Fail);
    }
}
