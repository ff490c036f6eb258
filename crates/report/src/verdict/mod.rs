//! The verdict: each criterion with its threshold, the measured value, and PASS, WARN, FAIL or SKIPPED.
//!
//! The outcome of all rows, its sentence and its exit code are decided here.

mod criteria;
mod evidence;
#[cfg(test)]
mod limits;
mod text;

use serde::{Deserialize, Serialize};

pub use criteria::Criterion;
pub use evidence::{Deliverable, Evidence, MemoryUse, PosteriorMatch, WorstVariation};

/// The outcome of a criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "UPPERCASE")]
pub enum Status {
    /// The criterion is met.
    Pass,
    /// The criterion is not met, and asks for information only: the whole does not fail for it.
    Warn,
    /// The criterion is not met.
    Fail,
    /// The criterion could not be judged.
    Skipped {
        /// The reason, as a clause.
        reason: String,
    },
}

impl Status {
    /// Returns `PASS`, `WARN`, `FAIL` or `SKIPPED`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
            Self::Skipped { .. } => "SKIPPED",
        }
    }
}

/// One criterion judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerdictRow {
    /// The id of the criterion, e.g. `P0.3`.
    pub id: String,
    /// `P0`, `P1`, `P2`, or `Q` for quality.
    pub priority: String,
    /// The requirement, in words.
    pub criterion: String,
    /// The condition for which the criterion is met.
    pub threshold: String,
    /// The measured value, in words.
    pub value: String,
    /// The outcome of the criterion.
    #[serde(flatten)]
    pub status: Status,
    /// Advice on what to do, where there is something to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Whether the criterion was skipped because there is no GPU.
    pub wants_gpu: bool,
}

impl VerdictRow {
    /// Returns whether the criterion was skipped because there is no GPU.
    pub fn lacks_gpu(&self) -> bool {
        self.wants_gpu && matches!(self.status, Status::Skipped { .. })
    }
}

/// How many rows of a verdict have each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusCounts {
    /// The rows with PASS.
    pub passed: usize,
    /// The rows with WARN.
    pub warned: usize,
    /// The rows with FAIL.
    pub failed: usize,
    /// The rows with SKIPPED.
    pub skipped: usize,
    /// The rows that count in `skipped` and that only a GPU can decide.
    pub without_gpu: usize,
}

/// The outcome of all criteria together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// No criterion failed.
    Passed,
    /// A criterion failed.
    Failed,
    /// A GPU was required and there is none.
    GpuMissing,
}

/// All criteria judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The outcome of all criteria together.
    pub outcome: Outcome,
    /// Whether a GPU is required: if it is missing, that decides the outcome.
    pub require_gpu: bool,
    /// The criteria in the order of their ids.
    pub rows: Vec<VerdictRow>,
}

impl Verdict {
    /// Judges all rows: a GPU that is required and missing decides; otherwise any FAIL fails; WARN and SKIPPED never do.
    pub fn new(rows: Vec<VerdictRow>, require_gpu: bool) -> Self {
        let outcome = if require_gpu && rows.iter().any(VerdictRow::lacks_gpu) {
            Outcome::GpuMissing
        } else if rows.iter().any(|row| row.status == Status::Fail) {
            Outcome::Failed
        } else {
            Outcome::Passed
        };
        Self { outcome, require_gpu, rows }
    }

    /// Returns the program's exit code: 0 passed, 1 failed, 4 a required GPU is missing.
    pub fn exit_code(&self) -> u8 {
        match self.outcome {
            Outcome::Passed => 0,
            Outcome::Failed => 1,
            Outcome::GpuMissing => 4,
        }
    }

    /// Returns how many rows have each status.
    pub fn counts(&self) -> StatusCounts {
        let count = |word| self.rows.iter().filter(|row| row.status.word() == word).count();
        StatusCounts {
            passed: count("PASS"),
            warned: count("WARN"),
            failed: count("FAIL"),
            skipped: count("SKIPPED"),
            without_gpu: self.rows.iter().filter(|row| row.lacks_gpu()).count(),
        }
    }

    /// Returns the outcome in a word or a few. It says so where no GPU took part.
    pub fn headline(&self) -> &'static str {
        match (self.outcome, self.rows.iter().any(VerdictRow::lacks_gpu)) {
            (Outcome::Passed, false) => "PASSED",
            (Outcome::Passed, true) => "CPU only",
            (Outcome::Failed, false) => "FAILED",
            (Outcome::Failed, true) => "FAILED, CPU only",
            (Outcome::GpuMissing, _) => "NO GPU, and one is required",
        }
    }

    /// Returns one line with the outcome, e.g. `CPU only: 9 passed, 8 not measured`.
    pub fn sentence(&self) -> String {
        let counts = self.counts();
        let mut words = vec![format!("{} passed", counts.passed)];
        let others = [(counts.warned, "with a warning"), (counts.failed, "failed"), (counts.skipped, "not measured")];
        words.extend(others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
        let without_gpu = match counts.without_gpu {
            0 => String::new(),
            all if all == counts.skipped => " for want of a GPU".to_owned(),
            some => format!(" ({some} for want of a GPU)"),
        };
        format!("{}: {}{without_gpu}", self.headline(), words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(status: Status, wants_gpu: bool) -> VerdictRow {
        VerdictRow {
            id: "P0.1".to_owned(),
            priority: "P0".to_owned(),
            criterion: "c".to_owned(),
            threshold: "t".to_owned(),
            value: "v".to_owned(),
            status,
            advice: None,
            wants_gpu,
        }
    }

    #[test]
    fn the_rule() {
        let skipped = || Status::Skipped { reason: "none here".to_owned() };
        for (rows, require_gpu, outcome, code) in [
            (vec![], false, Outcome::Passed, 0),
            (vec![row(Status::Pass, false)], true, Outcome::Passed, 0),
            (vec![row(Status::Pass, false), row(skipped(), true)], false, Outcome::Passed, 0),
            (vec![row(Status::Pass, false), row(skipped(), true)], true, Outcome::GpuMissing, 4),
            (vec![row(skipped(), false)], true, Outcome::Passed, 0),
            (vec![row(Status::Fail, false), row(Status::Pass, false)], false, Outcome::Failed, 1),
            (vec![row(Status::Fail, false), row(skipped(), true)], true, Outcome::GpuMissing, 4),
            (vec![row(Status::Fail, true)], true, Outcome::Failed, 1),
            (vec![row(Status::Warn, true), row(Status::Pass, false)], true, Outcome::Passed, 0),
        ] {
            let verdict = Verdict::new(rows, require_gpu);
            assert_eq!((verdict.outcome, verdict.exit_code()), (outcome, code), "{verdict:?}");
        }
    }

    #[test]
    fn the_sentence_says_why_rows_were_skipped() {
        let skipped = |wants_gpu| row(Status::Skipped { reason: "none here".to_owned() }, wants_gpu);
        let (pass, fail) = (|| row(Status::Pass, false), || row(Status::Fail, false));
        for (rows, require_gpu, sentence) in [
            (vec![pass(), pass()], false, "PASSED: 2 passed"),
            (vec![pass(), row(Status::Warn, true)], false, "PASSED: 1 passed, 1 with a warning"),
            (vec![pass(), fail(), skipped(false)], false, "FAILED: 1 passed, 1 failed, 1 not measured"),
            (
                vec![pass(), skipped(false), skipped(true)],
                false,
                "CPU only: 1 passed, 2 not measured (1 for want of a GPU)",
            ),
            (
                vec![fail(), skipped(true)],
                false,
                "FAILED, CPU only: 0 passed, 1 failed, 1 not measured for want of a GPU",
            ),
            (vec![skipped(true)], true, "NO GPU, and one is required: 0 passed, 1 not measured for want of a GPU"),
        ] {
            assert_eq!(Verdict::new(rows, require_gpu).sentence(), sentence);
        }
    }

    #[test]
    fn json_names_the_status_in_capitals_and_comes_back() {
        let verdict = Verdict::new(
            vec![row(Status::Pass, false), row(Status::Skipped { reason: "no GPU".to_owned() }, true)],
            false,
        );
        let json = serde_json::to_value(&verdict).unwrap();
        assert_eq!(json["rows"][0]["status"], "PASS");
        assert_eq!(json["rows"][1]["status"], "SKIPPED");
        assert_eq!(json["rows"][1]["reason"], "no GPU");
        assert_eq!(serde_json::from_value::<Verdict>(json).unwrap(), verdict);
        assert_eq!(verdict.sentence(), "CPU only: 1 passed, 1 not measured for want of a GPU");
    }
}
