//! What is known of the posterior of a program of one's own: a file of moments, which names the program and the data that it is
//! of.

use crate::SuiteError;
use octopus_models::{Problem, TruthMoments};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::Path;

/// Moments of a posterior, as `truth.json` of a program that ships has them, with the hashes of what they are of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnownPosterior {
    program_sha256: Option<String>,
    data_sha256: Option<String>,
    pub(crate) moments: TruthMoments,
    /// The standard error of the moments, in standard deviations of the posterior: 0 where they are exact.
    #[serde(default)]
    pub(crate) error: f64,
    /// The logarithm of the evidence, with all constants.
    pub(crate) log_evidence: Option<f64>,
    #[serde(default, rename = "method")]
    _method: IgnoredAny,
    #[serde(default, rename = "points")]
    _points: IgnoredAny,
}

impl KnownPosterior {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is of another program or other data, or has a variable that the program does not declare.
    pub(crate) fn read(path: &Path, problem: &dyn Problem) -> Result<Self, SuiteError> {
        let text = std::fs::read_to_string(path).map_err(SuiteError::io("read", path))?;
        let known: Self = serde_json::from_str(&text).map_err(|error| SuiteError::file(path, error.to_string()))?;
        let program = problem.settings().get("program_sha256").and_then(toml::Value::as_str).unwrap_or_default();
        for (name, told, own) in [
            ("program_sha256", &known.program_sha256, program),
            ("data_sha256", &known.data_sha256, problem.data().sha256.as_str()),
        ] {
            if told.as_deref() != Some(own) {
                let told = told.as_deref().unwrap_or("missing");
                let what = format!("{name} is {told}, and here it is {own}: give that once the moments are of it");
                return Err(SuiteError::file(path, what));
            }
        }
        if !(known.error >= 0.0 && known.error.is_finite()) {
            return Err(SuiteError::file(path, format!("error = {}: a number of 0 or more is needed", known.error)));
        }
        let declared: Vec<&str> = problem.density().layout().variables.iter().map(|own| own.name.as_str()).collect();
        if let Some(name) = known.moments.variables().find(|name| !declared.contains(name)) {
            let what = format!("the program has no {name}: it has {}", declared.join(", "));
            return Err(SuiteError::file(path, what));
        }
        Ok(known)
    }
}
