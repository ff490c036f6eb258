//! Does the driver take this program's kernels, and how long does its compiler work on them?

use crate::live::{Live, if_slow};
use octopus_cuda::Kernels;
use octopus_device::{Finding, Question};
use std::time::Duration;

pub(crate) const QUESTION: Question =
    Question { id: "kernel-load", title: "Kernels", expected: "the driver compiles this program's kernels" };

/// A longer time is worth a remark.
const USUAL: Duration = Duration::from_secs(5);

pub(crate) fn check(live: &mut Live) -> Finding {
    live.step(QUESTION, |live| {
        let kernels = Kernels::load(&live.context)?;
        let took = kernels.load_time();
        live.kernels = Some(kernels);
        let slow = if_slow(took, USUAL, "the driver keeps what it compiled unless CUDA_CACHE_DISABLE is set");
        Ok(QUESTION.pass(format!("loaded in {:.3} s{}", took.as_secs_f64(), live.remark(slow))))
    })
}
