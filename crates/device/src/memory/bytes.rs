//! Sums and products that notice when they outgrow 64 bits.

/// Bytes, or `None` once they were more than 64 bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Option<u64>);

impl Bytes {
    pub(super) fn of(bytes: u64) -> Self {
        Self(Some(bytes))
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0.zip(other.0).and_then(|(a, b)| a.checked_add(b)))
    }

    pub(super) fn times(self, factor: u64) -> Self {
        Self(self.0.and_then(|bytes| bytes.checked_mul(factor)))
    }

    /// Rounded up to a multiple.
    pub(super) fn padded(self, multiple: u64) -> Self {
        Self(self.0.and_then(|bytes| bytes.checked_next_multiple_of(multiple)))
    }
}
