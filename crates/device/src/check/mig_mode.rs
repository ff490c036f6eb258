//! If a device is split into instances (MIG), is there one to compute on?

use super::words::each;
use crate::finding::Question;
use crate::{DeviceInfo, Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "mig-mode",
    title: "Split into instances (MIG)",
    expected: "MIG is off, or the driver reaches an instance",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let candidates = probe.candidates();
    let on: Vec<&DeviceInfo> = candidates.iter().copied().filter(|device| device.mig == Some(true)).collect();
    if on.is_empty() {
        return if candidates.iter().any(|device| device.mig.is_some()) {
            QUESTION.pass("off")
        } else if candidates.is_empty() {
            QUESTION.skip("NVML lists no device")
        } else {
            QUESTION.pass("not supported by the device")
        };
    }
    let observed = each(&on, |_| Some("on".into()));
    if probe.driver_works() || on.len() < candidates.len() {
        return QUESTION.pass(format!("{observed}; a process sees one instance at a time"));
    }
    let index = on[0].index;
    QUESTION.fail(
        observed,
        "the device is split, and this process has no compute instance of it",
        format!(
            "`sudo nvidia-smi mig -i {index} -cgi 0 -C` makes an instance (`nvidia-smi -L` names it for CUDA_VISIBLE_DEVICES); `sudo nvidia-smi -i {index} -mig 0` leaves MIG"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DriverCode, FindingStatus, ScriptedProvider};

    fn with(mig: Option<bool>, failure: Option<DriverCode>) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml.as_mut().unwrap().devices[0].mig = mig;
        machine.driver.as_mut().unwrap().failure = failure;
        check(&Probe::new(&machine))
    }

    #[test]
    fn off_and_not_supported_pass() {
        assert_eq!(with(None, None).observed, "not supported by the device");
        assert_eq!(with(Some(false), None).observed, "off");
        assert_eq!(with(Some(false), Some(DriverCode::NO_DEVICE)).status, FindingStatus::Pass);
    }

    #[test]
    fn a_split_device_needs_an_instance() {
        let finding = with(Some(true), None);
        assert_eq!(
            (finding.status, finding.observed.as_str()),
            (FindingStatus::Pass, "on; a process sees one instance at a time")
        );
        let finding = with(Some(true), Some(DriverCode::NO_DEVICE));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "on"));
        assert!(finding.fix.unwrap().starts_with("`sudo nvidia-smi mig -i 0 -cgi 0 -C`"));
    }

    #[test]
    fn a_whole_device_beside_a_split_one_is_enough() {
        let mut machine = ScriptedProvider::healthy();
        let devices = &mut machine.nvml.as_mut().unwrap().devices;
        let mut split = devices[0].clone();
        (split.index, split.mig) = (1, Some(true));
        devices.push(split);
        machine.driver.as_mut().unwrap().failure = Some(DriverCode::NO_DEVICE);
        let finding = check(&Probe::new(&machine));
        assert_eq!(
            (finding.status, finding.observed.as_str()),
            (FindingStatus::Pass, "on; a process sees one instance at a time")
        );
    }

    #[test]
    fn without_devices_it_is_skipped() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = ScriptedProvider::empty().nvml;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
