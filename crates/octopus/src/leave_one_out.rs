//! How well a model predicts: LOO or WAIC of a trace, with what is said of it.

use octopus_diag::{Elpd, LogLikelihood};
use octopus_report::{count, significant};
use std::fmt;

/// An expected log predictive density, and which observations have none.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictiveAccuracy {
    /// The estimate, by LOO or WAIC.
    pub elpd: Elpd,
    /// Which observations have no estimate, and why; `None` where all have one.
    pub undefined: Option<String>,
}

impl PredictiveAccuracy {
    /// Returns an estimate with what is to be said of observations whose log likelihoods are not finite.
    pub fn new(elpd: Elpd, log_likelihood: &LogLikelihood) -> Self {
        let undefined = undefined(&elpd, log_likelihood);
        Self { elpd, undefined }
    }

    /// Returns whether the estimate is not to be trusted as it is.
    pub fn doubtful(&self) -> bool {
        self.elpd.warning() || self.undefined.is_some()
    }
}

impl fmt::Display for PredictiveAccuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { elpd, undefined } = self;
        let criterion = elpd.criterion.name();
        let (samples, observations) = (count(elpd.n_samples as u64), count(elpd.n_data_points as u64));
        writeln!(f, "{samples} samples of {observations} observations")?;
        writeln!(f, "  elpd_{criterion} {} +- {}", significant(elpd.elpd, 6), significant(elpd.se, 3))?;
        write!(f, "  p_{criterion} {}", significant(elpd.p, 4))?;
        if let Some(why) = undefined {
            write!(f, "\nFAIL  {why}")?;
        }
        match elpd.advice() {
            Some(advice) => write!(f, "\nWARN  {advice}"),
            None if undefined.is_some() => Ok(()),
            None => write!(f, "\nPASS  reliable for every observation (limit {})", significant(elpd.good, 2)),
        }
    }
}

/// Returns a sentence that names the first observation whose log likelihoods are not finite, if there is one.
fn undefined(elpd: &Elpd, log_likelihood: &LogLikelihood) -> Option<String> {
    let first = elpd.undefined().next()?;
    let (name, count) = (log_likelihood.name(first), elpd.undefined().count());
    let (bad, samples) = (log_likelihood.not_finite(first), elpd.n_samples);
    let why = if bad > 0 {
        format!("{bad} of {samples} log likelihoods of {name} are NaN or infinite")
    } else {
        format!("the log likelihoods of {name} are too far apart for a sum")
    };
    Some(format!(
        "{count} of {} observations have no estimate: {why}; look for overflow, division by zero or the logarithm of 0 in \
         the model's log likelihood, or leave these observations out of every model",
        elpd.n_data_points
    ))
}
