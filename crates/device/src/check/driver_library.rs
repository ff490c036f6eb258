//! Can the CUDA driver library be loaded?

use crate::finding::Question;
use crate::{DriverFailure, Finding, FoundBy, Probe};

pub(super) const QUESTION: Question =
    Question { id: "driver-library", title: "CUDA driver library", expected: "libcuda loads and is a CUDA driver" };

pub(super) fn check(probe: &Probe) -> Finding {
    let failure = match &probe.driver {
        Ok(driver) => {
            return QUESTION.pass(driver.cuda_version.map_or_else(
                || "loaded; it does not tell its CUDA version".into(),
                |version| format!("loaded, CUDA {version}"),
            ));
        }
        Err(failure) => failure,
    };
    if let DriverFailure::LibraryMissing { detail, .. } = failure
        && detail.contains("built without CUDA")
    {
        return QUESTION.fail(
            failure.to_string(),
            "this program was built for the CPU alone",
            "build it with the feature `cuda`, which is on by default",
        );
    }
    if probe.environment.octopus_libcuda.is_some() {
        return QUESTION.fail(
            failure.to_string(),
            "OCTOPUS_LIBCUDA names this file",
            "set OCTOPUS_LIBCUDA to a file that is NVIDIA's libcuda, or unset it",
        );
    }
    if let (DriverFailure::LibraryMissing { .. }, false) = (failure, probe.lacks_driver()) {
        return QUESTION.fail(
            failure.to_string(),
            "the file is there and the loader refuses it: damaged, of another architecture, or in want of a library",
            "reinstall the driver's packages, then `sudo ldconfig`; `ldd` on the file names what it wants",
        );
    }
    let elsewhere = probe.environment.driver_libraries.iter().find(|copy| copy.found == FoundBy::Elsewhere);
    if let (DriverFailure::LibraryMissing { .. }, Some(copy)) = (failure, elsewhere) {
        let folder = copy.path.rsplit_once('/').map_or(copy.path.as_str(), |(folder, _)| folder);
        return QUESTION.fail(
            failure.to_string(),
            format!("it is installed as {}, in a folder that the loader does not search", copy.path),
            format!("`export LD_LIBRARY_PATH={folder}`, or add the folder to /etc/ld.so.conf.d and `sudo ldconfig`"),
        );
    }
    let (cause, fix) = match failure {
        DriverFailure::LibraryMissing { .. } if probe.environment.container.is_some() => (
            "the container does not have the driver's compute library",
            "start the container with `--gpus all` and NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        ),
        DriverFailure::LibraryMissing { .. } if probe.environment.wsl => (
            "the loader does not find the library that Windows provides",
            "add /usr/lib/wsl/lib to LD_LIBRARY_PATH; do not install a Linux driver inside WSL",
        ),
        DriverFailure::LibraryMissing { .. } => (
            "the driver's compute part is not installed, or the loader does not find it",
            "install it (Debian: libcuda1; Ubuntu: libnvidia-compute; Fedora: xorg-x11-drv-nvidia-cuda), then `sudo ldconfig`",
        ),
        DriverFailure::SymbolMissing { .. } => (
            "a file of that name is found first which is not NVIDIA's driver",
            "see which file it is with `ldconfig -p | grep libcuda` and LD_LIBRARY_PATH, and remove it",
        ),
    };
    QUESTION.fail(failure.to_string(), cause, fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    #[test]
    fn a_loaded_library_tells_its_version() {
        let mut machine = ScriptedProvider::healthy();
        assert_eq!(check(&Probe::new(&machine)).observed, "loaded, CUDA 12.4");
        machine.driver.as_mut().unwrap().cuda_version = None;
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.status, FindingStatus::Pass);
        assert_eq!(finding.observed, "loaded; it does not tell its CUDA version");
    }

    #[test]
    fn a_missing_library_has_a_fix_for_each_place() {
        let mut machine = ScriptedProvider::healthy();
        machine.driver = ScriptedProvider::empty().driver;
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.status, FindingStatus::Fail);
        assert!(finding.observed.starts_with("libcuda.so.1 cannot be loaded"));
        assert!(finding.fix.unwrap().contains("libcuda1"));
        machine.environment.wsl = true;
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("/usr/lib/wsl/lib"));
        machine.environment.container = Some("docker".into());
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("--gpus all"));
    }

    #[test]
    fn a_file_that_is_named_or_refused_has_its_own_fix() {
        let mut machine = ScriptedProvider::healthy();
        let library = "libcuda.so.1".to_owned();
        let detail = "this program was built without CUDA (feature `cuda`)".to_owned();
        machine.driver = Err(DriverFailure::LibraryMissing { library: library.clone(), detail });
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("feature `cuda`"));
        let detail = "libcuda.so.1: file too short".to_owned();
        machine.driver = Err(DriverFailure::LibraryMissing { library, detail });
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.observed, "libcuda.so.1 cannot be loaded: libcuda.so.1: file too short");
        assert!(finding.cause.unwrap().contains("refuses"));
        machine.environment.octopus_libcuda = Some("/mine/libcuda.so".into());
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.cause.as_deref(), Some("OCTOPUS_LIBCUDA names this file"));
        assert!(finding.fix.unwrap().ends_with("or unset it"));
    }

    #[test]
    fn a_library_that_the_loader_does_not_find_is_pointed_at() {
        let mut machine = ScriptedProvider::healthy();
        machine.driver = ScriptedProvider::empty().driver;
        let copy = &mut machine.environment.driver_libraries[0];
        (copy.path, copy.found) = ("/run/opengl-driver/lib/libcuda.so.1".into(), FoundBy::Elsewhere);
        let finding = check(&Probe::new(&machine));
        assert!(finding.cause.unwrap().starts_with("it is installed as /run/opengl-driver/lib/libcuda.so.1"));
        assert!(finding.fix.unwrap().starts_with("`export LD_LIBRARY_PATH=/run/opengl-driver/lib`"));
    }

    #[test]
    fn a_file_that_is_no_driver_is_named() {
        let mut machine = ScriptedProvider::healthy();
        machine.driver = Err(DriverFailure::SymbolMissing { library: "libcuda.so.1".into(), symbol: "cuInit".into() });
        let finding = check(&Probe::new(&machine));
        assert_eq!(
            (finding.status, finding.observed.as_str()),
            (FindingStatus::Fail, "libcuda.so.1 has no function cuInit")
        );
        assert!(finding.fix.unwrap().contains("ldconfig -p"));
    }
}
