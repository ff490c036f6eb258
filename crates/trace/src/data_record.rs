//! What tells data from others: their source, their SHA-256, and how many they are.

use serde::{Deserialize, Serialize};

/// The data that the model was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecord {
    /// Where they came from: a file's path, or the generator's name and settings.
    pub source: String,
    /// SHA-256 of the values as little-endian f64, in lower-case hexadecimal digits.
    pub sha256: String,
    /// The number of observations.
    pub observations: usize,
    /// The number of groups.
    pub groups: usize,
}
