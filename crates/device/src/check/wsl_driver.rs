//! Under Windows (WSL): is the driver library the one that Windows provides?

use crate::finding::Question;
use crate::{Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "wsl-driver",
    title: "Driver under WSL",
    expected: "no WSL, or WSL 2 with the driver library that Windows provides",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let environment = &probe.environment;
    if !environment.wsl {
        return QUESTION.pass("not under WSL");
    }
    let gateway = environment.device_files.iter().any(|file| file.path == "/dev/dxg");
    if !gateway && !probe.driver_works() {
        return QUESTION.fail(
            "no /dev/dxg",
            "this is WSL 1, or a kernel without the gateway to Windows' driver",
            "in Windows: `wsl --update`, `wsl --set-version NAME 2`, `wsl --shutdown`",
        );
    }
    match environment.first_driver_library() {
        Some(first) if !first.is_of_wsl() && !probe.driver_works() => QUESTION.fail(
            first.describe(),
            "a Linux driver is installed inside WSL and takes the place of the library that Windows provides",
            "uninstall the Linux driver (`sudo apt purge '^nvidia-.*' '^libnvidia-.*' libcuda1`), then `wsl --shutdown`",
        ),
        Some(first) => QUESTION.pass(format!("WSL 2, {}", first.describe())),
        None => QUESTION.pass("WSL 2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, DeviceFile, DriverCode, FindingStatus, FoundBy, LibraryCopy, ScriptedProvider};

    fn under_windows(file: &str) -> ScriptedProvider {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.wsl = true;
        machine.environment.device_files = vec![DeviceFile { path: "/dev/dxg".into(), access: Access::Granted }];
        machine.environment.driver_libraries =
            vec![LibraryCopy { path: file.into(), file: file.into(), version: None, found: FoundBy::LoaderCache }];
        machine
    }

    #[test]
    fn elsewhere_and_with_windows_own_library_it_passes() {
        assert_eq!(check(&Probe::new(&ScriptedProvider::healthy())).observed, "not under WSL");
        let finding = check(&Probe::new(&under_windows("/usr/lib/wsl/lib/libcuda.so.1.1")));
        assert_eq!(
            (finding.status, finding.observed.as_str()),
            (FindingStatus::Pass, "WSL 2, /usr/lib/wsl/lib/libcuda.so.1.1")
        );
    }

    #[test]
    fn a_linux_driver_inside_wsl_fails_unless_it_works() {
        let mut machine = under_windows("/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15");
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        machine.driver.as_mut().unwrap().failure = Some(DriverCode::NO_DEVICE);
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.status, FindingStatus::Fail);
        assert!(finding.fix.unwrap().contains("purge"));
    }

    #[test]
    fn wsl_1_has_no_gateway() {
        let mut machine = under_windows("/usr/lib/wsl/lib/libcuda.so.1.1");
        machine.environment.device_files.clear();
        machine.driver.as_mut().unwrap().devices = 0;
        let finding = check(&Probe::new(&machine));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "no /dev/dxg"));
        assert!(finding.fix.unwrap().contains("--set-version"));
    }
}
