//! The verdict: each criterion with its threshold, the measured value, and PASS, FAIL or SKIPPED.

mod criteria;
mod evidence;
mod text;

use serde::{Deserialize, Serialize};

pub use criteria::{CRITERIA, Criterion};
pub use evidence::{Deliverable, Evidence, GpuMemory, PosteriorMatch};

/// How a criterion came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "UPPERCASE")]
pub enum Status {
    /// Met.
    Pass,
    /// Not met.
    Fail,
    /// Could not be judged.
    Skipped {
        /// Why, as a clause.
        reason: String,
    },
}

impl Status {
    /// `PASS`, `FAIL` or `SKIPPED`.
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
    /// `P0.3`.
    pub id: String,
    /// `P0`, `P1`, `P2`, or `Q` for quality.
    pub priority: String,
    /// What is asked for.
    pub criterion: String,
    /// When it is met.
    pub threshold: String,
    /// What was measured.
    pub value: String,
    /// How it came out.
    #[serde(flatten)]
    pub status: Status,
    /// What to do about it, where there is something to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Whether it was skipped for want of a GPU.
    pub wants_gpu: bool,
}

/// How the whole came out.
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
    /// How the whole came out.
    pub outcome: Outcome,
    /// Whether a missing GPU counts.
    pub require_gpu: bool,
    /// The criteria in the order of their ids.
    pub rows: Vec<VerdictRow>,
}

impl Verdict {
    /// The rule: a GPU that is required and missing decides; else any FAIL fails; SKIPPED never does.
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

    /// The program's exit code: 0 passed, 1 failed, 4 a required GPU is missing.
    pub fn exit_code(&self) -> u8 {
        match self.outcome {
            Outcome::Passed => 0,
            Outcome::Failed => 1,
            Outcome::GpuMissing => 4,
        }
    }

    /// How many rows passed, failed and were skipped.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |word| self.rows.iter().filter(|row| row.status.word() == word).count();
        (count("PASS"), count("FAIL"), count("SKIPPED"))
    }

    /// One line that says how it came out.
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
