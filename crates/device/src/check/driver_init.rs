//! Does the CUDA driver start?

use crate::finding::Question;
use crate::{DriverCode, Finding, Probe};

pub(super) const QUESTION: Question =
    Question { id: "driver-init", title: "CUDA driver start", expected: "cuInit succeeds and counts a device" };

pub(super) fn check(probe: &Probe) -> Finding {
    let Ok(driver) = &probe.driver else { return QUESTION.skip("no driver library (see driver-library)") };
    let code = match driver.failure {
        Some(code) => code,
        // Success with nothing to use is what some drivers give for a hidden device.
        None if driver.devices == 0 => DriverCode::NO_DEVICE,
        None => {
            let plural = if driver.devices == 1 { "" } else { "s" };
            return QUESTION.pass(format!("{} device{plural}", driver.devices));
        }
    };
    let (cause, fix) = remedy(code, probe);
    QUESTION.fail(format!("the driver answers {code}"), cause, fix)
}

fn remedy(code: DriverCode, probe: &Probe) -> (&'static str, &'static str) {
    match code {
        DriverCode::STUB_LIBRARY => (
            "a toolkit's stub for linking was loaded instead of the driver",
            "remove the folder `stubs` from LD_LIBRARY_PATH",
        ),
        DriverCode::NO_DEVICE => no_device(probe),
        DriverCode::SYSTEM_NOT_READY => (
            "this machine's devices are joined by NVSwitch and the fabric manager is not running",
            "`sudo systemctl start nvidia-fabricmanager` (its version must be the driver's)",
        ),
        DriverCode::SYSTEM_DRIVER_MISMATCH => {
            ("kernel module and libcuda are of different driver versions", "reboot (see version-match)")
        }
        DriverCode::COMPAT_NOT_SUPPORTED => (
            "a forward-compatibility libcuda is loaded, which works on data-centre devices only",
            "remove the `compat` folder from LD_LIBRARY_PATH and update the driver itself",
        ),
        DriverCode::UNKNOWN => (
            "the driver's memory module is often in a bad state after suspend, or /dev/nvidia-uvm is missing",
            "`sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm`, else reboot",
        ),
        _ => (
            "the driver refuses to start",
            "run `nvidia-smi` and `sudo dmesg | grep -i nvrm`; reboot; reinstall the driver if it stays",
        ),
    }
}

fn no_device(probe: &Probe) -> (&'static str, &'static str) {
    let environment = &probe.environment;
    if environment.cuda_visible_devices.is_some() {
        return ("CUDA_VISIBLE_DEVICES hides every device", "see visible-devices: unset the variable or correct it");
    }
    if probe.devices().iter().any(|device| device.mig == Some(true)) {
        return (
            "the device is in MIG mode and has no compute instance",
            "make an instance (`sudo nvidia-smi mig -cgi 0 -C`) or leave MIG mode (`sudo nvidia-smi -mig 0`)",
        );
    }
    if environment.kernel_module.is_none() && !environment.wsl {
        return ("the kernel module is not loaded", "`sudo modprobe nvidia`; if it fails, reinstall the driver");
    }
    ("the driver finds no device that it supports", "see device-present and device-files")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    fn with(code: u32) -> ScriptedProvider {
        let mut machine = ScriptedProvider::healthy();
        let driver = machine.driver.as_mut().unwrap();
        (driver.devices, driver.failure) = (0, Some(DriverCode(code)));
        machine
    }

    #[test]
    fn a_started_driver_counts_its_devices() {
        let finding = check(&Probe::new(&ScriptedProvider::healthy()));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Pass, "1 device"));
    }

    #[test]
    fn each_code_is_shown_as_it_came_with_its_own_fix() {
        for (code, observed, fix) in [
            (34, "the driver answers 34 (CUDA_ERROR_STUB_LIBRARY)", "stubs"),
            (100, "the driver answers 100 (CUDA_ERROR_NO_DEVICE)", "device-present"),
            (802, "the driver answers 802 (CUDA_ERROR_SYSTEM_NOT_READY)", "fabricmanager"),
            (803, "the driver answers 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)", "reboot"),
            (804, "the driver answers 804 (CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE)", "compat"),
            (999, "the driver answers 999 (CUDA_ERROR_UNKNOWN)", "nvidia_uvm"),
            (3, "the driver answers 3 (CUDA_ERROR_NOT_INITIALIZED)", "nvidia-smi"),
            (12345, "the driver answers 12345 (not a code this program knows)", "nvidia-smi"),
        ] {
            let finding = check(&Probe::new(&with(code)));
            assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, observed));
            assert!(finding.fix.as_deref().unwrap().contains(fix), "{finding:?}");
        }
    }

    #[test]
    fn no_device_has_several_causes() {
        let mut machine = with(100);
        machine.environment.kernel_module = None;
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("modprobe"));
        machine.nvml.as_mut().unwrap().devices[0].mig = Some(true);
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("mig"));
        machine.environment.cuda_visible_devices = Some("7".into());
        assert!(check(&Probe::new(&machine)).cause.unwrap().contains("CUDA_VISIBLE_DEVICES"));
    }

    #[test]
    fn a_start_without_a_device_is_no_success() {
        let mut machine = ScriptedProvider::healthy();
        machine.driver.as_mut().unwrap().devices = 0;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Fail);
    }

    #[test]
    fn without_the_library_there_is_nothing_to_start() {
        let mut machine = ScriptedProvider::healthy();
        machine.driver = ScriptedProvider::empty().driver;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
