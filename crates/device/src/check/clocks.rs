//! Does a device run as fast as it can, or are its clocks throttled for heat or power?

use super::words::each;
use crate::finding::Question;
use crate::{DeviceInfo, Finding, Probe, Throttle};

pub(super) const QUESTION: Question =
    Question { id: "clocks", title: "Clocks", expected: "the chip does not brake its clocks for heat or power" };

pub(super) fn check(probe: &Probe) -> Finding {
    let candidates = probe.candidates();
    let told: Vec<&DeviceInfo> = candidates
        .iter()
        .copied()
        .filter(|device| device.throttle.is_some() || device.sm_clock_mhz.is_some())
        .collect();
    if told.is_empty() {
        return QUESTION.skip("no device tells its clocks");
    }
    let observed = each(&told, |device| Some(state(device)));
    let severe = |device: &&DeviceInfo| device.throttle.iter().flatten().any(|reason| reason.is_severe());
    // One device that runs freely is enough to work on.
    if !told.iter().all(severe) {
        return QUESTION.pass(observed);
    }
    let power = told.iter().flat_map(|device| device.throttle.iter().flatten()).any(|r| *r == Throttle::PowerBrake);
    if power {
        return QUESTION.fail(
            observed,
            "the power supply asks the device to brake: it runs at half its speed or less",
            "check the card's power cables and the supply's rating; `nvidia-smi -q -d PERFORMANCE,POWER` tells more",
        );
    }
    QUESTION.fail(
        observed,
        "the device is too hot or draws too much: it runs at half its speed or less",
        "check fans, dust and air flow; `nvidia-smi -q -d PERFORMANCE,TEMPERATURE` tells more; try again when it is cool",
    )
}

/// Present and highest clock, performance state, and what holds the clock down.
fn state(device: &DeviceInfo) -> String {
    let mut parts = Vec::new();
    match (device.sm_clock_mhz, device.sm_clock_max_mhz) {
        (Some(now), Some(max)) => parts.push(format!("{now} of {max} MHz")),
        (Some(now), None) => parts.push(format!("{now} MHz")),
        (None, _) => {}
    }
    parts.extend(device.performance_state.map(|state| format!("P{state}")));
    parts.extend(device.temperature_celsius.map(|degrees| format!("{degrees} C")));
    let reasons: Vec<String> = device.throttle.iter().flatten().map(Throttle::to_string).collect();
    if !reasons.is_empty() {
        parts.push(format!("held by {}", reasons.join(" and ")));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    fn with(reasons: Option<Vec<Throttle>>) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml.as_mut().unwrap().devices[0].throttle = reasons;
        check(&Probe::new(&machine))
    }

    #[test]
    fn idle_and_usual_limits_pass_and_are_told() {
        assert_eq!(with(Some(vec![Throttle::Idle])).observed, "210 of 2100 MHz, P8, 38 C, held by idle");
        for reason in [Throttle::PowerCap, Throttle::SoftwareThermal, Throttle::ApplicationClocks, Throttle::SyncBoost]
        {
            let finding = with(Some(vec![reason]));
            assert_eq!(finding.status, FindingStatus::Pass);
            assert!(finding.observed.ends_with(&reason.to_string()));
        }
        assert_eq!(with(None).observed, "210 of 2100 MHz, P8, 38 C");
    }

    #[test]
    fn brakes_fail_with_their_own_cause() {
        let finding = with(Some(vec![Throttle::HardwareSlowdown, Throttle::HardwareThermal]));
        assert_eq!(finding.status, FindingStatus::Fail);
        assert!(finding.observed.ends_with("held by hardware slowdown and temperature (hardware)"));
        assert!(finding.fix.unwrap().contains("fans"));
        let finding = with(Some(vec![Throttle::HardwareSlowdown, Throttle::PowerBrake]));
        assert!(finding.fix.unwrap().contains("power cables"));
    }

    #[test]
    fn a_free_device_beside_a_hot_one_passes() {
        let mut machine = ScriptedProvider::healthy();
        let devices = &mut machine.nvml.as_mut().unwrap().devices;
        let mut hot = devices[0].clone();
        (hot.index, hot.throttle) = (1, Some(vec![Throttle::HardwareThermal]));
        devices.push(hot);
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        let needs = crate::Needs { device: Some(1), ..crate::Needs::default() };
        assert_eq!(check(&Probe::with_needs(&machine, needs)).status, FindingStatus::Fail);
    }

    #[test]
    fn silence_is_skipped() {
        let mut machine = ScriptedProvider::healthy();
        let device = &mut machine.nvml.as_mut().unwrap().devices[0];
        (device.throttle, device.sm_clock_mhz) = (None, None);
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
