//! The table of results: a row for each repetition. Every other table, picture and page is made of it.

use crate::SuiteError;
use crate::judge::{PosteriorCheck, SuiteVerdict};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A repetition of a case by a framework, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRow {
    /// The suite.
    pub suite: String,
    /// The name of the case.
    pub case: String,
    /// The framework.
    pub framework: String,
    /// Versions of the framework and of what it stands on.
    pub versions: String,
    /// How it was set up beyond what the suite says.
    pub settings: String,
    /// The device that computed.
    pub device: String,
    /// `f64` or `f32`.
    pub precision: String,
    /// The number of cores.
    pub threads: usize,
    /// The program.
    pub program: String,
    /// The SHA-256 of the data, as the record of a run has it.
    pub data_sha256: String,
    /// The method.
    pub method: String,
    /// The size of the data: points, groups.
    pub n: Option<u64>,
    /// Particles, of a method that has them.
    pub particles: Option<u64>,
    /// Chains, of a method that has them.
    pub chains: Option<u64>,
    /// Draws of each chain.
    pub draws: Option<u64>,
    /// The number of the repetition, from 0.
    pub repeat: usize,
    /// The place of the framework in this repetition, from 0: they take turns.
    pub order: usize,
    /// Seconds of compilation and of a first run.
    pub compile_seconds: Option<f64>,
    /// Seconds of inference: warm-up and draws.
    pub seconds: Option<f64>,
    /// The most memory that the process held, in bytes.
    pub peak_bytes: Option<u64>,
    /// The least effective sample size of all parameters.
    pub least_ess: Option<f64>,
    /// Gradients of all chains, warm-up included.
    pub gradients: Option<u64>,
    /// Divergent transitions after warm-up.
    pub divergences: Option<u64>,
    /// The logarithm of the evidence.
    pub log_evidence: Option<f64>,
    /// The verdict on all repetitions of this framework in this case.
    pub verdict: SuiteVerdict,
    /// Why it is not `passed`, known bugs, and what the suite expects.
    pub note: String,
}

impl SuiteRow {
    /// Returns whether the row has a time that counts: beside a posterior that passes, or one that no framework gets.
    pub fn counts(&self) -> bool {
        self.seconds.is_some() && matches!(self.verdict, SuiteVerdict::Passed | SuiteVerdict::Expected)
    }

    /// Returns the effective draws a second.
    pub fn ess_per_second(&self) -> Option<f64> {
        (self.verdict == SuiteVerdict::Passed).then_some(self.least_ess? / self.seconds?)
    }

    /// Gives the row the verdict of all repetitions.
    pub(crate) fn judged(self, check: &PosteriorCheck) -> Self {
        Self { verdict: check.verdict, note: check.note.clone(), ..self }
    }
}

/// Writes a table as CSV, whole or not at all.
pub(crate) fn write_table<T: Serialize>(path: &Path, rows: &[T]) -> Result<(), SuiteError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(SuiteError::csv(path))?;
    }
    let bytes = writer.into_inner().map_err(|error| SuiteError::file(path, error.to_string()))?;
    Ok(octopus_files::write_named(path, &bytes)?)
}

/// Reads a table.
pub(crate) fn read_table<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, SuiteError> {
    let mut reader = csv::Reader::from_path(path).map_err(SuiteError::csv(path))?;
    reader.deserialize().collect::<Result<_, _>>().map_err(SuiteError::csv(path))
}
