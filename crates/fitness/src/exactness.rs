//! Do all kernels give the bits of their twins on the processor?

use crate::exact::{ExactRow, ExactSize, Exactness};
use crate::live::Live;
use crate::matmul::WRONG;
use octopus_cuda::{CudaError, Kernels};
use octopus_device::{Finding, Question};
use std::collections::BTreeSet;

pub(crate) const QUESTION: Question =
    Question { id: "exactness", title: "Exactness of all kernels", expected: "the CPU's results, bit for bit" };

/// Differing results that are named.
const SHOWN: usize = 3;

pub(crate) fn check(live: &Live, kernels: &Kernels) -> Result<Finding, CudaError> {
    let size = if live.config.small { ExactSize::Small } else { ExactSize::Full };
    Ok(judge(&Exactness::new(kernels, &live.stream).run(size)?))
}

fn judge(rows: &[ExactRow]) -> Finding {
    let kernels: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let wrong: Vec<String> =
        rows.iter().filter(|row| !row.equal()).map(|row| format!("{} of {}", row.name, row.n)).collect();
    let all = format!("{} results of {} kernels", rows.len(), kernels.len());
    if wrong.is_empty() {
        return QUESTION.pass(format!("{all}: the same bits"));
    }
    let more = if wrong.len() > SHOWN { ", ..." } else { "" };
    let shown = wrong[..wrong.len().min(SHOWN)].join(", ");
    QUESTION.fail(format!("{} of {all} differ: {shown}{more}", wrong.len()), WRONG.0, WRONG.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::FindingStatus;

    fn row(name: &str, n: usize, hash: &str) -> ExactRow {
        ExactRow { name: name.into(), n, hash: hash.into(), cpu: "a".into() }
    }

    #[test]
    fn differing_results_are_named() {
        let rows = [row("array_add_f32", 1, "a"), row("array_add_f32", 9, "a"), row("matmul_f64", 9, "a")];
        let fine = judge(&rows);
        assert_eq!(
            (fine.status, fine.observed.as_str()),
            (FindingStatus::Pass, "3 results of 2 kernels: the same bits")
        );
        let rows: Vec<ExactRow> = (0..5).map(|n| row("array_sum_f64", n, if n == 0 { "a" } else { "b" })).collect();
        let wrong = judge(&rows);
        assert_eq!(wrong.status, FindingStatus::Fail);
        assert_eq!(
            wrong.observed,
            "4 of 5 results of 1 kernels differ: array_sum_f64 of 1, array_sum_f64 of 2, array_sum_f64 of 3, ..."
        );
        assert!(judge(&rows[..4]).observed.ends_with(": array_sum_f64 of 1, array_sum_f64 of 2, array_sum_f64 of 3"));
    }
}
