//! Are the kernel module and the libraries of one driver version, or do they mismatch?

use crate::finding::Question;
use crate::{DriverCode, Finding, NvmlFailure, Probe};

pub(super) const QUESTION: Question = Question {
    id: "version-match",
    title: "Kernel module and libraries",
    expected: "kernel module and libraries of the same driver version",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let module = probe.environment.kernel_module.as_deref();
    let told = probe.nvml.as_ref().ok().and_then(|nvml| nvml.driver_version.as_deref());
    // Where NVML refuses to start, the file's name still tells what is installed.
    let first = probe.environment.first_driver_library().filter(|copy| !copy.is_compat());
    let library = told.or_else(|| first.and_then(|copy| copy.version.as_deref()));
    let by_nvml = matches!(probe.nvml, Err(NvmlFailure::VersionMismatch));
    let by_driver =
        probe.driver.as_ref().is_ok_and(|driver| driver.failure == Some(DriverCode::SYSTEM_DRIVER_MISMATCH));
    let by_number = matches!((module, told), (Some(module), Some(library)) if module != library);
    if by_nvml || by_driver || by_number {
        return QUESTION.fail(
            format!(
                "kernel module {}, library {}",
                module.unwrap_or("unknown"),
                library.filter(|library| Some(*library) != module).unwrap_or("of another version")
            ),
            "the driver was updated while its old kernel module stayed loaded (or the container brings its own libraries)",
            "reboot; in a container, remove its own NVIDIA libraries and restart it",
        );
    }
    match (module, told) {
        (Some(version), Some(_)) => QUESTION.pass(format!("both {version}")),
        _ if probe.nvml.is_ok() || probe.driver.as_ref().is_ok_and(|driver| driver.failure.is_none()) => {
            QUESTION.pass("the driver reports no mismatch")
        }
        _ => QUESTION.skip("neither library tells its version"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    fn outcome(machine: &ScriptedProvider) -> (FindingStatus, String) {
        let finding = check(&Probe::new(machine));
        assert_eq!(finding.fix.is_some(), finding.status == FindingStatus::Fail);
        (finding.status, finding.observed)
    }

    #[test]
    fn equal_versions_pass() {
        assert_eq!(outcome(&ScriptedProvider::healthy()), (FindingStatus::Pass, "both 550.54.15".into()));
    }

    #[test]
    fn nvml_the_driver_and_the_numbers_can_each_tell() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = Err(NvmlFailure::VersionMismatch);
        assert_eq!(
            outcome(&machine),
            (FindingStatus::Fail, "kernel module 550.54.15, library of another version".into())
        );
        machine.environment.kernel_module = Some("535.183.01".into());
        assert_eq!(outcome(&machine), (FindingStatus::Fail, "kernel module 535.183.01, library 550.54.15".into()));
        let mut machine = ScriptedProvider::healthy();
        machine.driver.as_mut().unwrap().failure = Some(DriverCode::SYSTEM_DRIVER_MISMATCH);
        assert_eq!(outcome(&machine).0, FindingStatus::Fail);
        let mut machine = ScriptedProvider::healthy();
        machine.environment.kernel_module = Some("535.183.01".into());
        assert_eq!(outcome(&machine), (FindingStatus::Fail, "kernel module 535.183.01, library 550.54.15".into()));
    }

    #[test]
    fn without_a_visible_module_the_driver_is_believed() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.kernel_module = None;
        assert_eq!(outcome(&machine), (FindingStatus::Pass, "the driver reports no mismatch".into()));
        // Either library's word is enough.
        let (nvml, driver) = (machine.nvml.clone(), machine.driver.clone());
        machine.nvml = Err(NvmlFailure::DriverNotLoaded);
        assert_eq!(outcome(&machine).0, FindingStatus::Pass);
        machine.driver = ScriptedProvider::empty().driver;
        assert_eq!(outcome(&machine).0, FindingStatus::Skip);
        machine.nvml = nvml;
        assert_eq!(outcome(&machine).0, FindingStatus::Pass);
        (machine.nvml, machine.driver) = (Err(NvmlFailure::DriverNotLoaded), driver);
        machine.driver.as_mut().unwrap().failure = Some(DriverCode::UNKNOWN);
        assert_eq!(outcome(&machine).0, FindingStatus::Skip);
    }
}
