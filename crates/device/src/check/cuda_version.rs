//! Is the driver new enough for the kernels, by the CUDA version that it supports?

use crate::finding::Question;
use crate::{Finding, Probe};

pub(super) const QUESTION: Question =
    Question { id: "cuda-version", title: "CUDA version", expected: "the driver supports CUDA 12.4 or newer" };

pub(super) fn check(probe: &Probe) -> Finding {
    let Some(version) = probe.cuda_version() else {
        return QUESTION.skip("no library tells the driver's CUDA version");
    };
    let driver = probe.nvml.as_ref().ok().and_then(|nvml| nvml.driver_version.as_deref());
    let observed =
        driver.map_or_else(|| format!("CUDA {version}"), |driver| format!("CUDA {version} (driver {driver})"));
    let expected = format!("the driver supports CUDA {} or newer", probe.needs.cuda);
    if version >= probe.needs.cuda {
        return QUESTION.pass(observed).expecting(expected);
    }
    let fix = if probe.environment.wsl {
        "update the NVIDIA driver in Windows to 551 or newer"
    } else {
        "update the NVIDIA driver to 550.54 or newer and reboot; a newer toolkit alone does not help"
    };
    QUESTION.fail(observed, "the driver is older than the kernels' PTX, which it will refuse", fix).expecting(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, MINIMUM_CUDA, ScriptedProvider, Version};

    fn with(major: u32, minor: u32) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        machine.driver.as_mut().unwrap().cuda_version = Some(Version { major, minor });
        check(&Probe::new(&machine))
    }

    #[test]
    fn the_limit_itself_passes() {
        assert!(QUESTION.expected.contains(&MINIMUM_CUDA.to_string()));
        assert_eq!(with(12, 4).status, FindingStatus::Pass);
        assert_eq!(with(13, 0).observed, "CUDA 13.0 (driver 550.54.15)");
        assert_eq!(with(12, 10).status, FindingStatus::Pass);
    }

    #[test]
    fn older_drivers_fail_with_the_driver_to_get() {
        for (major, minor) in [(12, 3), (12, 2), (11, 4)] {
            let finding = with(major, minor);
            assert_eq!(finding.status, FindingStatus::Fail);
            assert!(finding.observed.starts_with(&format!("CUDA {major}.{minor}")));
            assert!(finding.fix.unwrap().contains("550"));
        }
    }

    #[test]
    fn nvml_speaks_for_a_driver_that_does_not() {
        let mut machine = ScriptedProvider::healthy();
        machine.driver = ScriptedProvider::empty().driver;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        machine.nvml.as_mut().unwrap().cuda_version = None;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }

    #[test]
    fn wsl_gets_its_driver_from_windows() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.wsl = true;
        machine.driver.as_mut().unwrap().cuda_version = Some(Version { major: 12, minor: 2 });
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("Windows"));
    }
}
