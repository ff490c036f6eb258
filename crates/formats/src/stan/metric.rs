//! The inverse metric, and its JSON, which CmdStan (2.26 and later) reads with `metric_file=`.

use crate::FormatError;
use serde_json::json;

/// The inverse of the metric, in the order of the model's unconstrained coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum InverseMetric {
    /// The diagonal: variances.
    Diagonal(Vec<f64>),
    /// A symmetric matrix, row-major, `dim x dim`.
    Dense(Vec<f64>),
}

impl InverseMetric {
    /// Returns the number of coordinates.
    pub fn dim(&self) -> usize {
        match self {
            Self::Diagonal(values) => values.len(),
            Self::Dense(values) => values.len().isqrt(),
        }
    }
}

/// The step size and metric that warm-up ends with.
#[derive(Clone, Debug, PartialEq)]
pub struct StanMetric {
    /// The step size, if it is known.
    pub step_size: Option<f64>,
    /// The inverse metric.
    pub inverse: InverseMetric,
}

/// Returns the text of the file that CmdStan takes as `metric_file=`.
pub(super) fn to_json(metric: &StanMetric) -> Result<String, FormatError> {
    let invalid = |what: &str| FormatError::Invalid { group: "sample_stats".into(), what: what.to_owned() };
    let (InverseMetric::Diagonal(values) | InverseMetric::Dense(values)) = &metric.inverse;
    let dim = metric.inverse.dim();
    if values.is_empty() || !values.iter().chain(&metric.step_size).all(|value| value.is_finite()) {
        return Err(invalid("a metric needs finite numbers, one at least"));
    }
    let inverse = match &metric.inverse {
        InverseMetric::Dense(_) if dim * dim != values.len() => return Err(invalid("a dense metric is not square")),
        InverseMetric::Dense(_) => json!(values.chunks(dim).collect::<Vec<_>>()),
        InverseMetric::Diagonal(_) => json!(values),
    };
    // No `metric_type`: CmdStan saves one, and refuses words in what it reads.
    let mut object = json!({ "inv_metric": inverse });
    if let Some(step_size) = metric.step_size {
        object["stepsize"] = json!(step_size);
    }
    Ok(format!("{object:#}\n"))
}
