//! May this process open the device files?

use crate::finding::Question;
use crate::{Access, Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "device-files",
    title: "Device files",
    expected: "/dev/nvidia* (under WSL /dev/dxg) can be read and written",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let environment = &probe.environment;
    let files = &environment.device_files;
    let with = |wanted: fn(&Access) -> bool| -> Vec<&str> {
        files.iter().filter(|file| wanted(&file.access)).map(|file| file.path.as_str()).collect()
    };
    let denied = with(|access| *access == Access::Denied);
    if !denied.is_empty() {
        let (cause, fix) = if environment.container.is_some() {
            (
                "the container's device rules forbid it",
                "start the container with `--gpus all`, not with single --device flags",
            )
        } else {
            (
                "this user may not use the device",
                "join the group that owns the files (`ls -l /dev/nvidia*`; often `sudo usermod -aG video $USER`) and log in again",
            )
        };
        return QUESTION.fail(format!("permission denied: {}", denied.join(", ")), cause, fix);
    }
    let failed: Vec<String> = files
        .iter()
        .filter_map(|file| match &file.access {
            Access::Failed(words) => Some(format!("{}: {words}", file.path)),
            Access::Granted | Access::Denied => None,
        })
        .collect();
    if !failed.is_empty() {
        return QUESTION.fail(
            failed.join("; "),
            "the file is left over from a driver that is not loaded, or its device is lost",
            "`sudo modprobe nvidia`, read `sudo dmesg | grep -i nvrm`, reboot",
        );
    }
    // CUDA needs the memory module's file too; without it it answers 999, NVML does not miss it.
    let has = |path: &str| files.iter().any(|file| file.path == path);
    let missing: Vec<&str> =
        ["/dev/nvidiactl", "/dev/nvidia-uvm"].into_iter().filter(|path| !environment.wsl && !has(path)).collect();
    if environment.has_device_file() && !missing.is_empty() && !probe.driver_works() {
        let (cause, fix) = if environment.container.is_some() {
            ("the container was started with a part of the device's files", "start the container with `--gpus all`")
        } else {
            ("the driver makes this file when it is first needed, and could not", "`sudo nvidia-modprobe -c 0 -u`")
        };
        return QUESTION.fail(format!("no {}", missing.join(", no ")), cause, fix);
    }
    if environment.has_device_file() {
        return QUESTION.pass(with(|access| *access == Access::Granted).join(", "));
    }
    if probe.driver_works() {
        return QUESTION.pass("none seen here, yet the driver reaches its devices");
    }
    let (cause, fix) = if environment.container.is_some() {
        ("the container was started without the device", "start the container with `--gpus all`")
    } else {
        ("the driver has not made them", "`sudo nvidia-modprobe -c 0 -u`, or run `sudo nvidia-smi` once")
    };
    QUESTION.fail("no file of a device in /dev", cause, fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceFile, FindingStatus, ScriptedProvider};

    #[test]
    fn files_that_open_are_listed() {
        let finding = check(&Probe::new(&ScriptedProvider::healthy()));
        assert_eq!(finding.status, FindingStatus::Pass);
        assert_eq!(finding.observed, "/dev/nvidia-uvm, /dev/nvidia0, /dev/nvidiactl");
    }

    #[test]
    fn denied_files_are_named_with_the_fix_for_the_place() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.device_files[1].access = Access::Denied;
        let finding = check(&Probe::new(&machine));
        assert_eq!(
            (finding.status, finding.observed.as_str()),
            (FindingStatus::Fail, "permission denied: /dev/nvidia0")
        );
        assert!(finding.fix.unwrap().contains("usermod"));
        machine.environment.container = Some("docker".into());
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("--gpus all"));
    }

    #[test]
    fn a_file_without_its_driver_fails() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.device_files[1].access = Access::Failed("No such device".into());
        let finding = check(&Probe::new(&machine));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "/dev/nvidia0: No such device"));
        assert!(finding.fix.unwrap().contains("modprobe"));
    }

    #[test]
    fn missing_files_matter_only_if_the_driver_misses_them() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.device_files.retain(|file| !file.path.ends_with('0'));
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        machine.driver.as_mut().unwrap().devices = 0;
        let finding = check(&Probe::new(&machine));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "no file of a device in /dev"));
        assert!(finding.fix.unwrap().contains("nvidia-modprobe"));
        machine.environment.container = Some("podman".into());
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("--gpus all"));
    }

    #[test]
    fn a_part_of_the_files_is_not_enough_unless_the_driver_starts() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.device_files.retain(|file| file.path == "/dev/nvidia0");
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        machine.driver.as_mut().unwrap().failure = Some(crate::DriverCode::UNKNOWN);
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.observed, "no /dev/nvidiactl, no /dev/nvidia-uvm");
        assert_eq!(finding.fix.as_deref(), Some("`sudo nvidia-modprobe -c 0 -u`"));
        machine.environment.container = Some("docker".into());
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("--gpus all"));
    }

    #[test]
    fn what_a_driver_that_does_not_start_lacks_is_named() {
        let all = ["/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"];
        for (files, wsl, status, observed) in [
            (&all[..], false, FindingStatus::Pass, "/dev/nvidia-uvm, /dev/nvidia0, /dev/nvidiactl"),
            (&all[1..], false, FindingStatus::Fail, "no /dev/nvidia-uvm"),
            (&all[..2], false, FindingStatus::Fail, "no /dev/nvidiactl"),
            (&["/dev/dxg"][..], true, FindingStatus::Pass, "/dev/dxg"),
            (&["/dev/dxg"][..], false, FindingStatus::Fail, "no /dev/nvidiactl, no /dev/nvidia-uvm"),
            (&all[2..], false, FindingStatus::Fail, "no file of a device in /dev"),
            (&all[..0], false, FindingStatus::Fail, "no file of a device in /dev"),
        ] {
            let mut machine = ScriptedProvider::healthy();
            machine.driver.as_mut().unwrap().failure = Some(crate::DriverCode::UNKNOWN);
            machine.environment.wsl = wsl;
            let file = |path: &&str| DeviceFile { path: (*path).into(), access: Access::Granted };
            machine.environment.device_files = files.iter().map(file).collect();
            let finding = check(&Probe::new(&machine));
            assert_eq!((finding.status, finding.observed.as_str()), (status, observed));
        }
    }

    #[test]
    fn wsl_has_one_file() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.device_files = vec![DeviceFile { path: "/dev/dxg".into(), access: Access::Granted }];
        assert_eq!(check(&Probe::new(&machine)).observed, "/dev/dxg");
    }
}
