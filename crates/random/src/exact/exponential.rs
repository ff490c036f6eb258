//! e^x with 60 bits, and the exponential functions made of it: [`exp_m1`] and [`exp2`].
//!
//! Errors are in units in the last place.

use super::double::{Double, LN_2, nearest_integer, polynomial, power_of_two};
use super::{LN2_HIGH, LN2_LOW};
use std::f64::consts::LOG2_E;

/// (e^r - 1 - r) / r^2: 1 / (k + 2)!
const SERIES: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// e^x as `mantissa * 2^exponent`, with a mantissa of [0.7, 1.42].
#[derive(Clone, Copy)]
pub(super) struct Power {
    pub(super) mantissa: Double,
    pub(super) exponent: f64,
}

impl Power {
    /// Returns the nearest f64, rounded twice below the normal range.
    #[inline(always)]
    pub(super) fn rounded(self) -> f64 {
        scaled(self.mantissa.rounded(), self.exponent)
    }

    /// Returns `factor * e^x`.
    #[inline(always)]
    pub(super) fn times(self, factor: Double) -> Double {
        let product = self.mantissa * factor;
        Double::new(scaled(product.high, self.exponent), scaled(product.low, self.exponent))
    }
}

/// Returns `value * 2^exponent` for an exponent of -1100 to 1100: two factors, since one could lie outside the range.
#[inline(always)]
pub(super) fn scaled(value: f64, exponent: f64) -> f64 {
    let (half, _) = nearest_integer(0.5 * exponent);
    (value * power_of_two(half)) * power_of_two(exponent - half)
}

/// Returns e^(x.high + x.low). Beyond -760 and 720 it is e^-760 and e^720, which are 0 and infinity in f64. NaN stays.
#[inline(always)]
pub(super) fn power_of_e(x: Double) -> Power {
    let high = if x.high > 720.0 { 720.0 } else { x.high };
    let high = if high < -760.0 { -760.0 } else { high };
    // The low part of an infinity means nothing.
    let low = if high == x.high { x.low } else { 0.0 };
    let (exponent, r) = reduced(high, low);
    let tail = less_one(r);
    let sum = Double::ordered_sum(1.0, tail.high);
    Power { mantissa: Double::new(sum.high, sum.low + tail.low), exponent }
}

/// Returns n and r of x = n ln 2 + r, with |r| at most ln(2) / 2.
#[inline(always)]
fn reduced(high: f64, low: f64) -> (f64, Double) {
    let (n, _) = nearest_integer(high * LOG2_E);
    let near = high - n * LN2_HIGH;
    let r = Double::sum(near, -(n * LN2_LOW));
    // The low part of a large x is far more than the last digit of r.
    (n, Double::ordered_sum(r.high, r.low + low))
}

/// Returns e^r - 1 for |r| of at most 0.36.
#[inline(always)]
fn less_one(r: Double) -> Double {
    let beyond = (r.high * r.high) * polynomial(r.high, &SERIES) + (r.low + r.low * r.high);
    Double::ordered_sum(r.high, beyond)
}

/// Computes e^x - 1 with all its digits near 0, within 1.1 units; -1 below -38, infinity above 709.78.
#[inline(always)]
pub fn exp_m1(x: f64) -> f64 {
    let inside = if x > 720.0 { 720.0 } else { x };
    let inside = if inside < -60.0 { -60.0 } else { inside };
    let (n, r) = reduced(inside, 0.0);
    let tail = less_one(r);
    // Half of it, so that the largest power of two is within the range.
    let half = power_of_two(n - 1.0);
    let sum = Double::sum(half * tail.high, half - 0.5);
    let value = 2.0 * (sum.high + (sum.low + half * tail.low));
    let value = if x > 710.0 { f64::INFINITY } else { value };
    // Where the square vanishes beside the number; -0 and the smallest numbers with it.
    if x.abs() < 1e-17 { x } else { value }
}

/// Computes 2^x, within 0.9 units and exactly for integers; 0 below -1075, infinity from 1024 on.
#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    let inside = if x > 1030.0 { 1030.0 } else { x };
    let inside = if inside < -1080.0 { -1080.0 } else { inside };
    let (n, _) = nearest_integer(inside);
    let tail = less_one(LN_2 * (inside - n));
    scaled(1.0 + (tail.high + tail.low), n)
}
