//! The wrapped normal distribution of angles.

use super::proposals::Propose;
use super::von_mises::{on_circle, turned};
use super::{ParameterError, finite};
use crate::FloatingPoint;
use std::f64::consts::{PI, TAU};

/// A normal distribution that is wrapped around the circle, in radians; draws are in [-pi, pi].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrappedNormal<T> {
    pub(super) loc: T,
    pub(super) scale: T,
}

const NAME: &str = "wrapped normal";

/// From this scale on the distribution is the uniform one: what is left of its first harmonic is exp(-40.5), 3e-18.
const UNIFORM_FROM: f64 = 9.0;

/// 2 pi in two parts: the first has 8 bits, so that its product with a number of turns is exact in either type.
const TAU_HIGH: f64 = 6.281_25;
const TAU_LOW: f64 = 1.935_307_179_586_477e-3;

impl<T: FloatingPoint> WrappedNormal<T> {
    /// Makes the distribution of an angle that is normal with mean `loc` and standard deviation `scale` before it is
    /// wrapped.
    ///
    /// # Errors
    /// When a parameter is not finite, or `scale` is negative.
    pub fn new(loc: T, scale: T) -> Result<Self, ParameterError> {
        let loc = on_circle(finite(NAME, "loc", loc)?);
        let must = "a finite number, at least 0";
        let scale = super::checked((NAME, "scale", must), scale, |scale| scale >= T::default())?;
        Ok(Self { loc, scale })
    }
}

impl<T: FloatingPoint> Propose<T> for WrappedNormal<T> {
    const ALWAYS: bool = true;

    #[inline(always)]
    fn propose(&self, bits: [T::Bits; 2]) -> ([T; 2], T) {
        let number = T::from_f64;
        let wide = self.scale >= number(UNIFORM_FROM);
        let normal = self.scale * T::normal(bits[0]);
        // Of the bits of one number both are made: only one is used.
        let (negative, far, x) = T::halves(bits[0]);
        let size = number(PI) * if far { number(1.0) - x } else { x };
        let uniform = if negative { -size } else { size };
        ([if wide { uniform } else { wrapped(normal) }, T::default()], T::default())
    }

    #[inline(always)]
    fn finish(&self, taken: [T; 2], _: T::Bits) -> T {
        turned(self.loc, taken[0])
    }

    fn name(&self) -> &'static str {
        NAME
    }
}

/// Returns the angle of [-pi, pi] that is a whole number of turns from one of less than 100.
#[inline(always)]
fn wrapped<T: FloatingPoint>(angle: T) -> T {
    let number = T::from_f64;
    // 1.5 times 2^52 or 2^23: adding it rounds to a whole number.
    let round = number(T::ROUND);
    let turns = (angle * number(1.0 / TAU) + round) - round;
    (angle - turns * number(TAU_HIGH)) - turns * number(TAU_LOW)
}
