//! Hyperbolic sine and cosine, and the inverse functions. [`tanh`](super::tanh) is older and stands by itself.
//!
//! Errors are in units in the last place.

use super::double::{Double, polynomial, with_sign_of};
use super::exponential::{Power, power_of_e, scaled};
use super::logarithm::{ln_1p_of_sum, ln_of_sum};
use std::f64::consts::LN_2;

/// From here on e^-x is nothing beside e^x.
const FAR: f64 = 25.0;

/// (sinh(x) / x - 1) / x^2 of x^2, for |x| up to 1.
const HYPERBOLIC_SINE: [f64; 7] = [
    0.166_666_666_666_666_66,
    0.008_333_333_333_333_299,
    0.000_198_412_698_413_241_98,
    2.755_731_919_138_181_6e-6,
    2.505_211_769_590_782_3e-8,
    1.605_767_962_380_163_8e-10,
    7.746_178_593_018_827e-13,
];

/// Computes sinh(x), within 1.0 units; infinity above 710.47.
#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    let size = x.abs();
    let z = size * size;
    let near = size + size * z * polynomial(z, &HYPERBOLIC_SINE);
    let half = half_of_power(size);
    let sum = Double::ordered_sum(half.high, -0.25 / half.high);
    let middle = sum.high + (sum.low + half.low);
    let value = if size < 1.0 { near } else { middle };
    with_sign_of(if size > FAR { half.rounded() } else { value }, x)
}

/// Computes cosh(x), within 0.9 units; infinity above 710.47.
#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    let size = x.abs();
    let half = half_of_power(size);
    let sum = Double::ordered_sum(half.high, 0.25 / half.high);
    let middle = sum.high + (sum.low + half.low);
    if size > FAR { half.rounded() } else { middle }
}

/// e^size / 2
#[inline(always)]
fn half_of_power(size: f64) -> Double {
    let Power { mantissa, exponent } = power_of_e(Double::new(size, 0.0));
    Double::new(scaled(mantissa.high, exponent - 1.0), scaled(mantissa.low, exponent - 1.0))
}

/// Computes the inverse hyperbolic sine, within 1.6 units.
///
/// ln(1 + x + x^2 / (1 + sqrt(1 + x^2))): its argument is small with x.
#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    let size = x.abs();
    // From here on it is ln(2 x).
    let far = size > 1e9;
    let inside = if far { 1e9 } else { size };
    let square = inside * inside;
    let more = square / (1.0 + (1.0 + square).sqrt());
    let near = Double::ordered_sum(inside, more);
    let value = if far { ln_of_sum(Double::new(size, 0.0)) + LN_2 } else { ln_1p_of_sum(near) };
    let value = if size < 1e-9 { size } else { value };
    with_sign_of(if size == f64::INFINITY { size } else { value }, x)
}

/// Computes the inverse hyperbolic cosine, within 1.5 units, of x from 1 on; NaN below.
///
/// ln(1 + t + sqrt(2 t + t^2)) with t = x - 1.
#[inline(always)]
pub fn acosh(x: f64) -> f64 {
    let far = x > 1e9;
    let inside = if far { 1e9 } else { x };
    let t = inside - 1.0;
    let square = Double::product(t, t) + 2.0 * t;
    let root = square.high.sqrt();
    let back = Double::product(root, root);
    let missing = (((square.high - back.high) - back.low) + square.low) / (root + root);
    let sum = Double::sum(root, t);
    let near = Double::new(sum.high, sum.low + if root > 0.0 { missing } else { 0.0 });
    let value = if far { ln_of_sum(Double::new(x, 0.0)) + LN_2 } else { ln_1p_of_sum(near) };
    let value = if x == f64::INFINITY { x } else { value };
    if x >= 1.0 { value } else { f64::NAN }
}

/// Computes the inverse hyperbolic tangent, within 1.4 units; infinity at 1, NaN beyond.
///
/// ln(1 + 2 x / (1 - x)) / 2 of |x|.
#[inline(always)]
pub fn atanh(x: f64) -> f64 {
    let size = x.abs();
    let ratio = Double::new(2.0 * size, 0.0).over(Double::ordered_sum(1.0, -size));
    let value = 0.5 * ln_1p_of_sum(ratio);
    let value = if size < 1e-9 { size } else { value };
    let value = if size == 1.0 { f64::INFINITY } else { value };
    with_sign_of(if size <= 1.0 { value } else { f64::NAN }, x)
}
