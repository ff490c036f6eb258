//! Numbers to compute with.

/// Numbers that no two places share, of both signs.
pub(crate) fn numbers(length: usize) -> Vec<f64> {
    (0..length).map(|i| (i as f64 - length as f64 / 3.0) * 0.371 + 1.0 / (i as f64 + 1.5)).collect()
}
