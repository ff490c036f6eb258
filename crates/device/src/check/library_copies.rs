//! Is there one driver library only, or is the one that the loader takes the right one?

use crate::finding::Question;
use crate::{Finding, FoundBy, LibraryCopy, Probe};
use std::collections::BTreeSet;

pub(super) const QUESTION: Question = Question {
    id: "library-copies",
    title: "Copies of libcuda",
    expected: "one libcuda, or several of which the loader takes the driver's own",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let environment = &probe.environment;
    if let (Some(named), true) = (&environment.octopus_libcuda, probe.driver.is_ok()) {
        return QUESTION.pass(format!("{named} (named by OCTOPUS_LIBCUDA)"));
    }
    let copies: Vec<&LibraryCopy> =
        environment.driver_libraries.iter().filter(|copy| copy.found != FoundBy::Elsewhere).collect();
    let Some(first) = copies.first() else {
        return if probe.driver.is_ok() {
            QUESTION.pass("the loader finds one in a folder that is not searched here")
        } else {
            QUESTION.skip("no libcuda found (see driver-library)")
        };
    };
    let listed: Vec<String> = copies.iter().map(|copy| copy.describe()).collect();
    let observed = listed.join(", ");
    let module = environment.kernel_module.as_deref();
    let differs = |copy: &LibraryCopy| {
        !copy.is_compat() && matches!((&copy.version, module), (Some(version), Some(module)) if version != module)
    };
    let versions: BTreeSet<&str> = copies.iter().filter_map(|copy| copy.version.as_deref()).collect();
    // A newer libcuda of the compatibility package is meant to differ, and says itself when it does not work.
    if differs(first) && copies.iter().any(|copy| !differs(copy)) {
        return QUESTION.fail(
            observed,
            format!(
                "the loader takes the first, which is not of the kernel module's driver {}",
                module.unwrap_or("(unknown)")
            ),
            "remove the other copies (a driver installed twice, by the .run file and by packages), then `sudo ldconfig`",
        );
    }
    if versions.len() > 1 && !probe.driver_works() {
        return QUESTION.fail(
            observed,
            "several drivers' libraries are installed, and the one that the loader takes does not work",
            "keep the copy of the kernel module's version only (`cat /proc/driver/nvidia/version`), then `sudo ldconfig`",
        );
    }
    QUESTION.pass(observed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DriverCode, FindingStatus, ScriptedProvider};

    fn copy(file: &str, version: &str, found: FoundBy) -> LibraryCopy {
        LibraryCopy { path: file.into(), file: file.into(), version: Some(version.into()), found }
    }

    fn with(copies: Vec<LibraryCopy>) -> ScriptedProvider {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.driver_libraries = copies;
        machine
    }

    #[test]
    fn one_copy_passes_with_its_file() {
        let finding = check(&Probe::new(&ScriptedProvider::healthy()));
        assert_eq!(finding.status, FindingStatus::Pass);
        assert_eq!(finding.observed, "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15");
    }

    #[test]
    fn an_older_copy_before_the_drivers_fails_even_if_it_starts() {
        let machine = with(vec![
            copy("/usr/lib/libcuda.so.470.82.01", "470.82.01", FoundBy::LoaderCache),
            copy("/usr/lib64/libcuda.so.550.54.15", "550.54.15", FoundBy::DefaultFolder),
        ]);
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.status, FindingStatus::Fail);
        assert_eq!(finding.observed, "/usr/lib/libcuda.so.470.82.01, /usr/lib64/libcuda.so.550.54.15");
        assert!(finding.cause.unwrap().ends_with("driver 550.54.15"));
        assert!(finding.fix.unwrap().contains("ldconfig"));
        // Where no copy is of the module's driver, none of them is in the way of a better one.
        let machine = with(vec![
            copy("/usr/lib/libcuda.so.470.82.01", "470.82.01", FoundBy::LoaderCache),
            copy("/usr/lib64/libcuda.so.470.82.01", "470.82.01", FoundBy::DefaultFolder),
        ]);
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
    }

    #[test]
    fn several_versions_matter_only_if_the_first_does_not_work() {
        let mut machine = with(vec![
            copy("/usr/lib64/libcuda.so.550.54.15", "550.54.15", FoundBy::LoaderCache),
            copy("/usr/lib/libcuda.so.470.82.01", "470.82.01", FoundBy::DefaultFolder),
        ]);
        machine.environment.kernel_module = None;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        machine.driver.as_mut().unwrap().failure = Some(DriverCode::SYSTEM_DRIVER_MISMATCH);
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.status, FindingStatus::Fail);
        assert!(finding.fix.unwrap().contains("/proc/driver/nvidia/version"));
    }

    #[test]
    fn compatibility_packages_named_files_and_files_not_searched_are_meant() {
        let machine = with(vec![
            copy("/usr/local/cuda/compat/libcuda.so.560.28.03", "560.28.03", FoundBy::LdLibraryPath),
            copy("/usr/lib64/libcuda.so.550.54.15", "550.54.15", FoundBy::LoaderCache),
        ]);
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        // The one that is named is loaded, wherever it is, whatever else there is.
        let mut machine = with(vec![copy("/usr/lib/libcuda.so.470.82.01", "470.82.01", FoundBy::LoaderCache)]);
        machine.environment.octopus_libcuda = Some("/mine/libcuda.so".into());
        assert_eq!(check(&Probe::new(&machine)).observed, "/mine/libcuda.so (named by OCTOPUS_LIBCUDA)");
        let mut machine = with(vec![copy("/run/opengl-driver/lib/libcuda.so.1", "550.54.15", FoundBy::Elsewhere)]);
        assert_eq!(check(&Probe::new(&machine)).observed, "the loader finds one in a folder that is not searched here");
        machine.driver = ScriptedProvider::empty().driver;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
