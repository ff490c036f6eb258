//! exp, ln, tanh, sigmoid and the normal quantile in f32, made as in [`exact`](super) but for tanh, for kernels that
//! work in f32.
//!
//! Measured against the f64 functions: `exp` is within 1.0 units in the last place (every 97th number), `ln` within 2.0
//! (every positive normal number; 1.8e-7 relative), `tanh` within 2.5 (every number from 1e-6 on), the normal quantile within
//! 4.6e-7 relative (every normal number below 1).

use std::f32::consts::{LN_2, LOG2_E, SQRT_2};

/// ln 2 in two parts: the first has trailing zeros, so that its product with an exponent is exact.
const LN2_HIGH: f32 = 0.693_145_75;
const LN2_LOW: f32 = 1.428_606_8e-6;
/// 1.5 * 2^23: adding it rounds to an integer and leaves that integer in the low bits.
const ROUND: f32 = 12_582_912.0;
/// The same, and the bias of exponents: the low bits are an exponent.
const BIASED_ROUND: f32 = ROUND + 127.0;

/// Computes e^x; 0 below -87 and infinity above 88.
///
/// Range reduction by ln 2 and the Taylor polynomial of degree 7 on |r| <= ln(2)/2, in pairs, the one
/// added last: of the few digits that f32 has, none is lost to the sums before it.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Beyond the ends all of this means nothing, and is not asked for.
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let r2 = r * r;
    let p23 = 1.0 / 2.0 + r * (1.0 / 6.0);
    let p45 = 1.0 / 24.0 + r * (1.0 / 120.0);
    let p67 = 1.0 / 720.0 + r * (1.0 / 5040.0);
    let polynomial = 1.0 + (r + r2 * (p23 + r2 * (p45 + r2 * p67)));
    let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    let value = if x > 88.0 { f32::INFINITY } else { polynomial * scale };
    if x < -87.0 { 0.0 } else { value }
}

/// Returns the natural logarithm of a normal positive number; -infinity at 0 and below the normal range, NaN for
/// negative numbers.
///
/// 2 artanh((m - 1)/(m + 1)) with m in [sqrt(1/2), sqrt(2)].
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    ln_of_quotient(x, ln_quotient(x))
}

/// The first half of [`ln`], as that of f64 is.
#[inline(always)]
pub fn ln_quotient(x: f32) -> f32 {
    let (_, above, below) = ln_parts(x);
    above / below
}

/// The second half: `ln(x)`, given its [quotient](ln_quotient).
#[inline(always)]
pub fn ln_of_quotient(x: f32, quotient: f32) -> f32 {
    let (exponent, ..) = ln_parts(x);
    ln_of_parts(x, exponent, quotient)
}

/// Returns -ln(1 - x) for `x` of (0, 1/2], with its digits where it is small.
#[inline(always)]
pub fn minus_ln_of_rest(x: f32) -> f32 {
    let rest = 1.0 - x;
    let (exponent, above, below) = ln_parts(rest);
    let near = x < 0.25;
    let (exponent, above, below) = if near { (0.0, -x, 2.0 - x) } else { (exponent, above, below) };
    -ln_of_parts(rest, exponent, above / below)
}

/// Returns the exponent e of x = m 2^e with m in [sqrt(1/2), sqrt(2)], m - 1 and m + 1.
#[inline(always)]
fn ln_parts(x: f32) -> (f32, f32, f32) {
    let bits = x.to_bits();
    let mantissa = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
    let upper = mantissa > SQRT_2;
    let m = if upper { 0.5 * mantissa } else { mantissa };
    let exponent = f32::from_bits((bits >> 23) | 0x4b40_0000) - ROUND;
    let e = if upper { exponent - 126.0 } else { exponent - 127.0 };
    (e, m - 1.0, m + 1.0)
}

/// Returns ln x, given the exponent of its parts and the quotient `s` of the others.
#[inline(always)]
fn ln_of_parts(x: f32, e: f32, s: f32) -> f32 {
    let z = s * s;
    let z2 = z * z;
    let series = z * ((1.0 / 3.0 + z * (1.0 / 5.0)) + z2 * (1.0 / 7.0 + z * (1.0 / 9.0)));
    let value = e * LN2_HIGH + (2.0 * s + (2.0 * s * series + e * LN2_LOW));
    let value = if x < f32::MIN_POSITIVE { f32::NEG_INFINITY } else { value };
    let value = if x == f32::INFINITY { x } else { value };
    if x >= 0.0 { value } else { f32::NAN }
}

/// Computes the hyperbolic tangent, within 2.5 units in the last place.
///
/// |x| is n ln(2)/2 and a rest r of at most ln(2)/4: with w = 2^-n the tangent of the one is (1 - w)/(1 + w), that of the other
/// is a short polynomial p, and that of their sum is (1 - w + (1 + w) p) / (1 + w + (1 - w) p). Where n is 0 nothing is
/// lost to a 1. The way of f64, by e^(2|x|) - 1, has half as many operations again.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    // From 10 on the nearest number is 1. A NaN is not above, and stays.
    let size = x.abs();
    let size = if size > 10.0 { 10.0 } else { size };
    // The low bits are those of -n with the bias of an exponent.
    let shifted = BIASED_ROUND - size * (2.0 * LOG2_E);
    let minus_n = shifted - BIASED_ROUND;
    let w = f32::from_bits(shifted.to_bits() << 23);
    // One part of ln 2 is enough: it is off by 2e-9 and ends in three zero bits, so that products up to n = 8 are exact, and
    // from there on the slope of the tangent is below 0.02.
    let r = size + minus_n * (0.5 * LN_2);
    let r2 = r * r;
    // Found by search: with them the worst error of all numbers is the least.
    let p = r + (r * r2) * (-0.333_310_84 + r2 * 0.131_022_13);
    let (less, more) = (1.0 - w, 1.0 + w);
    let value = (less + more * p) / (more + less * p);
    f32::from_bits(value.to_bits() | (x.to_bits() & 0x8000_0000))
}

/// Computes e^x - 1 for x in [0, 80].
#[inline(always)]
pub fn exp_minus_one(x: f32) -> f32 {
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let r2 = r * r;
    let p23 = 1.0 / 2.0 + r * (1.0 / 6.0);
    let p45 = 1.0 / 24.0 + r * (1.0 / 120.0);
    let p67 = 1.0 / 720.0 + r * (1.0 / 5040.0);
    let polynomial = r + r2 * (p23 + r2 * (p45 + r2 * p67));
    let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    scale * polynomial + (scale - 1.0)
}

/// Computes the logistic function 1 / (1 + e^-x), within 2.5 units in the last place; 0 below -87.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    let small = exp(-x.abs());
    let above = if x < 0.0 { small } else { 1.0 };
    above / (1.0 + small)
}

/// Returns the quantile function of the standard normal distribution at `p` in (0, 1).
///
/// Wichura's algorithm AS 241 (PPND7, Applied Statistics 37, 1988), relative accuracy about 1e-7 by design.
#[expect(clippy::excessive_precision, reason = "the digits as Wichura published them")]
#[inline(always)]
pub fn normal_quantile(p: f32) -> f32 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * polynomial(r, [3.387_132_717_9, 5.043_427_193_8e1, 1.592_911_320_2e2, 5.910_937_472_0e1])
            / polynomial(r, [1.0, 1.789_516_946_9e1, 7.875_775_766_4e1, 6.718_756_360_0e1]);
    }
    let upper = p > 0.5;
    let radius = (-ln(if upper { 1.0 - p } else { p })).sqrt();
    let size = if radius <= 5.0 {
        let r = radius - 1.6;
        polynomial(r, [1.423_437_277_7, 2.756_815_390_0, 1.306_728_481_6, 1.702_382_110_3e-1])
            / polynomial(r, [1.0, 7.370_016_425_0e-1, 1.202_113_297_5e-1, 0.0])
    } else {
        let r = radius - 5.0;
        polynomial(r, [6.657_905_115_0, 3.081_226_386_0, 4.286_829_433_7e-1, 1.733_720_399_7e-2])
            / polynomial(r, [1.0, 2.419_789_422_5e-1, 1.225_820_263_5e-2, 0.0])
    };
    if upper { size } else { -size }
}

/// A polynomial of degree 3, lowest coefficient first, in Estrin's order.
#[inline(always)]
fn polynomial(x: f32, c: [f32; 4]) -> f32 {
    (c[0] + c[1] * x) + (c[2] + c[3] * x) * (x * x)
}

#[cfg(test)]
mod tests {
    use crate::exact;

    /// Returns the distance to `expected` in units of the last place of f32.
    fn units(got: f32, expected: f64) -> f64 {
        let near = (expected as f32).abs();
        (f64::from(got) - expected).abs() / f64::from(f32::from_bits(near.to_bits() + 1) - near)
    }

    fn numbers(first: f32, last: f32, step: usize) -> impl Iterator<Item = f32> {
        (first.to_bits()..last.to_bits()).step_by(step).map(f32::from_bits)
    }

    #[test]
    fn exp_is_accurate() {
        let both = numbers(1e-6, 87.0, 211).flat_map(|x| [x, -x]);
        let worst = both.map(|x| units(super::exp(x), f64::from(x).exp())).fold(0.0, f64::max);
        assert!(worst < 1.0, "{worst}");
        assert_eq!(super::exp(0.0), 1.0);
        assert_eq!(super::exp(-88.0), 0.0);
        assert_eq!(super::exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(super::exp(89.0), f32::INFINITY);
        assert!(super::exp(f32::NAN).is_nan());
    }

    #[test]
    fn ln_is_accurate() {
        let worst = numbers(f32::MIN_POSITIVE, f32::INFINITY, 1009)
            .filter(|x| *x != 1.0)
            .map(|x| units(super::ln(x), f64::from(x).ln()))
            .fold(0.0, f64::max);
        assert!(worst < 2.0, "{worst}");
        assert_eq!(super::ln(1.0), 0.0);
        assert_eq!(super::ln(0.0), f32::NEG_INFINITY);
        assert_eq!(super::ln(-0.0), f32::NEG_INFINITY);
        assert_eq!(super::ln(f32::MIN_POSITIVE / 2.0), f32::NEG_INFINITY);
        assert_eq!(super::ln(f32::INFINITY), f32::INFINITY);
        assert!(super::ln(-1.0).is_nan());
        assert!(super::ln(f32::NAN).is_nan());
    }

    #[test]
    fn tanh_is_accurate() {
        let both = numbers(f32::MIN_POSITIVE, 20.0, 211).flat_map(|x| [x, -x]);
        let worst = both.map(|x| units(super::tanh(x), f64::from(x).tanh())).fold(0.0, f64::max);
        assert!(worst < 2.5, "{worst}");
        assert!(numbers(7.0, 11.0, 1).all(|x| super::tanh(x) <= 1.0 && super::tanh(-x) == -super::tanh(x)));
        assert_eq!(super::tanh(-0.0).to_bits(), (-0.0_f32).to_bits());
        assert_eq!((super::tanh(f32::INFINITY), super::tanh(f32::NEG_INFINITY)), (1.0, -1.0));
        assert_eq!(super::tanh(1e-45), 1e-45);
        assert!(super::tanh(f32::NAN).is_nan());
    }

    #[test]
    fn sigmoid_is_accurate() {
        let both = numbers(1e-6, 87.0, 211).flat_map(|x| [x, -x]);
        let reference = |x: f64| 1.0 / (1.0 + (-x).exp());
        let worst = both.map(|x| units(super::sigmoid(x), reference(x.into()))).fold(0.0, f64::max);
        assert!(worst < 2.5, "{worst}");
        assert_eq!((super::sigmoid(0.0), super::sigmoid(-0.0)), (0.5, 0.5));
        assert_eq!((super::sigmoid(f32::INFINITY), super::sigmoid(f32::NEG_INFINITY)), (1.0, 0.0));
        assert!(super::sigmoid(f32::NAN).is_nan());
    }

    /// The f64 quantile is held to mpmath's in its own tests.
    #[test]
    fn quantile_is_accurate() {
        let worst = numbers(f32::MIN_POSITIVE, 1.0, 1013)
            .map(|p| (super::normal_quantile(p), exact::normal_quantile(f64::from(p))))
            .filter(|(_, expected)| *expected != 0.0)
            .map(|(got, expected)| (f64::from(got) - expected).abs() / expected.abs())
            .fold(0.0, f64::max);
        assert!(worst < 5e-7, "{worst:e}");
        assert_eq!(super::normal_quantile(0.5), 0.0);
    }
}
