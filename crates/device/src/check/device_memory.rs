//! Is there room on a device?

use crate::finding::Question;
use crate::{Finding, MINIMUM_FREE_MEMORY, Probe};

pub(super) const QUESTION: Question =
    Question { id: "device-memory", title: "Device memory", expected: "a device with 1.0 GiB of free memory" };

pub(super) fn check(probe: &Probe) -> Finding {
    // The roomiest device decides: a run uses one.
    let best = probe
        .devices()
        .iter()
        .filter_map(|device| Some((device, device.memory_free?, device.memory_total?)))
        .max_by_key(|(_, free, _)| *free);
    let Some((device, free, total)) = best else { return QUESTION.skip("no device tells its memory") };
    let observed = format!("{} has {} of {} GiB free", device.label(), gibibytes(free), gibibytes(total));
    if free >= MINIMUM_FREE_MEMORY {
        return QUESTION.pass(observed);
    }
    if total < MINIMUM_FREE_MEMORY {
        return QUESTION.fail(observed, "the device is too small", "use another device, or run on the CPU");
    }
    QUESTION.fail(
        observed,
        match device.compute_processes {
            Some(0) => "the desktop or a graphics program holds the memory".to_owned(),
            Some(1) => "1 other process computes on the device".to_owned(),
            Some(n) => format!("{n} other processes compute on the device"),
            None => "other processes hold the memory".to_owned(),
        },
        "see who with `nvidia-smi`, end it or wait, or choose another device",
    )
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ScriptedProvider, Status};

    fn with(free: u64, total: u64, processes: Option<u32>) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        let device = &mut machine.nvml.as_mut().unwrap().devices[0];
        (device.memory_free, device.memory_total) = (Some(free), Some(total));
        device.compute_processes = processes;
        check(&Probe::new(&machine))
    }

    #[test]
    fn enough_is_enough() {
        assert!(QUESTION.expected.contains(&gibibytes(MINIMUM_FREE_MEMORY)));
        let finding = check(&Probe::new(&ScriptedProvider::healthy()));
        assert_eq!(finding.status, Status::Pass);
        assert_eq!(finding.observed, "0: Scripted device has 47.0 of 48.0 GiB free");
        assert_eq!(with(MINIMUM_FREE_MEMORY, 8 << 30, None).status, Status::Pass);
        assert_eq!(with(MINIMUM_FREE_MEMORY - 1, 8 << 30, None).status, Status::Fail);
    }

    #[test]
    fn a_full_device_names_who_fills_it() {
        for (processes, cause) in [
            (Some(0), "the desktop or a graphics program holds the memory"),
            (Some(1), "1 other process computes on the device"),
            (Some(3), "3 other processes compute on the device"),
            (None, "other processes hold the memory"),
        ] {
            let finding = with(100 << 20, 8 << 30, processes);
            assert_eq!((finding.status, finding.cause.as_deref()), (Status::Fail, Some(cause)));
        }
    }

    #[test]
    fn a_small_device_is_told_apart_from_a_full_one() {
        let finding = with(500 << 20, 512 << 20, Some(0));
        assert_eq!((finding.status, finding.cause.as_deref()), (Status::Fail, Some("the device is too small")));
    }

    #[test]
    fn the_roomiest_device_decides() {
        let mut machine = ScriptedProvider::healthy();
        let devices = &mut machine.nvml.as_mut().unwrap().devices;
        let mut full = devices[0].clone();
        full.memory_free = Some(0);
        devices.insert(0, full);
        assert_eq!(check(&Probe::new(&machine)).status, Status::Pass);
    }

    #[test]
    fn silence_is_skipped() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml.as_mut().unwrap().devices[0].memory_free = None;
        assert_eq!(check(&Probe::new(&machine)).status, Status::Skip);
    }
}
