//! Does `LD_LIBRARY_PATH` put another libcuda before the driver's?

use crate::finding::Question;
use crate::{DriverCode, Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "library-path",
    title: "LD_LIBRARY_PATH",
    expected: "no libcuda that takes the place of the driver's and does not start",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let copies = &probe.environment.shadowing_libraries;
    if copies.is_empty() {
        return QUESTION.pass("no libcuda on it");
    }
    let observed = copies.join(", ");
    let stub = probe.driver.as_ref().is_ok_and(|driver| driver.failure == Some(DriverCode::STUB_LIBRARY));
    if stub {
        return QUESTION.fail(
            observed,
            "a toolkit's stub for linking comes before the driver",
            "remove the folder `stubs` from LD_LIBRARY_PATH",
        );
    }
    // A copy that starts is meant: WSL and the forward-compatibility packages need one.
    if probe.driver.as_ref().is_ok_and(|driver| driver.failure.is_none()) {
        return QUESTION.pass(format!("{observed} (it starts)"));
    }
    QUESTION.fail(
        observed,
        "a libcuda on LD_LIBRARY_PATH is loaded before the driver's own and does not start",
        "remove its folder from LD_LIBRARY_PATH and try again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ScriptedProvider, Status};

    fn with(copy: &str, failure: Option<DriverCode>) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.shadowing_libraries = vec![copy.into()];
        machine.driver.as_mut().unwrap().failure = failure;
        check(&Probe::new(&machine))
    }

    #[test]
    fn no_copy_and_a_copy_that_starts_pass() {
        assert_eq!(check(&Probe::new(&ScriptedProvider::healthy())).observed, "no libcuda on it");
        let finding = with("/usr/lib/wsl/lib/libcuda.so.1", None);
        assert_eq!(finding.status, Status::Pass);
        assert_eq!(finding.observed, "/usr/lib/wsl/lib/libcuda.so.1 (it starts)");
    }

    #[test]
    fn stubs_and_broken_copies_fail() {
        let finding = with("/usr/local/cuda/lib64/stubs/libcuda.so", Some(DriverCode::STUB_LIBRARY));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.cause.unwrap().contains("stub"));
        let finding = with("/opt/old/libcuda.so.1", Some(DriverCode::SYSTEM_DRIVER_MISMATCH));
        assert_eq!((finding.status, finding.observed.as_str()), (Status::Fail, "/opt/old/libcuda.so.1"));
        assert!(finding.fix.unwrap().contains("remove its folder"));
    }
}
