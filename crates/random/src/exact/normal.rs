//! The error function, and the distribution function of the standard normal distribution with its logarithm and inverse.
//!
//! All stand on one polynomial, (1 + 9/8 x) e^(x^2) erfc(x) over all x >= 0 as a function of (x - 4) / (x + 4), in the
//! way of Shepherd and Laframboise (Mathematics of Computation 36, 1981). Errors are in units in the last place.

use super::double::{Double, TWO_TO_54, polynomial, with_sign_of};
use super::exponential::{Power, power_of_e};
use super::logarithm::ln_of_sum;
use super::{FAR, ln, quantile_center, quantile_far_tail, quantile_near_tail};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, SQRT_2};

/// (the function of q - its value at 0) / q, for q = (x - 4) / (x + 4).
const SCALED_TAIL: [f64; 24] = [
    -0.191_879_149_555_391_48,
    0.104_340_913_834_464_66,
    -0.033_558_201_786_811_39,
    -0.009_163_084_533_410_987,
    0.025_115_050_344_338_97,
    -0.023_617_493_542_170_003,
    0.015_287_501_098_278_302,
    -0.007_334_860_075_793_146,
    0.002_480_865_159_252_326_7,
    -0.000_435_768_197_500_588,
    -7.752_690_758_284_028e-5,
    7.485_626_954_461_245e-5,
    -1.455_663_695_474_136e-5,
    -5.023_614_663_795_103e-6,
    3.031_556_060_776_769e-6,
    3.976_017_829_866_786_4e-8,
    -4.201_937_230_975_373_4e-7,
    5.486_447_623_129_533_7e-8,
    5.337_743_810_987_974_4e-8,
    -1.273_401_959_649_765_4e-8,
    -6.182_132_394_466_714e-9,
    1.944_741_642_303_116e-9,
    4.728_403_881_675_059e-10,
    -1.680_720_640_999_481_3e-10,
];
const TAIL_IN_MIDDLE: Double = Double::new(0.753_497_016_937_837_7, -1.593_002_646_588_486_7e-17);
/// (erf(x) / x - 2 / sqrt(pi)) / x^2 of x^2, for |x| up to 1/2.
const ERROR_FUNCTION: [f64; 9] = [
    -0.376_126_389_031_837_54,
    0.112_837_916_709_551,
    -0.026_866_170_645_104_09,
    0.005_223_977_624_325_344,
    -0.000_854_832_679_323_378_3,
    0.000_120_553_062_944_067_4,
    -1.492_382_961_345_287_2e-5,
    1.638_944_636_045_011_1e-6,
    -1.478_738_559_905_215_7e-7,
];
/// What 2 / sqrt(pi) has beyond the nearest f64.
const FRAC_2_SQRT_PI_LOW: f64 = 1.533_545_961_316_588e-17;
/// 1 / sqrt(2 pi): the normal density at 0.
const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
const ROOT_OF_TWO: Double = Double::new(SQRT_2, -9.667_293_313_452_913e-17);
const ROOT_OF_HALF: Double = Double::new(FRAC_1_SQRT_2, -4.833_646_656_726_457e-17);

/// Returns (1 + 9/8 x) e^(x^2) erfc(x) of an x of at least 0, given `x * scale` and `4 * scale`; it lies in [0.63, 1].
///
/// Its slope at 0 is nearly 0: there it does not feel that its argument is rounded.
#[inline(always)]
fn scaled_tail(x: f64, four: f64) -> Double {
    let q = 1.0 - (four + four) / (x + four);
    Double::ordered_sum(TAIL_IN_MIDDLE.high, TAIL_IN_MIDDLE.low + q * polynomial(q, &SCALED_TAIL))
}

/// Returns 9/8 x exactly.
#[inline(always)]
fn nine_eighths(x: f64) -> Double {
    Double::ordered_sum(x, 0.125 * x)
}

/// Returns erfc(x) for x of at least 0.
#[inline(always)]
fn upper_erfc(x: f64) -> Double {
    let x = if x > 30.0 { 30.0 } else { x };
    let power = power_of_e(-Double::product(x, x));
    power.times(scaled_tail(x, 4.0).over(nine_eighths(x) + 1.0))
}

/// Computes the error function, within 1.0 units.
#[inline(always)]
pub fn erf(x: f64) -> f64 {
    let size = x.abs();
    let z = size * size;
    let first = Double::product(size, FRAC_2_SQRT_PI);
    let rest = size * (z * polynomial(z, &ERROR_FUNCTION) + FRAC_2_SQRT_PI_LOW);
    let near = first.high + (first.low + rest);
    let value = if size < 0.5 { near } else { (-upper_erfc(size) + 1.0).high };
    with_sign_of(value, x)
}

/// Computes 1 - erf(x) with all its digits on the right, within 1.5 units; 0 above 27.23.
#[inline(always)]
pub fn erfc(x: f64) -> f64 {
    let upper = upper_erfc(x.abs());
    if x < 0.0 { (-upper + 2.0).high } else { upper.high }
}

/// Returns e^(-x^2 / 2) for x of at least 0: from 40 on it is 0 in f64.
#[inline(always)]
fn bell(size: f64) -> Power {
    let size = if size > 40.0 { 40.0 } else { size };
    let square = Double::product(size, size);
    power_of_e(Double::new(-0.5 * square.high, -0.5 * square.low))
}

/// Returns the probability of the standard normal distribution beyond `size`, at least 0.
#[inline(always)]
fn normal_tail(size: f64) -> Double {
    bell(size).times(normal_ratio(size))
}

/// Returns e^(x^2 / 2) erfc(x / sqrt(2)) / 2 for x of at least 0: the probability beyond x over sqrt(2 pi) times its density.
#[inline(always)]
fn normal_ratio(size: f64) -> Double {
    let size = if size > 1e300 { 1e300 } else { size };
    (scaled_tail(size, 4.0 * SQRT_2) * ROOT_OF_HALF).over(nine_eighths(size) + ROOT_OF_TWO)
}

/// Computes the distribution function of the standard normal distribution, within 1.4 units, also far on the left.
///
/// It is 0 below -38.5.
#[inline(always)]
pub fn phi(x: f64) -> f64 {
    let tail = normal_tail(x.abs());
    if x > 0.0 { (-tail + 1.0).high } else { tail.high }
}

/// Computes ln(phi(x)), within 1.8 units, on the left as far as the square of x is a number.
#[inline(always)]
pub fn ln_phi(x: f64) -> f64 {
    let size = x.abs();
    let ratio = normal_ratio(size);
    let upper = -normal_tail(size) + 1.0;
    let right = x > 0.0;
    let log = ln_of_sum(Double::select(right, upper, ratio));
    if right { log } else { log - 0.5 * (size * size) }
}

/// Computes the slope of [`ln_phi`], which is the normal density over [`phi`], within 2.4 units.
#[inline(always)]
pub fn ln_phi_slope(x: f64) -> f64 {
    let size = x.abs();
    let left = FRAC_1_SQRT_2PI / normal_ratio(size).high;
    let right = bell(size).times(Double::new(FRAC_1_SQRT_2PI, 0.0)).high / (-normal_tail(size) + 1.0).high;
    // Far on the left it is x + 1 / x.
    let left = if size > 1e17 { size } else { left };
    if x > 0.0 { right } else { left }
}

/// Returns the quantile function of the standard normal distribution, the inverse of [`phi`].
///
/// It is within 3 units at the 138 points of the tests' table; no more points were measured.
///
/// It has the bits of [`normal_quantile`](super::normal_quantile), takes numbers below the normal range as well, and is made
/// without branches; -infinity at 0, infinity at 1, NaN outside.
#[inline(always)]
pub fn inverse_phi(p: f64) -> f64 {
    let q = p - 0.5;
    let upper = p > 0.5;
    let size = if upper { 1.0 - p } else { p };
    // `ln` knows no number below the normal range.
    let tiny = size < f64::MIN_POSITIVE;
    let log = ln(if tiny { size * TWO_TO_54 } else { size });
    let r = (-(if tiny { log - 54.0 * LN_2 } else { log })).sqrt();
    let tail = if r <= FAR { quantile_near_tail(r) } else { quantile_far_tail(r) };
    let tail = if upper { tail } else { -tail };
    let value = if q.abs() <= 0.425 { quantile_center(q) } else { tail };
    let value = if p == 0.0 { f64::NEG_INFINITY } else { value };
    let value = if p == 1.0 { f64::INFINITY } else { value };
    if (0.0..=1.0).contains(&p) { value } else { f64::NAN }
}
