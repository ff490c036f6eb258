//! Does a whole sampling run work? The caller hands it in: this crate knows no sampler.

use crate::TinyRun;
use octopus_device::{Finding, Question};

pub(crate) const QUESTION: Question =
    Question { id: "tiny-run", title: "Tiny sampling run", expected: "10 draws after 10 of warm-up, all finite" };

pub(crate) fn check(tiny_run: &mut TinyRun<'_>) -> Finding {
    match tiny_run() {
        Ok(observed) => QUESTION.pass(observed),
        Err(observed) => QUESTION.fail(
            observed,
            "the sampler does not work on this machine, or this build of it is broken",
            "run `octopus validate --quick` and report what it says, with `octopus verify --report`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::FindingStatus;

    #[test]
    fn the_runs_own_words_are_shown() {
        let passed = check(&mut || Ok("10 draws".into()));
        assert_eq!((passed.status, passed.observed.as_str()), (FindingStatus::Pass, "10 draws"));
        let failed = check(&mut || Err("draw 3 is NaN".into()));
        assert_eq!((failed.status, failed.observed.as_str()), (FindingStatus::Fail, "draw 3 is NaN"));
        assert!(failed.cause.is_some() && failed.fix.is_some());
    }
}
