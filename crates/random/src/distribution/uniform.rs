//! The uniform distribution.

use super::proposals::Propose;
use super::{ParameterError, finite};
use crate::FloatingPoint;

/// The uniform distribution between two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform<T> {
    pub(super) low: T,
    pub(super) width: T,
}

const NAME: &str = "uniform";

impl<T: FloatingPoint> Uniform<T> {
    /// Makes the distribution on [`low`, `high`).
    ///
    /// The upper end itself comes where rounding makes it the nearest number.
    ///
    /// # Errors
    /// When an end is not finite, or `high` is below `low`.
    pub fn new(low: T, high: T) -> Result<Self, ParameterError> {
        let low = finite(NAME, "low", low)?;
        let must = "a finite number, not below low, and not too far from it";
        let high = super::checked((NAME, "high", must), high, |high| high >= low && (high - low).is_finite())?;
        Ok(Self { low, width: high - low })
    }
}

impl<T: FloatingPoint> Propose<T> for Uniform<T> {
    const ALWAYS: bool = true;

    #[inline(always)]
    fn propose(&self, bits: [T::Bits; 2]) -> ([T; 2], T) {
        ([self.low + self.width * T::uniform(bits[0]), T::default()], T::default())
    }

    #[inline(always)]
    fn finish(&self, taken: [T; 2], _: T::Bits) -> T {
        taken[0]
    }

    fn name(&self) -> &'static str {
        NAME
    }
}
