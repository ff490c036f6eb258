//! Makes a finding of a driver's error: what was seen, why, and what to do (advice).

use octopus_cuda::{CudaError, DriverCode};
use octopus_device::{Finding, Question};

/// Returns the finding of a check that ended with an error.
pub(crate) fn failed(question: Question, error: &CudaError) -> Finding {
    let (cause, fix) = remedy(error);
    question.fail(observed(error), cause, fix)
}

/// Returns the error without its advice, which is the finding's fix.
fn observed(error: &CudaError) -> String {
    match error {
        CudaError::Driver { operation, code } => format!("{operation} failed with {code}"),
        // The error's own words up to its advice.
        CudaError::OutOfMemory { .. } | CudaError::OutOfPinnedMemory { .. } => {
            error.to_string().split("; ").next().unwrap_or_default().to_owned()
        }
        CudaError::Ptx { code, log } => match log.trim().lines().next() {
            Some(line) => format!("the driver refused the kernels with {code}: {line}"),
            None => format!("the driver refused the kernels with {code}"),
        },
        other => other.to_string(),
    }
}

const REPORT: &str = "report it with `octopus verify --report`";

fn remedy(error: &CudaError) -> (&'static str, &'static str) {
    match error {
        CudaError::OutOfMemory { requested, free, .. } if requested <= free => (
            "what is free is not given: another process took it meanwhile, or a limit is set (MPS, vGPU)",
            "see who uses the device with `nvidia-smi`",
        ),
        CudaError::OutOfMemory { .. } => (
            "other processes hold the device's memory",
            "see who with `nvidia-smi`, end it or wait, or choose another device",
        ),
        CudaError::OutOfPinnedMemory { .. } => (
            "the host's memory is used up, or the system lets this process lock no more of it",
            "see `free -h` and `ulimit -l`; in a container, its memory limit",
        ),
        CudaError::Ptx { log, .. } if log.contains("SM version") || log.contains(".target") => (
            "the kernels are made for newer devices",
            "use a device of compute capability 8.0 or newer (see compute-capability)",
        ),
        CudaError::KernelMissing { .. } | CudaError::KernelSignature { .. } | CudaError::LaunchShape { .. } => {
            ("this program and its kernels are of different versions", "build or install the program again")
        }
        CudaError::DeviceMissing { .. } => (
            "CUDA_VISIBLE_DEVICES hides the device, or the driver leaves it out",
            "see visible-devices, and `octopus device list`",
        ),
        CudaError::LibraryMissing { .. } | CudaError::SymbolMissing { .. } | CudaError::NotBuilt => {
            ("there is no CUDA driver to work with", "see driver-library")
        }
        other => other.code().map_or(("this program made a mistake", REPORT), of_code),
    }
}

fn of_code(code: DriverCode) -> (&'static str, &'static str) {
    match code.0 {
        2 => (
            "the device has no memory left: a context alone takes 300 to 500 MiB",
            "end what else uses the device (`nvidia-smi` lists it)",
        ),
        46 => (
            "the device is in exclusive compute mode and another process has it, or it takes none at all",
            "end that process, or `sudo nvidia-smi -c 0` (see compute-mode)",
        ),
        101 => ("compute mode prohibited: the device takes no process", "`sudo nvidia-smi -c 0`"),
        200 | 209 => (
            "the kernels do not run on a device of this compute capability",
            "use a device of compute capability 8.0 or newer",
        ),
        214 | 220 | 226 => (
            "the device's memory or links made errors that could not be corrected",
            "`sudo nvidia-smi -r` or reboot; if it comes again, replace the device (see memory-errors)",
        ),
        218 | 300 => {
            ("the kernels' text is damaged, or the driver's compiler is", "build or install the program again")
        }
        221 => (
            "the driver's compiler libnvidia-ptxjitcompiler is not installed",
            "install the whole driver; in containers, NVIDIA_DRIVER_CAPABILITIES must include `compute` (see ptx-compiler)",
        ),
        222 => ("the driver is older than the kernels", "install driver 550.54 or newer, which has CUDA 12.4"),
        223 => ("compiling for the device is switched off", "unset CUDA_DISABLE_PTX_JIT"),
        500 => ("this program and its kernels are of different versions", "build or install the program again"),
        701 => (
            "a kernel needs more registers or shared memory than the device has",
            "see compute-capability; if that passes, report it with `octopus verify --report`",
        ),
        700 | 710 | 714..=718 | 721 => ("a kernel did something illegal: a mistake in this program", REPORT),
        702 => (
            "the driver stopped a kernel that ran too long, as it does on a device with a display",
            "use a device without a display",
        ),
        719 => (
            "a kernel failed, or the device stopped answering",
            "`sudo dmesg | grep -i xid` tells which; reboot if the device is lost, else report it",
        ),
        800 => ("this user may not use the device", "see device-files"),
        802 => ("the fabric manager is not ready", "see fabric-manager"),
        803 => ("kernel module and libcuda are of different driver versions", "reboot (see version-match)"),
        804 => (
            "a forward-compatibility libcuda is loaded, which works on data-centre devices only",
            "remove the `compat` folder from LD_LIBRARY_PATH and update the driver itself",
        ),
        805..=810 => ("the multi-process service (MPS) does not serve this process", "see its log, or stop it"),
        _ => (
            "the driver or the device does not work",
            "run `nvidia-smi` and `sudo dmesg | grep -iE 'nvrm|xid'`; reboot; reinstall the driver if it stays",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: Question = Question { id: "context", title: "t", expected: "e" };

    #[test]
    fn the_advice_is_in_the_fix_and_not_in_what_was_seen() {
        let error = CudaError::Driver { operation: "making a context".into(), code: DriverCode(46) };
        let finding = failed(QUESTION, &error);
        assert_eq!(finding.observed, "making a context failed with 46 (CUDA_ERROR_DEVICE_UNAVAILABLE)");
        assert!(finding.cause.unwrap().contains("exclusive") && finding.fix.unwrap().contains("nvidia-smi -c 0"));
        let error = CudaError::OutOfMemory { requested: 64 << 20, free: 1 << 30, total: 4 << 30 };
        assert_eq!(
            failed(QUESTION, &error).observed,
            "out of memory: 64.0 MiB asked for, 1.0 GiB of 4.0 GiB free on the device"
        );
        let finding = failed(QUESTION, &CudaError::OutOfPinnedMemory { requested: 64 << 20 });
        assert_eq!(finding.observed, "out of page-locked host memory: 64.0 MiB asked for");
        assert!(finding.fix.unwrap().contains("ulimit -l"));
    }

    #[test]
    fn the_compilers_first_words_are_shown() {
        let log = "ptxas application ptx input, line 9; fatal: no\nmore".to_owned();
        let finding = failed(QUESTION, &CudaError::Ptx { code: DriverCode(218), log });
        assert!(finding.observed.ends_with("(CUDA_ERROR_INVALID_PTX): ptxas application ptx input, line 9; fatal: no"));
    }

    #[test]
    fn kinds_of_errors_have_their_own_causes() {
        let x = || String::from("x");
        let ptx = |log: &str| CudaError::Ptx { code: DriverCode(218), log: log.into() };
        for (error, cause) in [
            (CudaError::OutOfMemory { requested: 2, free: 3, total: 4 }, "what is free is not given"),
            (CudaError::OutOfMemory { requested: 3, free: 3, total: 4 }, "what is free is not given"),
            (CudaError::OutOfMemory { requested: 4, free: 3, total: 4 }, "other processes hold"),
            (CudaError::OutOfPinnedMemory { requested: 1 }, "the host's memory is used up"),
            (ptx("requires SM version 8.0 or higher"), "the kernels are made for newer devices"),
            (ptx("directive '.target sm_80' is unknown"), "the kernels are made for newer devices"),
            (ptx("fatal: no"), "the kernels' text is damaged"),
            (CudaError::KernelMissing { kernel: x() }, "this program and its kernels are of different versions"),
            (
                CudaError::KernelSignature { kernel: x(), expected: x(), found: x() },
                "this program and its kernels are of different versions",
            ),
            (
                CudaError::LaunchShape { kernel: x(), detail: x() },
                "this program and its kernels are of different versions",
            ),
            (CudaError::DeviceMissing { ordinal: 3, count: 1 }, "CUDA_VISIBLE_DEVICES hides the device"),
            (CudaError::LibraryMissing { library: x(), detail: x() }, "there is no CUDA driver"),
            (CudaError::SymbolMissing { library: x(), symbol: x() }, "there is no CUDA driver"),
            (CudaError::NotBuilt, "there is no CUDA driver"),
            (CudaError::Driver { operation: x(), code: DriverCode(101) }, "compute mode prohibited"),
            (CudaError::ItemTwice { item: 1 }, "this program made a mistake"),
        ] {
            let (found, _) = remedy(&error);
            assert!(found.starts_with(cause), "{error:?}: {found}");
        }
    }

    #[test]
    fn a_compiler_without_words_adds_none() {
        for log in ["", " \n"] {
            let finding = failed(QUESTION, &CudaError::Ptx { code: DriverCode(218), log: log.into() });
            assert_eq!(finding.observed, "the driver refused the kernels with 218 (CUDA_ERROR_INVALID_PTX)");
        }
    }

    #[test]
    fn codes_have_their_own_words() {
        let (usual, _) = of_code(DriverCode(12345));
        let words = (1..1000).filter_map(|code| {
            let (cause, fix) = of_code(DriverCode(code));
            (cause != usual).then(|| format!("{code}: {cause} | {fix}"))
        });
        insta::assert_snapshot!(words.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn every_error_has_a_cause_and_a_one_line_fix() {
        for code in (1..1000).chain([12345]) {
            let error = CudaError::Driver { operation: "x".into(), code: DriverCode(code) };
            let finding = failed(QUESTION, &error);
            assert!(!finding.cause.unwrap().is_empty());
            assert!(!finding.fix.unwrap().contains('\n'));
        }
    }
}
