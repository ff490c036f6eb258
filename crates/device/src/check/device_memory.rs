//! Is there enough free memory on a device?

use super::words::others;
use crate::finding::Question;
use crate::nvml::{gibibytes, memory_text};
use crate::{Finding, Probe};

pub(super) const QUESTION: Question =
    Question { id: "device-memory", title: "Device memory", expected: "a device with 1.0 GiB of free memory" };

pub(super) fn check(probe: &Probe) -> Finding {
    // The roomiest device decides: a run uses one.
    let needed = probe.needs.free_memory;
    let best = probe
        .candidates()
        .into_iter()
        .filter_map(|device| Some((device, device.memory_free?, device.memory_total?)))
        .max_by_key(|(_, free, _)| *free);
    let Some((device, free, total)) = best else { return QUESTION.skip("no device tells its memory") };
    let observed = format!("{} has {} of {} GiB free", device.label(), gibibytes(free), gibibytes(total));
    let expected = format!("a device with {} of free memory", memory_text(needed));
    if free >= needed {
        return QUESTION.pass(observed).expecting(expected);
    }
    if total < needed {
        return QUESTION
            .fail(observed, "the device is too small", "use another device, or run on the CPU")
            .expecting(expected);
    }
    let cause = match (others(&[device]), &device.processes) {
        (Some(names), _) => format!("other processes hold the memory: {names}"),
        (None, Some(_)) => "the desktop, a graphics program or another container holds the memory".to_owned(),
        (None, None) => "other processes hold the memory".to_owned(),
    };
    QUESTION
        .fail(observed, cause, "see who with `nvidia-smi`, end it or wait, or choose another device")
        .expecting(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceProcess, FindingStatus, MINIMUM_FREE_MEMORY, Needs, ProcessKind, ScriptedProvider};

    fn with(free: u64, total: u64, processes: Option<Vec<DeviceProcess>>) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        let device = &mut machine.nvml.as_mut().unwrap().devices[0];
        (device.memory_free, device.memory_total) = (Some(free), Some(total));
        device.processes = processes;
        check(&Probe::new(&machine))
    }

    #[test]
    fn enough_is_enough() {
        assert!(QUESTION.expected.contains(&memory_text(MINIMUM_FREE_MEMORY)));
        let finding = check(&Probe::new(&ScriptedProvider::healthy()));
        assert_eq!(finding.status, FindingStatus::Pass);
        assert_eq!(finding.observed, "0: Scripted device has 47.0 of 48.0 GiB free");
        assert_eq!(with(MINIMUM_FREE_MEMORY, 8 << 30, None).status, FindingStatus::Pass);
        assert_eq!(with(MINIMUM_FREE_MEMORY - 1, 8 << 30, None).status, FindingStatus::Fail);
    }

    #[test]
    fn a_full_device_names_who_fills_it() {
        let process = |pid, name: Option<&str>, gibibytes: u64| DeviceProcess {
            pid,
            name: name.map(str::to_owned),
            memory: Some(gibibytes << 30),
            kind: ProcessKind::Compute,
        };
        for (processes, cause) in [
            (Some(vec![]), "the desktop, a graphics program or another container holds the memory"),
            (
                Some(vec![process(7, Some("python3"), 5), process(8, None, 2)]),
                "other processes hold the memory: 7 python3 (5.0 GiB), 8 (2.0 GiB)",
            ),
            (None, "other processes hold the memory"),
        ] {
            let finding = with(100 << 20, 8 << 30, processes);
            assert_eq!((finding.status, finding.cause.as_deref()), (FindingStatus::Fail, Some(cause)));
        }
    }

    #[test]
    fn a_small_device_is_told_apart_from_a_full_one() {
        let finding = with(500 << 20, 512 << 20, None);
        assert_eq!((finding.status, finding.cause.as_deref()), (FindingStatus::Fail, Some("the device is too small")));
        let full = with(0, MINIMUM_FREE_MEMORY, None);
        assert_eq!(full.cause.as_deref(), Some("other processes hold the memory"));
    }

    #[test]
    fn the_roomiest_device_decides() {
        let mut machine = ScriptedProvider::healthy();
        let devices = &mut machine.nvml.as_mut().unwrap().devices;
        let mut full = devices[0].clone();
        full.memory_free = Some(0);
        devices.insert(0, full);
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
    }

    #[test]
    fn what_is_needed_may_be_more() {
        let needs = Needs { free_memory: 60 << 30, ..Needs::default() };
        let finding = check(&Probe::with_needs(&ScriptedProvider::healthy(), needs));
        assert_eq!(finding.expected, "a device with 60.0 GiB of free memory");
        assert_eq!(finding.cause.as_deref(), Some("the device is too small"));
    }

    #[test]
    fn silence_is_skipped() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml.as_mut().unwrap().devices[0].memory_free = None;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
