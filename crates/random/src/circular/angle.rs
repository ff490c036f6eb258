//! How far an angle is from `loc` and from its antipode, without rounding where that would matter.

use std::f64::consts::PI;

/// pi - [`PI`], so that the two together have 32 digits.
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;

/// `angle - loc` as an unevaluated sum.
#[derive(Clone, Copy)]
pub(super) struct Offset {
    /// The rounded difference.
    pub(super) high: f64,
    /// What rounding took from it; 0 where that is not known, beside an infinite angle.
    low: f64,
}

/// Distances of an angle on one side of `loc`, which add up to pi.
#[derive(Clone, Copy)]
pub(super) struct Arc {
    /// From `loc`, from 0 to pi.
    pub(super) from_loc: f64,
    /// From the antipode of `loc`, from pi to 0.
    pub(super) from_antipode: f64,
}

impl Offset {
    /// Subtracts by Knuth's two-sum, whose parts add up to the exact difference.
    pub(super) fn new(angle: f64, loc: f64) -> Self {
        let high = angle - loc;
        let taken = high - angle;
        let low = (angle - (high - taken)) - (loc + taken);
        Self { high, low: if low.is_finite() { low } else { 0.0 } }
    }

    /// The sine of half the offset: its square is (1 - cos)/2.
    pub(super) fn sine_of_half(self) -> f64 {
        let half = 0.5 * self.high;
        libm::sin(half) + 0.5 * self.low * libm::cos(half)
    }

    /// The distances of the angle's point on the circle, after any number of turns.
    pub(super) fn arc_modulo_turns(self) -> Arc {
        let half = 0.5 * self.high;
        let sine = self.sine_of_half().abs();
        // What is lost of a small cosine is 1e-16 beside pi, from `loc`.
        let cosine = libm::cos(half).abs();
        Arc { from_loc: 2.0 * libm::atan2(sine, cosine), from_antipode: 2.0 * libm::atan2(cosine, sine) }
    }

    /// The probability below the angle, given that beyond a distance on one side.
    ///
    /// At `loc` a point mass is below the angle if the range is `closed`.
    pub(super) fn mass_below(self, is_point_mass: bool, closed: bool, tail: impl Fn(Arc) -> f64) -> f64 {
        if is_point_mass {
            if self.high > 0.0 || (closed && self.high == 0.0) { 1.0 } else { 0.0 }
        } else if self.high > 0.0 {
            1.0 - tail(self.arc())
        } else {
            tail(self.arc())
        }
    }

    /// The distances, whatever the side; beyond pi those of the antipode.
    pub(super) fn arc(self) -> Arc {
        let sign = 1f64.copysign(self.high);
        let (high, low) = (sign * self.high, sign * self.low);
        let from_antipode = ((PI - high) + (PI_LOW - low)).max(0.0);
        Arc { from_loc: high.min(PI), from_antipode }
    }
}

impl Arc {
    /// The arc of an angle within [`PI`] of `loc`.
    pub(super) fn at(from_loc: f64) -> Self {
        Self { from_loc, from_antipode: (PI - from_loc) + PI_LOW }
    }
}
