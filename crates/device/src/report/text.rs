//! The report of `octopus verify` as text for people.

use super::{Overall, VerifyReport};
use crate::FindingStatus;
use std::fmt;

impl fmt::Display for VerifyReport {
    /// Plain text of several lines, ASCII apart from what devices call themselves, no newline at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.provider != "system" {
            writeln!(f, "answers of the provider `{}`, not of this machine", self.provider)?;
        }
        for device in &self.devices {
            writeln!(f, "{}", device.line())?;
        }
        // Where there is nothing, two dozen skipped checks say less than the summary.
        if self.overall != Overall::Absent {
            for finding in &self.findings {
                writeln!(f, "{:<4}  {:<18}  {}", finding.status, finding.id, finding.observed)?;
                if finding.status == FindingStatus::Fail {
                    writeln!(f, "      expected: {}", finding.expected)?;
                }
                for (word, text) in [("cause:   ", &finding.cause), ("fix:     ", &finding.fix)] {
                    if let Some(text) = text {
                        writeln!(f, "      {word} {text}")?;
                    }
                }
            }
            writeln!(f, "{}", self.counts())?;
        }
        write!(f, "{}", self.summary)
    }
}
