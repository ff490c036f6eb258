//! Checks whether a container was started with the NVIDIA runtime, and with enough of the driver.

use crate::finding::Question;
use crate::{Finding, Probe};

pub(super) const QUESTION: Question = Question {
    id: "container-runtime",
    title: "Container runtime",
    expected: "no container, or one that the NVIDIA runtime gives the device and the driver's libraries",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let environment = &probe.environment;
    let Some(name) = environment.container.as_deref() else { return QUESTION.pass("not in a container") };
    if probe.driver_works() {
        return QUESTION.pass(format!("{name}; the driver reaches its devices"));
    }
    if let Some(value @ ("void" | "none" | "")) = environment.nvidia_visible_devices.as_deref() {
        return QUESTION.fail(
            format!("{name}, NVIDIA_VISIBLE_DEVICES={value:?}"),
            "the variable tells the NVIDIA runtime to give the container no device",
            "start the container with `--gpus all`, or with NVIDIA_VISIBLE_DEVICES=all",
        );
    }
    if let Some(value) = environment.nvidia_driver_capabilities.as_deref() {
        let has = |wanted: &str| value.split(',').map(str::trim).any(|word| word == wanted || word == "all");
        let missing: Vec<&str> = ["compute", "utility"].into_iter().filter(|wanted| !has(wanted)).collect();
        if !missing.is_empty() {
            return QUESTION.fail(
                format!("{name}, NVIDIA_DRIVER_CAPABILITIES={value:?}"),
                format!("the NVIDIA runtime leaves out the driver's parts for {}", missing.join(" and ")),
                "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility",
            );
        }
    }
    let no_libraries = probe.lacks_nvml() || probe.lacks_driver();
    if no_libraries || !environment.has_device_file() {
        let lacks = match (environment.has_device_file(), no_libraries) {
            (false, true) => "neither the device's files nor the driver's libraries",
            (false, false) => "no file of the device",
            (true, _) => "the device's files, but not the driver's libraries",
        };
        return QUESTION.fail(
            format!("{name}, {lacks}"),
            "the container was started without the NVIDIA runtime",
            match name {
                "kubernetes" => "ask for the resource `nvidia.com/gpu: 1` (NVIDIA device plugin on the node)",
                "apptainer" | "singularity" => "start it with `apptainer run --nv ...`",
                "podman" => "start it with `--device nvidia.com/gpu=all` (NVIDIA Container Toolkit with CDI)",
                "lxc" => {
                    "give the container the host's /dev/nvidia* and the same driver version without its kernel module"
                }
                _ => "install the NVIDIA Container Toolkit on the host and start the container with `--gpus all`",
            },
        );
    }
    QUESTION.pass(format!("{name}, with the device's files and the driver's libraries"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DriverCode, FindingStatus, ScriptedProvider};

    fn inside(name: &str) -> ScriptedProvider {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.container = Some(name.into());
        machine.driver.as_mut().unwrap().failure = Some(DriverCode::NO_DEVICE);
        machine
    }

    #[test]
    fn outside_and_well_started_containers_pass() {
        assert_eq!(check(&Probe::new(&ScriptedProvider::healthy())).observed, "not in a container");
        let mut machine = inside("docker");
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.observed, "docker, with the device's files and the driver's libraries");
        assert_eq!(finding.status, FindingStatus::Pass);
        machine.driver.as_mut().unwrap().failure = None;
        assert_eq!(check(&Probe::new(&machine)).observed, "docker; the driver reaches its devices");
    }

    #[test]
    fn variables_that_leave_things_out_fail() {
        for value in ["void", "none", ""] {
            let mut machine = inside("docker");
            machine.environment.nvidia_visible_devices = Some(value.into());
            let finding = check(&Probe::new(&machine));
            assert_eq!(finding.status, FindingStatus::Fail, "{value:?}");
            assert!(finding.fix.unwrap().contains("NVIDIA_VISIBLE_DEVICES=all"));
        }
        for (value, missing) in [("utility", "compute"), ("compute", "utility"), ("graphics", "compute and utility")] {
            let mut machine = inside("docker");
            machine.environment.nvidia_driver_capabilities = Some(value.into());
            let finding = check(&Probe::new(&machine));
            assert_eq!(finding.status, FindingStatus::Fail, "{value:?}");
            assert!(finding.cause.unwrap().ends_with(&format!("parts for {missing}")));
        }
        for value in ["all", "compute, utility"] {
            let mut machine = inside("docker");
            machine.environment.nvidia_driver_capabilities = Some(value.into());
            assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass, "{value:?}");
        }
    }

    #[test]
    fn a_bare_container_is_told_the_option_of_its_runtime() {
        for (name, fix) in [
            ("docker", "--gpus all"),
            ("podman", "nvidia.com/gpu=all"),
            ("kubernetes", "nvidia.com/gpu: 1"),
            ("apptainer", "--nv"),
            ("lxc", "same driver version"),
        ] {
            let mut machine = inside(name);
            machine.environment.device_files.clear();
            let finding = check(&Probe::new(&machine));
            assert_eq!(finding.observed, format!("{name}, no file of the device"));
            assert!(finding.fix.unwrap().contains(fix));
            machine.driver = ScriptedProvider::empty().driver;
            let finding = check(&Probe::new(&machine));
            assert_eq!(finding.observed, format!("{name}, neither the device's files nor the driver's libraries"));
        }
        let mut machine = inside("docker");
        machine.nvml = ScriptedProvider::empty().nvml;
        assert_eq!(check(&Probe::new(&machine)).observed, "docker, the device's files, but not the driver's libraries");
    }
}
