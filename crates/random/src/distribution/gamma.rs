//! The gamma distribution.
//!
//! Marsaglia and Tsang (2000, ACM Transactions on Mathematical Software 26): with d = shape - 1/3 and c = 1 / sqrt(9 d), a
//! normal x proposes d v, v = (1 + c x)^3, and is taken where ln u < x^2 / 2 + d - d v + d ln v.
//!
//! For large shapes these four are large and their sum is small. With y = c x it is 3 d (ln(1 + y) - y + y^2/2 - y^3/3),
//! whose bracket begins with y^4: near 0 it is summed as the series that it is.

use super::proposals::Propose;
use super::{LARGEST_EXPONENTIAL, LARGEST_NORMAL, ParameterError, beyond, largest_number, no_draw_infinite, positive};
use crate::FloatingPoint;

/// The gamma distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma<T> {
    pub(super) shape: T,
    pub(super) scale: T,
    /// d: the shape, raised by one if it is below 1, less 1/3.
    size: T,
    /// c
    spread: T,
}

const NAME: &str = "gamma";

/// From this |y| on the bracket is what is written, below it its series.
pub(super) const SERIES_BELOW: f64 = 0.125;

impl<T: FloatingPoint> Gamma<T> {
    /// Makes the distribution with density proportional to x^(shape - 1) exp(-x / scale).
    ///
    /// A draw that is too small for its type is 0: for a shape of 0.001 half of all draws are below 1e-301.
    ///
    /// # Errors
    /// When a parameter is not finite or not positive, or a draw could be infinite.
    pub fn new(shape: T, scale: T) -> Result<Self, ParameterError> {
        let shape = positive(NAME, "shape", shape)?;
        let scale = positive(NAME, "scale", scale)?;
        // Beyond, three times the shape is infinite, and no proposal is ever taken.
        let most = 0.25 * largest_number::<T>();
        if shape.to_f64() > most {
            return Err(beyond((NAME, "shape"), shape, ("at most", 0.99 * most)));
        }
        let one = T::from_f64(1.0);
        let raised = if shape < one { shape + one } else { shape };
        let size = raised - T::from_f64(1.0 / 3.0);
        let spread = one / (T::from_f64(3.0) * size.sqrt());
        let made = Self { shape, scale, size, spread };
        no_draw_infinite(NAME, T::default(), (scale, made.largest()))?;
        Ok(made)
    }

    /// Returns a number that no draw of scale 1 is above.
    pub(super) fn largest(&self) -> f64 {
        let above = 1.0 + self.spread.to_f64() * LARGEST_NORMAL;
        self.size.to_f64() * above * above * above
    }

    /// Returns a number that the logarithm of no draw of scale 1 is below: that of a shape which is not raised is taken
    /// only where the test's uniform number is smaller than a power of it.
    pub(super) fn least_ln(&self) -> f64 {
        let raised = if self.is_raised() { LARGEST_EXPONENTIAL / self.shape.to_f64() } else { 0.0 };
        self.size.to_f64().ln() - LARGEST_EXPONENTIAL / self.size.to_f64() - raised
    }

    /// Returns whether draws of a shape that is raised by one are brought back by a power of a uniform number.
    #[inline(always)]
    fn is_raised(&self) -> bool {
        self.shape < T::from_f64(1.0)
    }

    /// Returns the logarithm of a draw of scale 1, which is never too small for its type.
    #[inline(always)]
    pub(super) fn ln_of(&self, taken: T, extra: T::Bits) -> T {
        let ln = self.size.ln() + T::from_f64(3.0) * taken.ln();
        if self.is_raised() { ln + T::uniform(extra).ln() / self.shape } else { ln }
    }
}

/// ln(1 + y) - y + y^2/2 - y^3/3
#[inline(always)]
fn bracket<T: FloatingPoint>(y: T, above: T) -> T {
    let number = T::from_f64;
    let written = ((above.ln() - y) + number(0.5) * y * y) - number(1.0 / 3.0) * y * y * y;
    let square = y * y;
    if y.abs() < number(SERIES_BELOW) { square * square * series(y) } else { written }
}

/// (ln(1 + y) - y + y^2/2 - y^3/3) / y^4 for |y| below [`SERIES_BELOW`].
#[inline(always)]
pub(super) fn series<T: FloatingPoint>(y: T) -> T {
    let number = T::from_f64;
    // 2e-9 of it is left out.
    let mut series = number(-1.0 / 12.0);
    series = series * y + number(1.0 / 11.0);
    series = series * y - number(1.0 / 10.0);
    series = series * y + number(1.0 / 9.0);
    series = series * y - number(1.0 / 8.0);
    series = series * y + number(1.0 / 7.0);
    series = series * y - number(1.0 / 6.0);
    series = series * y + number(1.0 / 5.0);
    series * y - number(1.0 / 4.0)
}

impl<T: FloatingPoint> Propose<T> for Gamma<T> {
    #[inline(always)]
    fn propose(&self, bits: [T::Bits; 2]) -> ([T; 2], T) {
        let y = self.spread * T::normal(bits[0]);
        ([T::from_f64(1.0) + y, T::default()], y)
    }

    #[inline(always)]
    fn takes(&self, y: T, bits: [T::Bits; 2]) -> bool {
        let above = T::from_f64(1.0) + y;
        let most = T::from_f64(3.0) * self.size * bracket(y, above);
        above > T::default() && T::uniform(bits[1]).ln() <= most
    }

    #[inline(always)]
    fn finish(&self, [above, _]: [T; 2], extra: T::Bits) -> T {
        let draw = self.scale * (self.size * (above * above * above));
        if self.is_raised() { draw * (T::uniform(extra).ln() / self.shape).exp() } else { draw }
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn needs_extra(&self) -> bool {
        self.is_raised()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of shapes 3 and 1/2, whose d is 8/3 and 7/6: no normal number is above 9, no logarithm of a uniform one below -38.
    #[test]
    fn draws_are_between_bounds_that_are_known() {
        for (shape, size, raised) in [(3.0, 8.0 / 3.0, 0.0), (0.5, 7.0 / 6.0, 76.0)] {
            let gamma = Gamma::new(shape, 1.0).unwrap();
            let largest = size * f64::powi(1.0 + 9.0 / f64::sqrt(9.0 * size), 3);
            assert!((gamma.largest() - largest).abs() < 1e-13 * largest, "{shape}: {}", gamma.largest());
            let least = size.ln() - 38.0 / size - raised;
            assert!((gamma.least_ln() - least).abs() < 1e-13 * least.abs(), "{shape}: {}", gamma.least_ln());
        }
    }

    /// The terms of ln(1 + y) from the fourth to the twelfth over y^4, added as they stand, and the whole by mpmath: what is
    /// left out is 2.4e-9 of it at the most.
    #[test]
    fn the_series_is_that_of_the_logarithm() {
        for y in [-0.125, -0.1, -0.03, 0.0, 0.05, 0.11, 0.125] {
            let expected: f64 = (4..=12).map(|k| -f64::powi(-y, k - 4) / f64::from(k)).sum();
            assert!((series(y) - expected).abs() < 1e-15, "{y}: {}, not {expected}", series(y));
        }
        for (y, whole) in [(-0.125, WHOLE[0]), (0.0625, WHOLE[1]), (0.125, WHOLE[2])] {
            assert!((series(y) / whole - 1.0).abs() < 2.4e-9, "{y}: {}, not {whole}", series(y));
        }
    }

    /// At an eighth on both sides, where the kernels have it: another seam would give other bits.
    #[test]
    fn the_bracket_is_its_series_below_an_eighth_and_what_is_written_from_there_on() {
        fn compare<T: FloatingPoint>() {
            for y in [-0.1251, -0.125, -0.1249, 0.1249, 0.125, 0.1251] {
                let [own, one, half, third] = [y, 1.0, 0.5, 1.0 / 3.0].map(T::from_f64);
                let written = (((one + own).ln() - own) + half * own * own) - third * own * own * own;
                let summed = own * own * (own * own) * series(own);
                assert!(written != summed, "{y}");
                let expected = if f64::abs(y) < 0.125 { summed } else { written };
                assert!(bracket(own, one + own) == expected, "{y} in {}", T::NAME);
            }
        }
        compare::<f64>();
        compare::<f32>();
    }

    const WHOLE: [f64; 3] = [-0.277_917_523_377_997_74, -0.238_117_971_459_489_96, -0.227_352_618_120_036_88];
}
