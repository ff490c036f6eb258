//! Does NVIDIA's management library (NVML) load and answer?

use crate::finding::Question;
use crate::{Finding, NvmlFailure, Probe};

pub(super) const QUESTION: Question =
    Question { id: "nvml-library", title: "NVML", expected: "libnvidia-ml loads and starts" };

pub(super) fn check(probe: &Probe) -> Finding {
    let failure = match &probe.nvml {
        Ok(nvml) => {
            let version = nvml.driver_version.as_deref().unwrap_or("of unknown version");
            return QUESTION.pass(format!("driver {version}"));
        }
        Err(failure) => failure,
    };
    let (cause, fix) = match failure {
        NvmlFailure::LibraryMissing { .. } if probe.environment.octopus_libnvml.is_some() => (
            "OCTOPUS_LIBNVML names this file",
            "set OCTOPUS_LIBNVML to a file that is NVIDIA's libnvidia-ml, or unset it",
        ),
        NvmlFailure::LibraryMissing { .. } if !probe.lacks_nvml() => (
            "the file is there and the loader refuses it: damaged, of another architecture, or in want of a library",
            "reinstall the driver's packages, then `sudo ldconfig`; `ldd` on the file names what it wants",
        ),
        NvmlFailure::LibraryMissing { .. } if probe.environment.container.is_some() => (
            "the container does not have the driver's management library",
            "start the container with `--gpus all` and NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        ),
        NvmlFailure::LibraryMissing { .. } => (
            "the driver's management library is not installed, or the loader does not find it",
            "install it (Debian: libnvidia-ml1; others: with the driver), then `sudo ldconfig`",
        ),
        NvmlFailure::DriverNotLoaded => (
            "the library is installed but the kernel module is not loaded",
            "`sudo modprobe nvidia`; if it fails, reinstall the driver for the running kernel",
        ),
        NvmlFailure::VersionMismatch => {
            ("the driver was updated while its old kernel module stayed loaded", "reboot (see version-match)")
        }
        NvmlFailure::NoPermission => (
            "this user or container may not open the device files",
            "see device-files: grant access to /dev/nvidiactl and /dev/nvidia0",
        ),
        NvmlFailure::Other { .. } => {
            ("the management library reports a fault of its own", "run `nvidia-smi` and `sudo dmesg | grep -i nvrm`")
        }
    };
    QUESTION.fail(failure.to_string(), cause, fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    fn with(failure: NvmlFailure) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = Err(failure);
        check(&Probe::new(&machine))
    }

    #[test]
    fn a_working_library_tells_the_driver() {
        let finding = check(&Probe::new(&ScriptedProvider::healthy()));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Pass, "driver 550.54.15"));
    }

    #[test]
    fn each_failure_has_its_words_and_its_fix() {
        let missing = NvmlFailure::LibraryMissing { library: "libnvidia-ml.so.1".into(), detail: "not found".into() };
        let other = NvmlFailure::Other { detail: "device fell off the bus".into() };
        for (failure, observed, fix) in [
            (missing, "libnvidia-ml.so.1 cannot be loaded: not found", "ldconfig"),
            (NvmlFailure::DriverNotLoaded, "the NVIDIA kernel module is not loaded", "modprobe"),
            (
                NvmlFailure::VersionMismatch,
                "the kernel module and the library are of different driver versions",
                "reboot",
            ),
            (NvmlFailure::NoPermission, "no permission to talk to the driver", "device-files"),
            (other, "device fell off the bus", "nvidia-smi"),
        ] {
            let finding = with(failure);
            assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, observed));
            assert!(finding.fix.as_deref().unwrap().contains(fix), "{finding:?}");
        }
    }

    #[test]
    fn a_file_that_is_named_or_refused_has_its_own_fix() {
        let library = "libnvidia-ml.so.1".to_owned();
        let detail = "libnvidia-ml.so.1: invalid ELF header".to_owned();
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = Err(NvmlFailure::LibraryMissing { library, detail });
        assert!(check(&Probe::new(&machine)).cause.unwrap().contains("refuses"));
        machine.environment.octopus_libnvml = Some("/mine/libnvml.so".into());
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("unset it"));
    }

    #[test]
    fn a_container_is_told_its_own_fix() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml = ScriptedProvider::empty().nvml;
        machine.environment.container = Some("docker".into());
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("NVIDIA_DRIVER_CAPABILITIES"));
    }
}
