//! The inverse metric as JSON, which CmdStan (2.26 and later) reads with `metric_file=` and saves with `save_metric=1`.

use crate::FormatError;
use crate::export::export_file;
use serde_json::{Value, json};
use std::path::Path;

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

/// Reads `{"inv_metric": [...]}`, with or without `stepsize`; for a dense metric the list holds the rows.
///
/// # Errors
/// When the file cannot be read, is not such JSON, or its matrix is not square.
pub fn read_metric_json(path: &Path) -> Result<StanMetric, FormatError> {
    let bytes = std::fs::read(path).map_err(FormatError::io("read", path))?;
    let unreadable = |what: String| FormatError::Unreadable { path: path.to_owned(), what };
    let json: Value =
        serde_json::from_slice(&bytes).map_err(|error| unreadable(format!("it is not JSON ({error})")))?;
    parse(&json).map_err(|what| unreadable(format!("field `inv_metric`: {what}")))
}

fn parse(json: &Value) -> Result<StanMetric, String> {
    let rows = json["inv_metric"].as_array().filter(|rows| !rows.is_empty());
    let rows = rows.ok_or("it must be a list of numbers, or of lists of numbers")?;
    let numbers = |row: &[Value]| -> Result<Vec<f64>, String> {
        let number = |value: &Value| value.as_f64().ok_or_else(|| format!("{value} is no number"));
        row.iter().map(number).collect()
    };
    let inverse = if rows[0].is_array() {
        let mut values = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let row = row.as_array().filter(|row| row.len() == rows.len());
            let row = row.ok_or_else(|| format!("row {} of {} has not as many numbers", at + 1, rows.len()))?;
            values.extend(numbers(row)?);
        }
        InverseMetric::Dense(values)
    } else {
        InverseMetric::Diagonal(numbers(rows)?)
    };
    Ok(StanMetric { step_size: json["stepsize"].as_f64(), inverse })
}

/// Writes the metric for CmdStan's `metric_file=`.
///
/// # Errors
/// When a value is not finite, when `path` exists and `overwrite` is false, or when the file cannot be
/// written.
pub fn write_metric_json(path: &Path, metric: &StanMetric, overwrite: bool) -> Result<(), FormatError> {
    let bytes = to_json(metric)?;
    export_file(path, overwrite, &mut |writer| writer.write_all(bytes.as_bytes()))
}

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
