//! The exponential distribution.

use super::proposals::Propose;
use super::{LARGEST_EXPONENTIAL, ParameterError, no_draw_infinite, positive};
use crate::FloatingPoint;

/// The exponential distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential<T> {
    pub(super) scale: T,
}

const NAME: &str = "exponential";

impl<T: FloatingPoint> Exponential<T> {
    /// Makes the distribution with mean `scale`, one over the rate.
    ///
    /// # Errors
    /// When `scale` is not finite or not positive, or a draw could be infinite.
    pub fn new(scale: T) -> Result<Self, ParameterError> {
        let scale = positive(NAME, "scale", scale)?;
        Ok(Self { scale: no_draw_infinite(NAME, T::default(), (scale, LARGEST_EXPONENTIAL))? })
    }
}

impl<T: FloatingPoint> Propose<T> for Exponential<T> {
    const ALWAYS: bool = true;

    #[inline(always)]
    fn propose(&self, bits: [T::Bits; 2]) -> ([T; 2], T) {
        // Half of the draws are from the upper tail, by its probability, the others by the rest's.
        let (_, upper, probability) = T::halves(bits[0]);
        let tail = -probability.ln();
        let rest = probability.minus_ln_of_rest();
        ([self.scale * if upper { tail } else { rest }, T::default()], T::default())
    }

    #[inline(always)]
    fn finish(&self, taken: [T; 2], _: T::Bits) -> T {
        taken[0]
    }

    fn name(&self) -> &'static str {
        NAME
    }
}
