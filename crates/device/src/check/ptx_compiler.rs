//! Can the driver compile PTX at all? The kernels are shipped as PTX, which it compiles when they are loaded.

use crate::finding::Question;
use crate::{Finding, FoundBy, Probe};

pub(super) const QUESTION: Question = Question {
    id: "ptx-compiler",
    title: "The driver's PTX compiler",
    expected: "libnvidia-ptxjitcompiler is installed and CUDA_DISABLE_PTX_JIT is not 1",
};

pub(super) fn check(probe: &Probe) -> Finding {
    let environment = &probe.environment;
    if let Some(value) = environment.cuda_disable_ptx_jit.as_deref().filter(|value| value.trim() == "1") {
        return QUESTION.fail(
            format!("CUDA_DISABLE_PTX_JIT={value}"),
            "the variable forbids the driver to compile the kernels: it answers 223 (CUDA_ERROR_JIT_COMPILATION_DISABLED)",
            "`unset CUDA_DISABLE_PTX_JIT`",
        );
    }
    let searched = |found: FoundBy| found != FoundBy::Elsewhere;
    if let Some(compiler) = environment.compiler_libraries.iter().find(|copy| searched(copy.found)) {
        return QUESTION.pass(compiler.describe());
    }
    // Its absence tells something only where the driver itself is found by the same search.
    match environment.first_driver_library() {
        _ if environment.octopus_libcuda.is_some() && probe.driver.is_ok() => {
            QUESTION.pass("left to the library that OCTOPUS_LIBCUDA names")
        }
        Some(driver) => {
            let fix = if environment.container.is_some() {
                "start the container with `--gpus all` and NVIDIA_DRIVER_CAPABILITIES=compute,utility"
            } else {
                "install it (Debian: libnvidia-ptxjitcompiler1; others: with the driver), then `sudo ldconfig`"
            };
            QUESTION.fail(
                format!("{} without libnvidia-ptxjitcompiler.so.1", driver.describe()),
                "the driver is installed in part: it answers 221 (CUDA_ERROR_JIT_COMPILER_NOT_FOUND) when kernels are loaded",
                fix,
            )
        }
        None if probe.driver.is_ok() => QUESTION.pass("left to the driver, whose folder is not searched here"),
        None => QUESTION.skip("no libcuda found (see driver-library)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, ScriptedProvider};

    #[test]
    fn the_compiler_is_named() {
        let finding = check(&Probe::new(&ScriptedProvider::healthy()));
        assert_eq!(finding.status, FindingStatus::Pass);
        assert_eq!(finding.observed, "/usr/lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.550.54.15");
    }

    #[test]
    fn a_driver_without_its_compiler_fails() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.compiler_libraries.clear();
        let finding = check(&Probe::new(&machine));
        assert_eq!(finding.status, FindingStatus::Fail);
        assert!(finding.observed.ends_with("libcuda.so.550.54.15 without libnvidia-ptxjitcompiler.so.1"));
        assert!(finding.cause.unwrap().contains("221"));
        assert!(finding.fix.unwrap().contains("libnvidia-ptxjitcompiler1"));
        machine.environment.container = Some("docker".into());
        assert!(check(&Probe::new(&machine)).fix.unwrap().contains("NVIDIA_DRIVER_CAPABILITIES"));
    }

    #[test]
    fn the_variable_that_forbids_it_fails() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.cuda_disable_ptx_jit = Some("1".into());
        let finding = check(&Probe::new(&machine));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, "CUDA_DISABLE_PTX_JIT=1"));
        machine.environment.cuda_disable_ptx_jit = Some("0".into());
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
    }

    #[test]
    fn without_the_drivers_own_file_nothing_is_concluded() {
        let mut machine = ScriptedProvider::healthy();
        machine.environment.compiler_libraries.clear();
        machine.environment.octopus_libcuda = Some("/mine/libcuda.so".into());
        assert!(check(&Probe::new(&machine)).observed.contains("OCTOPUS_LIBCUDA"));
        machine.environment.octopus_libcuda = None;
        machine.environment.driver_libraries.clear();
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Pass);
        machine.driver = ScriptedProvider::empty().driver;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
