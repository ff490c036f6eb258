//! Numbers of JSON files as they are read again: null stands for NaN.

use serde::{Deserialize, Deserializer};

/// Reads a number. JSON has no NaN and no infinity, so they are written as null.
pub(crate) fn null_is_nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}
