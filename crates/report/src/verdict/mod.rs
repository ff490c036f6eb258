//! The verdict: each criterion with its threshold, the measured value, and PASS, FAIL or SKIPPED.
//!
//! The outcome of all rows, its sentence and its exit code are decided here.

mod criteria;
mod evidence;
#[cfg(test)]
mod limits;
mod text;

use serde::{Deserialize, Serialize};

pub use criteria::Criterion;
pub use evidence::{Deliverable, Evidence, MemoryUse, PosteriorMatch};

/// The outcome of a criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "UPPERCASE")]
pub enum Status {
    /// The criterion is met.
    Pass,
    /// The criterion is not met.
    Fail,
    /// The criterion could not be judged.
    Skipped {
        /// The reason, as a clause.
        reason: String,
    },
}

impl Status {
    /// Returns `PASS`, `FAIL` or `SKIPPED`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "PASS",
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
    /// Judges all rows: a GPU that is required and missing decides; otherwise any FAIL fails; SKIPPED never does.
    pub fn new(rows: Vec<VerdictRow>, require_gpu: bool) -> Self {
        let missing = rows.iter().any(|row| row.wants_gpu && matches!(row.status, Status::Skipped { .. }));
        let outcome = if require_gpu && missing {
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

    /// Returns how many rows passed, failed and were skipped.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |word| self.rows.iter().filter(|row| row.status.word() == word).count();
        (count("PASS"), count("FAIL"), count("SKIPPED"))
    }

    /// Returns one line with the outcome.
    pub fn sentence(&self) -> String {
        let (passed, failed, skipped) = self.counts();
        let wants_gpu = |row: &&VerdictRow| row.wants_gpu && matches!(row.status, Status::Skipped { .. });
        let gpu = self.rows.iter().filter(wants_gpu).count();
        let counts = match (skipped, gpu) {
            (0, _) => format!("{passed} passed, {failed} failed"),
            (_, 0) => format!("{passed} passed, {failed} failed, {skipped} skipped"),
            (_, _) if gpu == skipped => {
                format!("{passed} passed, {failed} failed, {skipped} skipped for want of a GPU")
            }
            _ => format!("{passed} passed, {failed} failed, {skipped} skipped ({gpu} for want of a GPU)"),
        };
        match self.outcome {
            Outcome::Passed => format!("PASSED: {counts}"),
            Outcome::Failed => format!("FAILED: {counts}"),
            Outcome::GpuMissing => format!("NO GPU, and one is required: {counts}"),
        }
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
            (vec![pass(), pass()], false, "PASSED: 2 passed, 0 failed"),
            (vec![pass(), fail(), skipped(false)], false, "FAILED: 1 passed, 1 failed, 1 skipped"),
            (
                vec![pass(), skipped(false), skipped(true)],
                false,
                "PASSED: 1 passed, 0 failed, 2 skipped (1 for want of a GPU)",
            ),
            (vec![skipped(true)], true, "NO GPU, and one is required: 0 passed, 0 failed, 1 skipped for want of a GPU"),
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
        assert_eq!(verdict.sentence(), "PASSED: 1 passed, 0 failed, 1 skipped for want of a GPU");
    }
}
