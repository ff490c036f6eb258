//! Does `LD_LIBRARY_PATH` put another libcuda before the driver's?

use crate::finding::Question;
use crate::{DriverCode, Finding, FoundBy, LibraryCopy, Probe};

pub(super) const QUESTION: Question = Question {
    id: "library-path",
    title: "LD_LIBRARY_PATH",
    expected: "no libcuda on it that takes the place of the driver's and does not start",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let copies: Vec<&LibraryCopy> =
        probe.environment.driver_libraries.iter().filter(|copy| copy.found == FoundBy::LdLibraryPath).collect();
    let Some(first) = copies.first() else { return QUESTION.pass("no libcuda on it") };
    let paths: Vec<&str> = copies.iter().map(|copy| copy.path.as_str()).collect();
    let observed = paths.join(", ");
    let folder = first.path.rsplit_once('/').map_or(first.path.as_str(), |(folder, _)| folder);
    let fix = format!("remove {folder} from LD_LIBRARY_PATH and try again");
    let answers = |code| probe.driver.as_ref().is_ok_and(|driver| driver.failure == Some(code));
    if first.is_stub() || answers(DriverCode::STUB_LIBRARY) {
        return QUESTION.fail(
            observed,
            "a toolkit's stub for linking comes before the driver: it answers 34 (CUDA_ERROR_STUB_LIBRARY)",
            fix,
        );
    }
    // A copy that starts is meant: WSL and the forward-compatibility packages need one.
    if probe.driver_works() {
        return QUESTION.pass(format!("{observed} (it starts)"));
    }
    if first.is_compat() {
        return QUESTION.fail(
            observed,
            "the forward-compatibility libcuda comes before the driver's own, and serves data-centre devices only",
            format!("{fix}; to get newer CUDA, update the driver itself"),
        );
    }
    QUESTION.fail(observed, "a libcuda on LD_LIBRARY_PATH is loaded before the driver's own and does not start", fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    fn with(copy: &str, failure: Option<DriverCode>) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        let found = FoundBy::LdLibraryPath;
        let copy = LibraryCopy { path: copy.into(), file: copy.into(), version: None, found };
        machine.environment.driver_libraries.insert(0, copy);
        machine.driver.as_mut().unwrap().failure = failure;
        check(&Probe::new(&machine))
    }

    #[test]
    fn no_copy_and_a_copy_that_starts_pass() {
        assert_eq!(check(&Probe::new(&ScriptedProvider::healthy())).observed, "no libcuda on it");
        let finding = with("/usr/lib/wsl/lib/libcuda.so.1", None);
        assert_eq!(finding.status, FindingStatus::Pass);
        assert_eq!(finding.observed, "/usr/lib/wsl/lib/libcuda.so.1 (it starts)");
    }

    #[test]
    fn stubs_and_broken_copies_fail() {
        let finding = with("/usr/local/cuda/lib64/stubs/libcuda.so.1", None);
        assert_eq!(finding.status, FindingStatus::Fail);
        assert!(finding.cause.unwrap().contains("stub"));
        let finding = with("/opt/mine/libcuda.so.1", Some(DriverCode::STUB_LIBRARY));
        assert_eq!(finding.fix.as_deref(), Some("remove /opt/mine from LD_LIBRARY_PATH and try again"));
        let finding = with("/opt/old/libcuda.so.1", Some(DriverCode::SYSTEM_DRIVER_MISMATCH));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "/opt/old/libcuda.so.1"));
        assert!(finding.cause.unwrap().contains("does not start"));
        let finding = with("/usr/local/cuda/compat/libcuda.so.1", Some(DriverCode::COMPAT_NOT_SUPPORTED));
        assert!(finding.cause.unwrap().contains("forward-compatibility"));
    }
}
