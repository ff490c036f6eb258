//! Sine, cosine and tangent of radians, and the arc functions.
//!
//! Errors are in units in the last place. [`circle`](super::circle) has sine and cosine of a part
//! of a turn, which draws on a circle are made of.

use super::circle::sin_cos_quarter;
use super::double::{Double, nearest_integer, polynomial, with_sign_of};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI};

/// pi/2 in three parts of 33 bits, whose products with integers up to 2^20 are exact, and the rest.
const HALF_PI: [f64; 4] =
    [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_711_166_5e-21, 8.478_427_660_368_9e-32];
/// What pi/2 has beyond the nearest f64.
const HALF_PI_LOW: f64 = 6.123_233_995_736_766e-17;
/// From here on nothing is known of the angle: 2^45.
const LOST: f64 = 35_184_372_088_832.0;

/// (sin(r) / r - 1) / r^2 of r^2, for |r| up to pi/4.
const SINE: [f64; 6] = [
    -0.166_666_666_666_666_66,
    0.008_333_333_333_330_948,
    -0.000_198_412_698_367_567_74,
    2.755_731_610_161_787_4e-6,
    -2.505_113_165_023_518e-8,
    1.591_811_526_326_597_4e-10,
];
/// (cos(r) - 1 + r^2 / 2) / r^4 of r^2.
const COSINE: [f64; 6] = [
    0.041_666_666_666_666_664,
    -0.001_388_888_888_888_739_8,
    2.480_158_729_876_456e-5,
    -2.755_731_727_114_514_4e-7,
    2.087_614_614_655_861e-9,
    -1.138_262_364_747_460_4e-11,
];
/// (arctan(r) / r - 1) / r^2 of r^2, for |r| up to 0.3.
const ARCTANGENT: [f64; 9] = [
    -0.333_333_333_333_333_26,
    0.199_999_999_999_822_85,
    -0.142_857_142_804_521_25,
    0.111_111_105_078_834_36,
    -0.090_908_743_452_561_49,
    0.076_911_783_900_070_75,
    -0.066_449_415_143_603_53,
    0.056_351_278_743_875_445,
    -0.036_901_301_319_845_06,
];
/// (arcsin(r) / r - 1) / r^2 of r^2, for |r| up to 1/2.
const ARCSINE: [f64; 13] = [
    0.166_666_666_666_666_69,
    0.074_999_999_999_984_33,
    0.044_642_857_146_355_43,
    0.030_381_944_138_531_247,
    0.022_372_172_942_149_89,
    0.017_352_392_720_869_973,
    0.013_971_212_973_552_933,
    0.011_479_177_415_184_906,
    0.010_322_814_350_185_78,
    0.005_457_506_718_640_358,
    0.017_400_879_442_694_02,
    -0.014_851_887_071_247_204,
    0.028_757_851_367_421_566,
];

/// An angle less its nearest multiple of pi/2: sine and cosine of the rest, and which of the four quarters it is in.
struct Angle {
    sine: Double,
    cosine: Double,
    quarter: u64,
}

/// Reduces an angle, and takes sine and cosine of the rest, which is at most pi/4.
#[inline(always)]
fn angle(x: f64) -> Angle {
    let (n, shifted) = nearest_integer(x * FRAC_2_PI);
    let first = x - n * HALF_PI[0];
    let second = Double::sum(first, -(n * HALF_PI[1]));
    let third = Double::sum(second.high, -(n * HALF_PI[2]));
    let r = Double::ordered_sum(third.high, (third.low + second.low) - n * HALF_PI[3]);
    // Numbers below 2^-26 are their own sine, -0 among them.
    let z = r.high * r.high;
    let half = 0.5 * z;
    // sin(r) = r + r^3 S(r^2) + low cos(r), cos(r) = 1 - r^2 / 2 + r^4 C(r^2) - low sin(r)
    let bend = r.high * z * polynomial(z, &SINE) + r.low * (1.0 - half);
    let sine = Double::ordered_sum(r.high, bend);
    let top = Double::ordered_sum(1.0, -half);
    let square = Double::product(r.high, r.high);
    let rest = z * z * polynomial(z, &COSINE) - r.high * r.low;
    let cosine = Double::ordered_sum(top.high, top.low + (rest - 0.5 * square.low));
    Angle { sine, cosine, quarter: shifted.to_bits() & 3 }
}

/// Changes the sign of a number where the bit 1 of `quarter` is set.
#[inline(always)]
fn turned(value: f64, quarter: u64) -> f64 {
    f64::from_bits(value.to_bits() ^ ((quarter & 2) << 62))
}

/// NaN where an angle is lost.
#[inline(always)]
fn known(x: f64, value: f64) -> f64 {
    if x.abs() < LOST { value } else { f64::NAN }
}

/// Computes the sine of `x` radians, within 0.9 units for |x| up to 10^6.
///
/// Beyond, it is the sine of a number that is within 1 unit in the last place of `x`; NaN from 2^45 (3.5e13) on.
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    let Angle { sine, cosine, quarter } = angle(x);
    let value = turned(Double::select(quarter & 1 == 0, sine, cosine).rounded(), quarter);
    known(x, if x == 0.0 { x } else { value })
}

/// Computes the cosine of `x` radians, within 0.9 units for |x| up to 10^6; beyond it is as [`sin`].
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    let Angle { sine, cosine, quarter } = angle(x);
    known(x, turned(Double::select(quarter & 1 == 0, cosine, sine).rounded(), quarter.wrapping_add(1)))
}

/// Computes the tangent of `x` radians, within 1.0 units for |x| up to 10^6; beyond it is as [`sin`].
#[inline(always)]
pub fn tan(x: f64) -> f64 {
    let Angle { sine, cosine, quarter } = angle(x);
    let even = quarter & 1 == 0;
    let above = Double::select(even, sine, cosine);
    let below = Double::select(even, cosine, sine);
    let value = above.over(below).rounded();
    let value = f64::from_bits(value.to_bits() ^ (quarter & 1) << 63);
    known(x, if x == 0.0 { x } else { value })
}

/// Returns sin(pi r) and cos(pi r), where r is `x` less the nearest integer; r is 0 from 2^51 on, or means nothing.
#[inline(always)]
pub(super) fn sin_cos_half_turns(x: f64) -> (f64, f64) {
    let (n, _) = nearest_integer(x);
    let r = x - n;
    let quarters = 2.0 * r.abs();
    let far = quarters > 0.5;
    let (sine, cosine) = sin_cos_quarter(if far { 1.0 - quarters } else { quarters });
    let (sine, cosine) = if far { (cosine, sine) } else { (sine, cosine) };
    (if r < 0.0 { -sine } else { sine }, cosine)
}

/// Computes the arctangent, within 1.0 units.
///
/// The arctangent of (|x| - c) / (1 + c |x|) is the one of |x| less the one of c: with c of 0, 1/2 or 1 the quotient is at
/// most 0.3. Where |x| is above 1, it is 1 / |x| from which c is taken.
#[inline(always)]
pub fn atan(x: f64) -> f64 {
    let size = x.abs();
    // Beyond, it is pi/2 to all digits; products with infinity mean nothing.
    let size = if size > 1e20 { 1e20 } else { size };
    let steep = size > 1.0;
    let small = if steep { 1.0 } else { size };
    let big = if steep { size } else { 1.0 };
    let (some, most) = (small > 0.3 * big, small > 0.8 * big);
    let c = if some { 0.5 } else { 0.0 };
    let c = if most { 1.0 } else { c };
    let r = (small - c * big) / (big + c * small);
    let base = if some { 0.463_647_609_000_806_1 } else { 0.0 };
    let base = if most { FRAC_PI_4 } else { base };
    let low = if some { 2.269_877_745_296_168_7e-17 } else { 0.0 };
    let low = if most { 0.5 * HALF_PI_LOW } else { low };
    let z = r * r;
    let bend = r * z * polynomial(z, &ARCTANGENT);
    let inner = Double::ordered_sum(base, r);
    let rest = inner.low + (bend + low);
    // pi/2 less the whole: its sum with the first part is exact.
    let outer = Double::ordered_sum(FRAC_PI_2, -inner.high);
    let value = if steep { outer.high + (outer.low + (HALF_PI_LOW - rest)) } else { inner.high + rest };
    with_sign_of(value, x)
}

/// The parts of arc sine and arc cosine: whether |x| is above 1/2, and the arc sine of |x|, or of sqrt((1 - |x|) / 2).
#[inline(always)]
fn arc(size: f64) -> (bool, Double) {
    let far = size > 0.5;
    let z = if far { 0.5 - 0.5 * size } else { size * size };
    let root = z.sqrt();
    let s = if far { root } else { size };
    let square = Double::product(root, root);
    let missing = ((z - square.high) - square.low) / (root + root);
    let missing = if far && z > 0.0 { missing } else { 0.0 };
    (far, Double::ordered_sum(s, s * z * polynomial(z, &ARCSINE) + missing))
}

/// Computes the arc sine, within 0.7 units; NaN outside [-1, 1].
#[inline(always)]
pub fn asin(x: f64) -> f64 {
    let (far, part) = arc(x.abs());
    let beyond = Double::ordered_sum(FRAC_PI_2, -2.0 * part.high);
    let of_far = beyond.high + (beyond.low + (HALF_PI_LOW - 2.0 * part.low));
    with_sign_of(if far { of_far } else { part.rounded() }, x)
}

/// Computes the arc cosine, within 0.7 units; NaN outside [-1, 1].
#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let (far, part) = arc(x.abs());
    let negative = x < 0.0;
    // pi less twice the part, twice the part, or pi/2 less the part with the sign of x.
    let twice = Double::new(2.0 * part.high, 2.0 * part.low);
    let signed = Double::select(negative, -part, part);
    let from = Double::select(far, twice, signed);
    let whole = Double::select(far, Double::new(PI, 2.0 * HALF_PI_LOW), Double::new(FRAC_PI_2, HALF_PI_LOW));
    let beyond = Double::ordered_sum(whole.high, -from.high);
    let rest = beyond.high + (beyond.low + (whole.low - from.low));
    if far && !negative { twice.rounded() } else { rest }
}
