//! Checks and benchmarks that run on a device: does it compute, at which speed, and are its numbers right?
//!
//! | Question | Answer |
//! |---|---|
//! | Does the device compute, how fast, with the right bits | [`fitness`], one [`Finding`] for each of [`FITNESS_IDS`] |
//! | Which bits does each kernel give | [`exact_kernels`] and its [`ExactReport`] |
//! | How long does something take | [`benchmark_device`] and its [`CallTiming`] |
//! | What does work cost on this machine | [`measure_costs`]; in some tenths of a second, [`quick_costs`] |
//!
//! One check a file. They need a driver that starts. Where it does not, the checks that need it are skipped
//! ([`fitness_without_device`]); without a device all are ([`fitness_skipped`]). A check that fails stops only checks
//! that build on it; after an error that loses the device, the rest are skipped with that reason.

mod bandwidth;
mod context;
mod costs;
mod exact;
mod exactness;
mod inputs;
mod kernel_load;
mod live;
mod matmul;
mod memory;
mod remedy;
mod timing;
mod tiny_run;

pub use costs::{CostsConfig, measure_costs, quick_costs};
pub use exact::{ExactReport, ExactRow, ExactSize, exact_kernels};
pub use timing::{BenchmarkClock, BenchmarkConfig, CallTiming, benchmark_device};

use live::Live;
use octopus_device::{Finding, Question};

/// The checks, in the order in which they run.
const QUESTIONS: [Question; 8] = [
    context::QUESTION,
    kernel_load::QUESTION,
    memory::QUESTION,
    bandwidth::QUESTION,
    matmul::QUESTION_F32,
    matmul::QUESTION_F64,
    exactness::QUESTION,
    tiny_run::QUESTION,
];

/// The ids of the checks that run on the device, in their order.
pub const FITNESS_IDS: [&str; QUESTIONS.len()] = {
    let mut ids = [""; QUESTIONS.len()];
    let mut at = 0;
    while at < QUESTIONS.len() {
        ids[at] = QUESTIONS[at].id;
        at += 1;
    }
    ids
};

/// The settings of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitnessConfig {
    /// The driver's number of the device, counted from 0 among those that `CUDA_VISIBLE_DEVICES` shows.
    pub device: u32,
    /// Small matrices and short copies: the same answers but for the speeds.
    pub small: bool,
}

/// A tiny sampling run: what it did in one line, or why it failed.
pub type TinyRun<'a> = dyn FnMut() -> Result<String, String> + 'a;

/// Runs all checks on a device. This crate knows no sampler: the caller hands in the tiny run, and its line says on
/// which engine it was.
///
/// Makes a CUDA context and needs some 200 MiB of device memory, most of it for the copies.
pub fn fitness(config: FitnessConfig, tiny_run: &mut TinyRun<'_>) -> Vec<Finding> {
    let (opened, live) = context::check(config);
    let mut findings = vec![opened];
    match live {
        Some(mut live) => findings.extend(on_device(&mut live)),
        None => findings.extend(QUESTIONS[1..7].iter().map(|question| question.skip("no context (see context)"))),
    }
    findings.push(tiny_run::check(tiny_run));
    findings
}

fn on_device(live: &mut Live) -> [Finding; 6] {
    [
        kernel_load::check(live),
        live.step(memory::QUESTION, memory::check),
        live.step(bandwidth::QUESTION, bandwidth::check),
        live.step_with_kernels(matmul::QUESTION_F32, matmul::check::<f32>),
        live.step_with_kernels(matmul::QUESTION_F64, matmul::check::<f64>),
        live.step_with_kernels(exactness::QUESTION, exactness::check),
    ]
}

/// Returns the findings where nothing can run on the device, for this reason; the tiny run does not need it.
pub fn fitness_without_device(why: &str, tiny_run: &mut TinyRun<'_>) -> Vec<Finding> {
    let mut findings = fitness_skipped(why);
    findings.pop();
    findings.push(tiny_run::check(tiny_run));
    findings
}

/// Returns the findings of a machine that has no device: all skipped, for this reason.
pub fn fitness_skipped(why: &str) -> Vec<Finding> {
    QUESTIONS.iter().map(|question| question.skip(why)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::{CHECK_IDS, FindingStatus};
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_distinct_also_from_those_of_the_machine() {
        let all: BTreeSet<&str> = FITNESS_IDS.into_iter().chain(CHECK_IDS).collect();
        assert_eq!(all.len(), FITNESS_IDS.len() + CHECK_IDS.len());
    }

    #[test]
    fn what_cannot_run_is_skipped_with_the_reason() {
        let findings = fitness_skipped("no device");
        assert_eq!(findings.iter().map(|finding| finding.id.as_str()).collect::<Vec<_>>(), FITNESS_IDS);
        assert!(
            findings.iter().all(|f| f.status == FindingStatus::Skip && f.observed == "no device" && f.fix.is_none())
        );
        let findings = fitness_without_device("no driver", &mut || Ok("10 draws".into()));
        assert_eq!(findings.iter().map(|finding| finding.id.as_str()).collect::<Vec<_>>(), FITNESS_IDS);
        assert_eq!(findings.iter().filter(|f| f.status == FindingStatus::Pass).count(), 1);
    }
}
