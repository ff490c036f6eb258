//! Can the CUDA driver library be loaded?

use crate::finding::Question;
use crate::{DriverFailure, Finding, Probe};

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
    use crate::{ScriptedProvider, Status};

    #[test]
    fn a_loaded_library_tells_its_version() {
        let mut machine = ScriptedProvider::healthy();
        assert_eq!(check(&Probe::new(&machine)).observed, "loaded, CUDA 12.4");
        machine.driver.as_mut().unwrap().cuda_version = None;
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.status, Status::Pass);
        assert_eq!(finding.observed, "loaded; it does not tell its CUDA version");
    }

    #[test]
    fn a_missing_library_has_a_fix_for_each_place() {
        let mut machine = ScriptedProvider::healthy();
        machine.driver = ScriptedProvider::empty().driver;
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.observed.starts_with("libcuda.so.1 cannot be loaded"));
        assert!(finding.fix.unwrap().contains("libcuda1"));
        machine.environment.wsl = true;
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("/usr/lib/wsl/lib"));
        machine.environment.container = Some("docker".into());
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("--gpus all"));
    }

    #[test]
    fn a_file_that_is_no_driver_is_named() {
        let mut machine = ScriptedProvider::healthy();
        machine.driver = Err(DriverFailure::SymbolMissing { library: "libcuda.so.1".into(), symbol: "cuInit".into() });
        let finding = check(&Probe::new(&machine));
        assert_eq!((finding.status, finding.observed.as_str()), (Status::Fail, "libcuda.so.1 has no function cuInit"));
        assert!(finding.fix.unwrap().contains("ldconfig -p"));
    }
}
