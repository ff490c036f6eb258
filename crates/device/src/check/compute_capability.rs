//! Is a device new enough for the kernels, by its compute capability?

use crate::finding::Question;
use crate::{Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "compute-capability",
    title: "Compute capability",
    expected: "a device of compute capability 8.0 or newer",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let needed = probe.needs.compute_capability;
    let known: Vec<_> =
        probe.candidates().into_iter().filter_map(|device| Some((device, device.compute_capability?))).collect();
    if known.is_empty() {
        return QUESTION.skip("no device tells its compute capability");
    }
    let each: Vec<String> = known.iter().map(|(device, version)| format!("{} has {version}", device.label())).collect();
    let observed = each.join(", ");
    let expected = format!("a device of compute capability {needed} or newer");
    if known.iter().any(|(_, version)| *version >= needed) {
        return QUESTION.pass(observed).expecting(expected);
    }
    QUESTION
        .fail(
            observed,
            format!("the kernels are made for compute capability {needed} and newer; the driver refuses them on older devices"),
            "use an Ampere or newer device (A100, RTX 30, A6000, ...), or run on the CPU",
        )
        .expecting(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, MINIMUM_COMPUTE_CAPABILITY, Needs, ScriptedProvider, Version};

    #[test]
    fn one_device_that_is_new_enough_suffices() {
        let mut machine = ScriptedProvider::healthy();
        assert!(QUESTION.expected.contains(&MINIMUM_COMPUTE_CAPABILITY.to_string()));
        let devices = &mut machine.nvml.as_mut().unwrap().devices;
        let mut old = devices[0].clone();
        (old.index, old.compute_capability) = (1, Some(Version { major: 5, minor: 2 }));
        devices.push(old);
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.status, FindingStatus::Pass);
        assert_eq!(finding.observed, "0: Scripted device has 8.6, 1: Scripted device has 5.2");
        // The one device that is asked for, or shown to this process, is the one that is judged.
        let needs = Needs { device: Some(1), ..Needs::default() };
        assert_eq!(check(&Probe::with_needs(&machine, needs)).status, FindingStatus::Fail);
        machine.environment.cuda_visible_devices = Some("1".into());
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Fail);
        machine.environment.cuda_visible_devices = Some("0,1".into());
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        machine.environment.cuda_visible_devices = None;
        machine.nvml.as_mut().unwrap().devices.remove(0);
        let finding = check(&Probe::new(&machine));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "1: Scripted device has 5.2"));
        assert!(finding.fix.unwrap().contains("Ampere"));
    }

    #[test]
    fn the_limit_passes_and_silence_is_skipped() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml.as_mut().unwrap().devices[0].compute_capability = Some(MINIMUM_COMPUTE_CAPABILITY);
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        machine.nvml.as_mut().unwrap().devices[0].compute_capability = None;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
