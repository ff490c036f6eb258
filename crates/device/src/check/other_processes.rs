//! Checks whether other processes use the device.

use super::words::{each, others};
use crate::finding::Question;
use crate::{DeviceInfo, Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "other-processes",
    title: "Other processes",
    expected: "NVML tells who else computes on the device; for timings, nobody does",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let candidates = probe.candidates();
    let told: Vec<&DeviceInfo> = candidates.iter().copied().filter(|device| device.processes.is_some()).collect();
    if told.is_empty() {
        return QUESTION.skip("NVML does not tell the processes");
    }
    let observed = each(&told, |device| {
        let list = others(&[device]).unwrap_or_else(|| "none".into());
        Some(match device.utilization_percent {
            Some(percent) if percent > 0 => format!("{list}, {percent}% busy"),
            _ => list,
        })
    });
    let free = |device: &&DeviceInfo| device.computing().is_some_and(|mut others| others.next().is_none());
    if !probe.needs.quiet || told.iter().any(free) {
        return QUESTION.pass(observed);
    }
    QUESTION.fail(
        observed,
        "timings on a shared device tell nothing: the others take turns with this program",
        "wait for them, end them, or choose another device with --device cuda:N",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceProcess, FindingStatus, Needs, ProcessKind, ScriptedProvider};

    fn process(pid: u32, name: Option<&str>, memory: Option<u64>, kind: ProcessKind) -> DeviceProcess {
        DeviceProcess { pid, name: name.map(str::to_owned), memory, kind }
    }

    fn busy() -> ScriptedProvider {
        let mut machine = ScriptedProvider::healthy();
        let device = &mut machine.nvml.as_mut().unwrap().devices[0];
        device.utilization_percent = Some(97);
        device.processes = Some(vec![
            process(100, Some("python3"), Some(3 << 30), ProcessKind::Compute),
            process(200, None, None, ProcessKind::Compute),
            process(300, Some("Xorg"), Some(64 << 20), ProcessKind::Graphics),
        ]);
        machine
    }

    #[test]
    fn others_are_named_and_do_no_harm_but_to_timings() {
        let finding = check(&Probe::new(&ScriptedProvider::healthy()));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Pass, "none"));
        let finding = check(&Probe::new(&busy()));
        assert_eq!(finding.status, FindingStatus::Pass);
        assert_eq!(finding.observed, "100 python3 (3.0 GiB), 200, 300 Xorg (64 MiB), 97% busy");
        let quiet = Needs { quiet: true, ..Needs::default() };
        let finding = check(&Probe::with_needs(&busy(), quiet));
        assert_eq!(finding.status, FindingStatus::Fail);
        assert!(finding.fix.unwrap().contains("cuda:N"));
        let mut machine = busy();
        machine.nvml.as_mut().unwrap().devices[0].processes.as_mut().unwrap().drain(..2);
        assert_eq!(check(&Probe::with_needs(&machine, quiet)).status, FindingStatus::Pass);
    }

    #[test]
    fn silence_is_skipped() {
        let mut machine = busy();
        machine.nvml.as_mut().unwrap().devices[0].processes = None;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
