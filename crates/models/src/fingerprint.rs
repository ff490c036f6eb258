//! The fingerprint of data, by which a run knows its own again.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of the values as little-endian f64, in hexadecimal: the fingerprint of a data set.
pub fn sha256(values: &[f64]) -> String {
    let mut hash = Sha256::new();
    for value in values {
        hash.update(value.to_le_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
