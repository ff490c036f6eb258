//! The normal distribution.

use super::proposals::Propose;
use super::{LARGEST_NORMAL, ParameterError, finite, no_draw_infinite};
use crate::FloatingPoint;

/// The normal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal<T> {
    pub(super) loc: T,
    pub(super) scale: T,
}

const NAME: &str = "normal";

impl<T: FloatingPoint> Normal<T> {
    /// Makes the distribution with mean `loc` and standard deviation `scale`.
    ///
    /// # Errors
    /// When a parameter is not finite, `scale` is negative, or a draw could be infinite.
    pub fn new(loc: T, scale: T) -> Result<Self, ParameterError> {
        let loc = finite(NAME, "loc", loc)?;
        let must = "a finite number, at least 0";
        let scale = super::checked((NAME, "scale", must), scale, |scale| scale >= T::default())?;
        let scale = no_draw_infinite(NAME, loc, (scale, LARGEST_NORMAL))?;
        Ok(Self { loc, scale })
    }
}

impl<T: FloatingPoint> Propose<T> for Normal<T> {
    const ALWAYS: bool = true;

    #[inline(always)]
    fn propose(&self, bits: [T::Bits; 2]) -> ([T; 2], T) {
        ([self.loc + self.scale * T::normal(bits[0]), T::default()], T::default())
    }

    #[inline(always)]
    fn finish(&self, taken: [T; 2], _: T::Bits) -> T {
        taken[0]
    }

    fn name(&self) -> &'static str {
        NAME
    }
}
