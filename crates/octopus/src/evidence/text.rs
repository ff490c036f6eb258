//! An evidence in words.

use super::ModelEvidence;
use octopus_report::{count, significant};
use std::fmt;

impl fmt::Display for ModelEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (draws, ess) = (count(self.draws as u64), count(self.ess().round() as u64));
        writeln!(f, "{draws} draws, by a bridge from normal distributions")?;
        writeln!(f, "  log evidence {:.3} +- {}", self.log_evidence, significant(self.standard_error, 2))?;
        writeln!(f, "  overlap {}, effective draws {ess}", significant(self.overlap(), 2))?;
        match self.doubt() {
            Some(why) => write!(f, "WARN  {why}"),
            None => write!(f, "PASS  the evidence is known to {} %", significant(100.0 * self.standard_error, 2)),
        }
    }
}
