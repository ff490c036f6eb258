//! The first two derivatives of ln Gamma: [`digamma`] and [`trigamma`].
//!
//! Errors are in units in the last place.

use super::double::{Double, polynomial};
use super::logarithm::ln_terms;
use super::trigonometric::sin_cos_half_turns;
use std::f64::consts::PI;

/// (digamma(x) / (x - its zero) - its value at 3/2) / d of d = x - 3/2, for x in [1, 2].
const DIGAMMA_NEAR_ZERO: [f64; 22] = [
    -0.423_627_421_281_460_5,
    0.240_542_484_240_786_92,
    -0.148_404_923_053_908_84,
    0.094_988_724_452_909_01,
    -0.061_922_133_273_064_534,
    0.040_760_833_939_230_23,
    -0.026_975_796_756_138_25,
    0.017_907_248_381_547_378,
    -0.011_908_218_001_568_644,
    0.007_927_020_393_941_785,
    -0.005_279_964_873_257_405,
    0.003_518_124_975_605_679,
    -0.002_345_267_632_540_769,
    0.001_563_218_226_676_004_5,
    -0.001_037_637_409_841_860_4,
    0.000_691_711_527_637_616_7,
    -0.000_482_199_053_056_678_9,
    0.000_321_458_563_044_876_7,
    -0.000_151_485_868_367_733_65,
    0.000_100_989_415_881_336_3,
    -0.000_173_122_618_027_273_94,
    0.000_115_414_840_278_524_49,
];
/// x^2 (ln x - 1 / (2 x) - digamma(x)) of 1 / x^2, for x from 3 on.
const DIGAMMA: [f64; 12] = [
    0.083_333_333_333_333_26,
    -0.008_333_333_333_142_599,
    0.003_968_253_884_920_039,
    -0.004_166_652_178_650_307,
    0.007_574_430_608_818_69,
    -0.021_019_164_896_976_52,
    0.080_640_473_980_670_98,
    -0.374_300_450_817_251_44,
    1.745_863_355_876_884_3,
    -6.706_334_097_588_544,
    17.261_883_761_190_983,
    -21.298_613_337_013_407,
];
/// x^3 (trigamma(x) - 1 / x - 1 / (2 x^2)) of 1 / x^2, for x from 3 on.
const TRIGAMMA: [f64; 13] = [
    0.166_666_666_666_666_4,
    -0.033_333_333_332_561_24,
    0.023_809_523_413_200_01,
    -0.033_333_252_135_751_44,
    0.075_748_767_821_397_01,
    -0.252_530_666_210_041_17,
    1.141_019_910_172_982_8,
    -6.294_462_335_345_315,
    36.457_629_916_532_08,
    -187.778_392_267_231_4,
    737.145_296_866_696_1,
    -1_862.822_864_260_937_4,
    2_215.601_826_980_849_6,
];
/// digamma(3/2) / (3/2 - its zero)
const SLOPE_IN_MIDDLE: Double = Double::new(0.951_055_876_031_832_8, 4.330_743_078_649_653e-17);
const ZERO_OF_DIGAMMA: Double = Double::new(1.461_632_144_968_362_2, 9.549_995_429_965_697e-17);
/// The asymptotic formulas hold from here on.
const LARGE: f64 = 3.0;

/// Returns 1 - x for a negative x, x for others: where the functions are taken when they are reflected.
#[inline(always)]
fn reflected(x: f64) -> f64 {
    if x < 0.0 { 1.0 - x } else { x }
}

/// Computes the digamma function, the slope of ln Gamma: within 2 units for positive x, near its zero at 1.46 as well.
///
/// Negative x by reflection: within 4 units of the sum of its two terms' absolute values. -infinity at 0, NaN at the negative
/// integers.
///
/// In [1, 2] it is x less its zero times a polynomial; below and up to 3 one step away from there; beyond, the
/// asymptotic series.
#[inline(always)]
pub fn digamma(x: f64) -> f64 {
    let at = reflected(x);
    let (below, above, large) = (at < 1.0, at > 2.0, at >= LARGE);
    // One step up or down, exactly.
    let step = if below { 1.0 } else { 0.0 };
    let step = if above { -1.0 } else { step };
    let y = Double::sum(at, step);
    let beside = (y.high - ZERO_OF_DIGAMMA.high) + (y.low - ZERO_OF_DIGAMMA.low);
    let d = y.high - 1.5;
    let slope = Double::ordered_sum(SLOPE_IN_MIDDLE.high, SLOPE_IN_MIDDLE.low + d * polynomial(d, &DIGAMMA_NEAR_ZERO));
    let central = slope * beside;
    let divisor = if above { y.high } else { at };
    let divisor = if large { at } else { divisor };
    let inverse = Double::reciprocal(divisor);
    let sign = if below { -1.0 } else { 0.0 };
    let sign = if above { 1.0 } else { sign };
    let sum = Double::sum(central.high, sign * inverse.high);
    let middle = sum.high + (sum.low + (central.low + sign * inverse.low));
    let t = inverse.high * inverse.high;
    let series = 0.5 * inverse.high + t * polynomial(t, &DIGAMMA);
    let (of_exponent, of_mantissa) = ln_terms(Double::new(at, 0.0));
    let log = Double::ordered_sum(of_exponent, of_mantissa);
    let value = if large { log.high + (log.low - series) } else { middle };
    let (sine, cosine) = sin_cos_half_turns(x);
    let cotangent = if sine == 0.0 { f64::NAN } else { cosine / sine };
    let value = if x < 0.0 { value - PI * cotangent } else { value };
    let value = if x == 0.0 || at < 5.6e-309 { f64::NEG_INFINITY } else { value };
    if x == f64::INFINITY { x } else { value }
}

/// Computes the trigamma function, the slope of [`digamma`], within 2 units for positive x.
///
/// Negative x by reflection, within 7 units. Infinity at 0 and the negative integers.
///
/// Below 3 it is 1/x^2 and more such terms, and the asymptotic series of x + 1 or x + 3.
#[inline(always)]
pub fn trigamma(x: f64) -> f64 {
    let at = reflected(x);
    let (small, middle) = (at < 2.0, at < LARGE);
    let square = Double::product(at, at);
    let first = Double::new(1.0, 0.0).over(square);
    let (next, after) = (at + 1.0, at + 2.0);
    let (p, q) = (next * next, after * after);
    let rest = (p + q) / (p * q);
    let step = if middle { 1.0 } else { 0.0 };
    let step = if small { 3.0 } else { step };
    let y = at + step;
    let inverse = 1.0 / y;
    let t = inverse * inverse;
    let series = inverse + (0.5 * t + inverse * t * polynomial(t, &TRIGAMMA));
    let series = if small { rest + series } else { series };
    let sum = Double::sum(first.high, series);
    let value = if middle { sum.high + (sum.low + first.low) } else { series };
    // 1/x^2 is infinity before it can be split.
    let value = if at < 1e-154 { 1.0 / (at * at) } else { value };
    let (sine, _) = sin_cos_half_turns(x);
    let of_sine = PI / sine;
    let value = if x < 0.0 { of_sine * of_sine - value } else { value };
    if x == f64::NEG_INFINITY { f64::NAN } else { value }
}
