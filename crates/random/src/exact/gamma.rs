//! The logarithm of the gamma function, and of the beta function and binomial coefficients, which are made of it.
//!
//! Errors are in units in the last place.

use super::double::{Double, polynomial};
use super::logarithm::logarithm;
use super::trigonometric::sin_cos_half_turns;
use std::f64::consts::FRAC_1_PI;

/// (ln Gamma(2 + d) / d - its slope at 2) / d, for |d| up to 1/2.
const LN_GAMMA_NEAR_TWO: [f64; 18] = [
    0.322_467_033_424_113_2,
    -0.067_352_301_053_198_1,
    0.020_580_808_427_783_38,
    -0.007_385_551_028_673_429,
    0.002_890_510_330_865_901,
    -0.001_192_753_911_762_55,
    0.000_509_669_519_652_667_3,
    -0.000_223_154_756_027_106_03,
    9.945_761_692_157_133e-5,
    -4.492_628_637_818_162e-5,
    2.050_601_970_174_762e-5,
    -9.438_919_596_277_18e-6,
    4.382_854_538_384_666_5e-6,
    -2.043_022_895_180_944e-6,
    9.242_852_225_162_277e-7,
    -4.345_417_367_026_049_6e-7,
    2.747_539_005_190_966_3e-7,
    -1.302_987_023_906_841_5e-7,
];
/// x times the rest of Stirling's formula, of 1 / x^2, for x from 2.5 on.
const STIRLING: [f64; 13] = [
    0.083_333_333_333_333_31,
    -0.002_777_777_777_742_570_4,
    0.000_793_650_781_074_078_9,
    -0.000_595_236_298_752_551_2,
    0.000_841_614_646_895_475_5,
    -0.001_911_206_127_327_831_2,
    0.006_214_168_835_939_92,
    -0.025_211_948_545_317_147,
    0.106_894_747_013_402_93,
    -0.397_302_016_794_845_67,
    1.111_319_794_174_670_4,
    -1.983_954_444_722_141,
    1.657_912_642_800_544_4,
];
/// 1 - Euler's constant: the slope of ln Gamma at 2.
const SLOPE_AT_TWO: Double = Double::new(0.422_784_335_098_467_13, 4.942_915_152_430_645e-18);
const HALF_LN_TWO_PI: Double = Double::new(0.918_938_533_204_672_8, -3.878_294_158_067_241_4e-17);
/// Stirling's formula holds from here on.
const LARGE: f64 = 2.5;

/// Returns ln Gamma(x) of a positive finite number, to 58 bits or more.
///
/// From 2.5 on by Stirling's formula. Below, by ln Gamma(2 + d) as d times a polynomial, from which ln x is taken when d
/// is x - 1, and ln(x (1 + x)) when it is x: the zeros at 1 and 2 are exact, and their neighbours have all digits.
#[inline(always)]
fn ln_gamma_of_positive(x: f64) -> Double {
    let (small, below) = (x < 0.5, x < 1.5);
    let next = Double::ordered_sum(1.0, x);
    let log = logarithm(Double::select(small, next * x, Double::new(x, 0.0))).natural();
    let d = if below { x - 1.0 } else { x - 2.0 };
    let d = if small { x } else { d };
    let slope = Double::ordered_sum(SLOPE_AT_TWO.high, SLOPE_AT_TWO.low + d * polynomial(d, &LN_GAMMA_NEAR_TWO));
    let central = slope * d + Double::select(below, -log, Double::ZERO);
    let stirling = log * (x - 0.5) + -x + HALF_LN_TWO_PI + stirling_rest(x);
    Double::select(x < LARGE, central, stirling)
}

/// What Stirling's formula leaves of ln Gamma(x), for x from 2.5 on.
#[inline(always)]
fn stirling_rest(x: f64) -> f64 {
    let inverse = 1.0 / x;
    inverse * polynomial(inverse * inverse, &STIRLING)
}

/// Computes ln |Gamma(x)|, within 2.1 units for positive x, near its zeros at 1 and 2 as well.
///
/// Negative x by reflection: within 4 units of the larger of its absolute value and 1, since its zeros between the integers
/// are not special. Infinity at 0, the negative integers and the infinities.
#[inline(always)]
pub fn ln_gamma(x: f64) -> f64 {
    let size = x.abs();
    let value = ln_gamma_of_positive(size);
    // Gamma(-x) Gamma(x) = -pi / (x sin(pi x))
    let sine = size * sin_cos_half_turns(x).0.abs() * FRAC_1_PI;
    let reflected = -(value.rounded() + super::ln(sine));
    let value = if x < -1e-20 { reflected } else { value.rounded() };
    let pole = size == 0.0 || size > 2.5e305 || (x < 0.0 && size >= 4_503_599_627_370_496.0);
    let value = if pole { f64::INFINITY } else { value };
    if x.is_nan() { x } else { value }
}

/// Returns ln B(a, b) of two positive finite numbers, to 58 bits or more of its largest term.
///
/// With s the smaller number and t the larger, ln Gamma(t) - ln Gamma(s + t) is made of Stirling's formula without its
/// large terms, which cancel. Where t is small it is taken three further up.
#[inline(always)]
fn ln_beta_of_positive(a: f64, b: f64) -> Double {
    let (s, t) = if a < b { (a, b) } else { (b, a) };
    let small = t < LARGE;
    let one = Double::new(1.0, 0.0);
    // Scaled by 2^200, since the smallest numbers have no inverse.
    let steps = |x: Double| x * f64::from_bits((1023 + 200) << 52) * (x + 1.0) * (x + 2.0);
    let risen =
        steps(Double::select(small, Double::sum(t, s), one)).over(steps(Double::new(if small { t } else { 1.0 }, 0.0)));
    let t = Double::ordered_sum(if small { 3.0 } else { t }, if small { t } else { 0.0 });
    let total = t + s;
    let ratio = Double::new(s, 0.0).over(t);
    let grown = Double::ordered_sum(1.0, ratio.high);
    let grown = logarithm(Double::new(grown.high, grown.low + ratio.low)).natural();
    let rests = stirling_rest(t.high) - stirling_rest(total.high);
    // The two large terms first, which are of one sign.
    let large = (t + -0.5) * grown + logarithm(total).natural() * s;
    logarithm(risen).natural() + rests + (ln_gamma_of_positive(s) + s + -large)
}

/// Computes ln B(a, b) = ln Gamma(a) + ln Gamma(b) - ln Gamma(a + b) for positive a and b, within 0.6 units of the larger
/// of its absolute value and 1.
///
/// Infinity where one is 0, -infinity where one is infinity, NaN below 0.
#[inline(always)]
pub fn lbeta(a: f64, b: f64) -> f64 {
    let value = ln_beta_of_positive(a, b).rounded();
    let value = if a == f64::INFINITY || b == f64::INFINITY { f64::NEG_INFINITY } else { value };
    let value = if a == 0.0 || b == 0.0 { f64::INFINITY } else { value };
    if a >= 0.0 && b >= 0.0 { value } else { f64::NAN }
}

/// Computes the logarithm of the binomial coefficient of real `n` over real `k`, -ln(n + 1) - ln B(n - k + 1, k + 1).
///
/// It is within 2.3 units of the largest of its absolute value, ln(n + 1) and 1: n - k is rounded where they are no integers.
///
/// 0 where k is 0 or n, -infinity where k is -1 or n + 1, NaN beyond.
#[inline(always)]
pub fn lchoose(n: f64, k: f64) -> f64 {
    let (a, b) = ((n - k) + 1.0, k + 1.0);
    let next = logarithm(Double::sum(n, 1.0)).natural();
    let value = -(ln_beta_of_positive(a, b) + next).rounded();
    let value = if a == 0.0 || b == 0.0 { f64::NEG_INFINITY } else { value };
    let value = if k == 0.0 || k == n { 0.0 } else { value };
    if a >= 0.0 && b >= 0.0 && n > -1.0 && n < f64::INFINITY { value } else { f64::NAN }
}
