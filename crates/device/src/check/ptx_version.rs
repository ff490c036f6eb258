//! Does the driver compile PTX of the kernels' version?

use crate::finding::Question;
use crate::ptx::{cuda_for_ptx, newest_ptx};
use crate::{Finding, Probe};

pub(super) const QUESTION: Question =
    Question { id: "ptx-version", title: "PTX version", expected: "the driver compiles PTX of the kernels' version" };

pub(super) fn check(probe: &Probe) -> Finding {
    let needed = probe.needs.ptx;
    let Some(oldest) = cuda_for_ptx(needed) else {
        return QUESTION.skip(format!("this program does not know which driver PTX {needed} needs"));
    };
    let expected = format!("the driver compiles PTX {needed}, as those of CUDA {oldest} and newer do");
    let Some(cuda) = probe.cuda_version() else {
        return QUESTION.skip("no library tells the driver's CUDA version").expecting(expected);
    };
    let newest = newest_ptx(cuda);
    let observed = match newest {
        Some(newest) => format!("PTX up to {newest} (CUDA {cuda})"),
        None => format!("CUDA {cuda}"),
    };
    let finding = if cuda >= oldest {
        QUESTION.pass(observed)
    } else {
        QUESTION.fail(
            observed,
            format!("the kernels are written in PTX {needed}, newer than the driver: it answers 222 (CUDA_ERROR_UNSUPPORTED_PTX_VERSION)"),
            format!("update the NVIDIA driver to one of CUDA {oldest} or newer (see cuda-version)"),
        )
    };
    finding.expecting(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingStatus, Needs, ScriptedProvider, Version};

    fn with(cuda: (u32, u32), ptx: (u32, u32)) -> Finding {
        let mut machine = ScriptedProvider::healthy();
        machine.driver.as_mut().unwrap().cuda_version = Some(Version { major: cuda.0, minor: cuda.1 });
        let needs = Needs { ptx: Version { major: ptx.0, minor: ptx.1 }, ..Needs::default() };
        check(&Probe::with_needs(&machine, needs))
    }

    #[test]
    fn the_kernels_version_decides() {
        let finding = with((12, 4), (8, 4));
        assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Pass, "PTX up to 8.4 (CUDA 12.4)"));
        assert_eq!(finding.expected, "the driver compiles PTX 8.4, as those of CUDA 12.4 and newer do");
        assert_eq!(with((11, 4), (7, 0)).status, FindingStatus::Pass);
        assert_eq!(with((13, 0), (8, 4)).observed, "PTX up to 9.0 (CUDA 13.0)");
    }

    #[test]
    fn newer_ptx_than_the_driver_fails_with_the_driver_to_get() {
        for (cuda, ptx, observed, needed) in [
            ((12, 2), (8, 4), "PTX up to 8.2 (CUDA 12.2)", "CUDA 12.4"),
            ((12, 4), (8, 7), "PTX up to 8.4 (CUDA 12.4)", "CUDA 12.8"),
            ((12, 4), (9, 0), "PTX up to 8.4 (CUDA 12.4)", "CUDA 13.0"),
            ((10, 2), (8, 4), "CUDA 10.2", "CUDA 12.4"),
        ] {
            let finding = with(cuda, ptx);
            assert_eq!((finding.status, finding.observed.as_str()), (FindingStatus::Fail, observed));
            assert!(finding.fix.unwrap().contains(needed));
            assert!(finding.cause.unwrap().contains("222"));
        }
    }

    #[test]
    fn what_nobody_knows_is_skipped() {
        assert_eq!(with((12, 4), (99, 0)).status, FindingStatus::Skip);
        let mut machine = ScriptedProvider::healthy();
        machine.driver = ScriptedProvider::empty().driver;
        machine.nvml.as_mut().unwrap().cuda_version = None;
        assert_eq!(check(&Probe::new(&machine)).status, FindingStatus::Skip);
    }
}
