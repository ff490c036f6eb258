//! The natural logarithm with 64 bits, and functions made of it: [`ln_1p`], [`log2`], [`log10`], [`logit`].
//!
//! Errors are in units in the last place. All have the digits of the result near their zeros.

use super::double::{Double, LOG2_E, LOG10_2, LOG10_E, TWO_TO_54, polynomial, power_of_two};
use super::{LN2_HIGH, LN2_LOW, ln_parts};

/// 2 artanh(s) / (2 s) = 1 + s^2 / 3 + s^4 (1 / 5 + s^2 / 7 + ...): the numbers in the bracket.
const SERIES: [f64; 12] = [
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
    1.0 / 23.0,
    1.0 / 25.0,
    1.0 / 27.0,
];
/// The same for 53 bits: 2 / 3 + 2 s^2 / 5 + ...
const SHORT_SERIES: [f64; 10] = [
    2.0 / 3.0,
    2.0 / 5.0,
    2.0 / 7.0,
    2.0 / 9.0,
    2.0 / 11.0,
    2.0 / 13.0,
    2.0 / 15.0,
    2.0 / 17.0,
    2.0 / 19.0,
    2.0 / 21.0,
];
const THIRD: Double = Double::new(1.0 / 3.0, 1.850_371_707_708_594e-17);

/// A number split into a power of two and a mantissa, x = 2^exponent (1 + beyond), with 1 + beyond in
/// [sqrt(1/2), sqrt(2)].
#[derive(Clone, Copy)]
struct Parts {
    exponent: f64,
    beyond: Double,
}

/// Splits `x.high + x.low`, which is positive and may lie below the normal range.
#[inline(always)]
fn parts(x: Double) -> Parts {
    let tiny = x.high < f64::MIN_POSITIVE;
    let factor = if tiny { TWO_TO_54 } else { 1.0 };
    let (e, beyond, _) = ln_parts(x.high * factor);
    // Above, the power of two is outside the range, and the low part is nothing beside a logarithm of 709.
    let back = power_of_two(-(if e > 1022.0 { 1022.0 } else { e }));
    let low = (x.low * factor) * back;
    Parts { exponent: if tiny { e - 54.0 } else { e }, beyond: Double::new(beyond, low) }
}

/// ln x as `exponent * ln 2 + rest`, or log2 x as `exponent + rest / ln 2`.
#[derive(Clone, Copy)]
pub(super) struct Logarithm {
    pub(super) exponent: f64,
    pub(super) rest: Double,
}

impl Logarithm {
    /// Returns the natural logarithm, to 64 bits.
    #[inline(always)]
    pub(super) fn natural(self) -> Double {
        // The products of the first part of ln 2 with exponents are exact.
        let of_exponent = Double::ordered_sum(self.exponent * LN2_HIGH, self.exponent * LN2_LOW);
        of_exponent + self.rest
    }
}

/// Returns the logarithm of a positive finite number; of others something that means nothing.
#[inline(always)]
pub(super) fn logarithm(x: Double) -> Logarithm {
    let Parts { exponent, beyond } = parts(x);
    // s = (m - 1) / (m + 1) in two parts.
    let above = Double::sum(beyond.high, beyond.low);
    let below = beyond.high + 2.0;
    let below_low = (beyond.high - (below - 2.0)) + beyond.low;
    let inverse = 1.0 / below;
    let s = above.high * inverse;
    let back = Double::product(s, below);
    let s_low = (((above.high - back.high) - back.low) + (above.low - s * below_low)) * inverse;
    let mut z = Double::product(s, s);
    z.low += 2.0 * s * s_low;
    let third = Double::product(z.high, THIRD.high);
    let third_low = third.low + (z.high * THIRD.low + z.low * THIRD.high);
    let series = (z.high * z.high) * polynomial(z.high, &SERIES);
    let factor = Double::ordered_sum(third.high, series);
    let twice = 2.0 * s;
    let more = Double::product(twice, factor.high);
    let low = more.low + (twice * (factor.low + third_low) + 2.0 * s_low * (1.0 + factor.high));
    let sum = Double::ordered_sum(twice, more.high);
    let rest = Double::ordered_sum(sum.high, sum.low + low);
    Logarithm { exponent, rest }
}

/// Returns ln(x.high + x.low) within 1.1 units, for a positive finite number; of others something that means nothing.
#[inline(always)]
pub(super) fn ln_of_sum(x: Double) -> f64 {
    let (of_exponent, of_mantissa) = ln_terms(x);
    of_exponent + of_mantissa
}

/// The two terms of [`ln_of_sum`]: the first part of exponent * ln 2, which is exact, and all else.
#[inline(always)]
pub(super) fn ln_terms(x: Double) -> (f64, f64) {
    let Parts { exponent, beyond } = parts(x);
    let f = beyond.high + beyond.low;
    let s = f / (2.0 + f);
    let z = s * s;
    let half_square = 0.5 * (f * f);
    let series = z * polynomial(z, &SHORT_SERIES);
    (exponent * LN2_HIGH, f - (half_square - (s * (half_square + series) + exponent * LN2_LOW)))
}

/// Returns the logarithm of a number that is not negative, given the value inside the range.
#[inline(always)]
fn at_the_ends(x: f64, value: f64) -> f64 {
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    let value = if x == f64::INFINITY { x } else { value };
    if x >= 0.0 { value } else { f64::NAN }
}

/// Computes ln(1 + x) with all its digits near 0, within 1.1 units; -infinity at -1, NaN below.
#[inline(always)]
pub fn ln_1p(x: f64) -> f64 {
    let sum = Double::sum(1.0, x);
    let value = at_the_ends(sum.high, ln_of_sum(sum));
    if x.abs() < 1e-17 { x } else { value }
}

/// Returns ln(1 + x.high + x.low) for a number of at least 0, within 1.1 units.
#[inline(always)]
pub(super) fn ln_1p_of_sum(x: Double) -> f64 {
    let sum = Double::sum(1.0, x.high);
    let value = ln_of_sum(Double::new(sum.high, sum.low + x.low));
    if x.high < 1e-17 { x.high } else { value }
}

/// Computes the logarithm to base 2, within 0.51 units and exactly for powers of two; also below the normal range.
#[inline(always)]
pub fn log2(x: f64) -> f64 {
    let Logarithm { exponent, rest } = logarithm(Double::new(x, 0.0));
    at_the_ends(x, (LOG2_E * rest + exponent).rounded())
}

/// Computes the logarithm to base 10, within 0.51 units and exactly for powers of ten; also below the normal range.
#[inline(always)]
pub fn log10(x: f64) -> f64 {
    let Logarithm { exponent, rest } = logarithm(Double::new(x, 0.0));
    at_the_ends(x, (LOG10_E * rest + LOG10_2 * exponent).rounded())
}

/// Computes ln(p / (1 - p)), within 1.4 units also near its zero at 1/2; -infinity at 0, infinity at 1, NaN outside.
#[inline(always)]
pub fn logit(p: f64) -> f64 {
    let rest = Double::ordered_sum(1.0, -p);
    let odds = Double::new(p, 0.0).over(rest);
    let value = at_the_ends(p, ln_of_sum(odds));
    let value = if p == 1.0 { f64::INFINITY } else { value };
    if p <= 1.0 { value } else { f64::NAN }
}
