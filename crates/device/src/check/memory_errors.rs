//! Has the device's memory shown errors that were not corrected (ECC)?

use super::words::each;
use crate::finding::Question;
use crate::{DeviceInfo, Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "memory-errors",
    title: "Memory errors (ECC)",
    expected: "no uncorrected memory error since the driver was loaded, and no page that waits for a reboot",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let candidates = probe.candidates();
    if candidates.is_empty() {
        return QUESTION.skip("NVML lists no device");
    }
    let faulty = |device: &DeviceInfo| device.ecc_uncorrected.unwrap_or(0) > 0 || device.pages_pending == Some(true);
    let bad: Vec<&DeviceInfo> = candidates.iter().copied().filter(|device| faulty(device)).collect();
    if let Some(first) = bad.first() {
        return QUESTION.fail(
            each(&bad, |device| Some(errors(device))),
            "the memory of the device gave wrong bits: results since then may be wrong",
            format!(
                "stop all work on it and reset it (`sudo nvidia-smi -i {} -r`) or reboot; replace the card if errors return",
                first.index
            ),
        );
    }
    QUESTION.pass(each(&candidates, |device| {
        Some(match (device.ecc, device.ecc_uncorrected) {
            (Some(true), Some(_)) => "ECC on, no uncorrected error".into(),
            (Some(true), None) => "ECC on".into(),
            (Some(false), _) => "ECC off: errors go unseen".into(),
            (None, _) => "no ECC on this device".into(),
        })
    }))
}

fn errors(device: &DeviceInfo) -> String {
    let mut parts = Vec::new();
    match device.ecc_uncorrected {
        None | Some(0) => {}
        Some(1) => parts.push("1 uncorrected error".to_owned()),
        Some(n) => parts.push(format!("{n} uncorrected errors")),
    }
    if device.pages_pending == Some(true) {
        parts.push("pages wait for a reboot to be taken out of use".to_owned());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    fn with(ecc: Option<bool>, errors: Option<u64>, pending: Option<bool>) -> (FindingStatus, String) {
        let mut machine = ScriptedProvider::healthy();
        let device = &mut machine.nvml.as_mut().unwrap().devices[0];
        (device.ecc, device.ecc_uncorrected, device.pages_pending) = (ecc, errors, pending);
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.fix.is_some(), finding.status == FindingStatus::Fail);
        (finding.status, finding.observed)
    }

    #[test]
    fn clean_memory_passes_and_says_what_watches_it() {
        assert_eq!(with(Some(true), Some(0), None), (FindingStatus::Pass, "ECC on, no uncorrected error".into()));
        assert_eq!(with(Some(true), None, Some(false)), (FindingStatus::Pass, "ECC on".into()));
        assert_eq!(with(Some(false), None, None), (FindingStatus::Pass, "ECC off: errors go unseen".into()));
        assert_eq!(with(None, None, None), (FindingStatus::Pass, "no ECC on this device".into()));
    }

    #[test]
    fn wrong_bits_fail() {
        assert_eq!(with(Some(true), Some(1), None), (FindingStatus::Fail, "1 uncorrected error".into()));
        assert_eq!(
            with(Some(true), Some(3), Some(true)),
            (FindingStatus::Fail, "3 uncorrected errors, pages wait for a reboot to be taken out of use".into())
        );
        assert_eq!(with(None, None, Some(true)).0, FindingStatus::Fail);
    }
}
