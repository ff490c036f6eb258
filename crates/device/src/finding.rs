//! The finding of one check: its status (pass, fail, skipped), what was observed, cause and fix.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FindingStatus {
    /// All is as expected.
    Pass,
    /// Something is not as expected: the device is not fit for use until this is fixed.
    Fail,
    /// There was nothing to check.
    Skip,
}

impl fmt::Display for FindingStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Skip => "SKIP",
        })
    }
}

/// One check's outcome. A failure always carries a cause and a fix; other outcomes never do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The check's name for machines and for the troubleshooting page, e.g. `cuda-version`.
    pub id: String,
    /// The check's name for people.
    pub title: String,
    /// The outcome of the check.
    pub status: FindingStatus,
    /// What was seen, in words.
    pub observed: String,
    /// What is needed, in words.
    pub expected: String,
    /// Why it failed, as far as can be told from here.
    pub cause: Option<String>,
    /// The advice, in one line.
    pub fix: Option<String>,
}

impl Finding {
    /// Returns this finding with an expectation of its own instead of its question's.
    #[must_use]
    pub fn expecting(self, expected: impl Into<String>) -> Self {
        Self { expected: expected.into(), ..self }
    }
}

/// A check's identity and expectation, from which its findings are made.
///
/// ```
/// use octopus_device::{Question, FindingStatus};
///
/// const QUESTION: Question =
///     Question { id: "kernel-load", title: "Kernel load time", expected: "kernels load in under 2 s" };
/// let finding = QUESTION.fail("3.1 s", "the driver compiles the kernels at every start", "unset CUDA_CACHE_DISABLE");
/// assert_eq!((finding.id.as_str(), finding.status), ("kernel-load", FindingStatus::Fail));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The id of its findings: small letters and hyphens.
    pub id: &'static str,
    /// The check's name for people.
    pub title: &'static str,
    /// What is needed, in words.
    pub expected: &'static str,
}

impl Question {
    /// Makes a finding that all is as expected.
    pub fn pass(self, observed: impl Into<String>) -> Finding {
        self.finding(FindingStatus::Pass, observed.into(), None)
    }

    /// Makes a finding that there was nothing to check, for this reason.
    pub fn skip(self, why: impl Into<String>) -> Finding {
        self.finding(FindingStatus::Skip, why.into(), None)
    }

    /// Makes a finding that something is wrong; the fix is one line.
    pub fn fail(self, observed: impl Into<String>, cause: impl Into<String>, fix: impl Into<String>) -> Finding {
        self.finding(FindingStatus::Fail, observed.into(), Some((cause.into(), fix.into())))
    }

    fn finding(self, status: FindingStatus, observed: String, remedy: Option<(String, String)>) -> Finding {
        let (cause, fix) = remedy.unzip();
        Finding {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            status,
            observed,
            expected: self.expected.to_owned(),
            cause,
            fix,
        }
    }
}
