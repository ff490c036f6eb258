//! The checks of `octopus verify`: small functions over a [`Probe`], one a file, in the order one would look.

mod clocks;
mod compute_capability;
mod compute_mode;
mod container_runtime;
mod cuda_version;
mod device_files;
mod device_health;
mod device_memory;
mod device_present;
mod driver_init;
mod driver_library;
mod fabric_manager;
mod library_copies;
mod library_path;
mod memory_errors;
mod mig_mode;
mod nvml_library;
mod other_processes;
mod ptx_compiler;
mod ptx_version;
mod version_match;
mod visible_devices;
mod words;
mod wsl_driver;

use crate::finding::Question;
use crate::{Finding, Probe};

/// A check: the question, and the function that answers it.
type Check = (Question, fn(&Probe) -> Finding);

const CHECKS: [Check; 23] = [
    (device_present::QUESTION, device_present::check),
    (nvml_library::QUESTION, nvml_library::check),
    (driver_library::QUESTION, driver_library::check),
    (version_match::QUESTION, version_match::check),
    (library_copies::QUESTION, library_copies::check),
    (driver_init::QUESTION, driver_init::check),
    (fabric_manager::QUESTION, fabric_manager::check),
    (cuda_version::QUESTION, cuda_version::check),
    (ptx_version::QUESTION, ptx_version::check),
    (ptx_compiler::QUESTION, ptx_compiler::check),
    (compute_capability::QUESTION, compute_capability::check),
    (device_memory::QUESTION, device_memory::check),
    (device_health::QUESTION, device_health::check),
    (compute_mode::QUESTION, compute_mode::check),
    (mig_mode::QUESTION, mig_mode::check),
    (memory_errors::QUESTION, memory_errors::check),
    (clocks::QUESTION, clocks::check),
    (other_processes::QUESTION, other_processes::check),
    (visible_devices::QUESTION, visible_devices::check),
    (device_files::QUESTION, device_files::check),
    (library_path::QUESTION, library_path::check),
    (container_runtime::QUESTION, container_runtime::check),
    (wsl_driver::QUESTION, wsl_driver::check),
];

/// The ids of all checks, in their order; the troubleshooting page has an entry for each.
pub const CHECK_IDS: [&str; CHECKS.len()] = {
    let mut ids = [""; CHECKS.len()];
    let mut at = 0;
    while at < CHECKS.len() {
        ids[at] = CHECKS[at].0.id;
        at += 1;
    }
    ids
};

/// Runs all checks. Where there is no device, or nothing but a bare card, all are skipped: absent is not
/// broken, and no check has to think of it.
pub(crate) fn run(probe: &Probe) -> Vec<Finding> {
    let nothing = probe.nothing();
    CHECKS.iter().map(|(question, check)| nothing.map_or_else(|| check(probe), |why| question.skip(why))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, NoProvider, ScriptedProvider};
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_distinct_words_for_links() {
        let distinct: BTreeSet<&str> = CHECK_IDS.into_iter().collect();
        assert_eq!(distinct.len(), CHECK_IDS.len());
        assert!(CHECK_IDS.iter().all(|id| id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    }

    #[test]
    fn findings_come_in_the_order_of_the_ids() {
        let ids = |findings: Vec<Finding>| findings.into_iter().map(|f| f.id).collect::<Vec<_>>();
        assert_eq!(ids(run(&Probe::new(&ScriptedProvider::healthy()))), CHECK_IDS);
        assert_eq!(ids(run(&Probe::new(&NoProvider))), CHECK_IDS);
    }

    #[test]
    fn a_healthy_machine_passes_every_check() {
        for finding in run(&Probe::new(&ScriptedProvider::healthy())) {
            assert_eq!(finding.status, FindingStatus::Pass, "{finding:?}");
        }
    }
}
