//! Exact exp, ln, tanh, sigmoid and the normal quantile: elementary functions with the same bits on every processor.
//!
//! They are made of `+ - * /`, square roots and bit moves only.
//!
//! Each operation is correctly rounded by IEEE 754 on every processor, none may be contracted, so the
//! results have the same bits on a CPU and on a GPU. They are written without branches where that lets a
//! loop over them become vector code. Accuracy is a few units in the last place, which is what sampling needs.
//!
//! [`exp`], [`ln`], [`tanh`], [`sigmoid`] and [`normal_quantile`] draw random numbers, and never change a bit. The other
//! functions are for models: [`pow`], [`ln_gamma`], [`phi`] and so on. They have no branches, and one formula or a choice
//! between two or three for all arguments, so that a loop over each becomes vector code. Worst errors stand with each
//! function, in units in the last place of the value. They were measured against MPFR at 200 bits, at 24,000 to 200,000
//! points, but `trigamma` at 7,500 and negative arguments of the gamma functions at 1,500 to 12,000.
//! `tests/data/make_exact_polynomials.py` makes the polynomials, `tests/data/make_exact.py` the values of the tests.
//!
//! The functions here are for f64, in [`single`] for f32. `kernels/include/octopus/math.cuh` has both for GPUs,
//! operation by operation but for the bit moves of `ln`: whoever changes one changes the other, and
//! `tests/host_bits.rs` compares them. `kernels/include/octopus/exact` has, file by file, the functions for models that
//! are operations of a program: `ln_1p`, `exp_m1`, `pow`, `ln_gamma`, `digamma`, `trigamma`, `phi`, `ln_phi`,
//! `ln_phi_slope`, `sin`, `cos` and `atan`.

pub mod circle;
mod digamma;
mod double;
mod exponential;
mod gamma;
mod hyperbolic;
mod log_scale;
mod logarithm;
mod normal;
mod power;
pub mod single;
#[cfg(test)]
mod table;
mod trigonometric;

pub use digamma::{digamma, trigamma};
pub use exponential::{exp_m1, exp2};
pub use gamma::{lbeta, lchoose, ln_gamma};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh};
pub use log_scale::{inv_cloglog, inv_logit, log_diff_exp, log_sum_exp, log1m_exp, log1p_exp};
pub use logarithm::{ln_1p, log2, log10, logit};
pub use normal::{erf, erfc, inverse_phi, ln_phi, ln_phi_slope, phi};
pub use power::{cbrt, pow};
pub use trigonometric::{acos, asin, atan, cos, sin, tan};

use std::f64::consts::{LOG2_E, SQRT_2};

/// ln 2 in two parts: the first has trailing zeros, so that its product with an exponent is exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1.5 * 2^52: adding it rounds to an integer and leaves that integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Computes e^x; 0 below -708 and infinity above 709.
///
/// Some of these results are numbers in f64, and would take one more product: draws have the bits of today. [`exp2`] and
/// [`pow`] know numbers below the normal range.
///
/// Range reduction by ln 2 and the Taylor polynomial of degree 13 on |r| <= ln(2)/2 in Estrin's order,
/// which has a third of the latency of Horner's.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    // Beyond the ends all of this means nothing, and is not asked for.
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let r2 = r * r;
    let r4 = r2 * r2;
    let p01 = 1.0 + r;
    let p23 = 1.0 / 2.0 + r * (1.0 / 6.0);
    let p45 = 1.0 / 24.0 + r * (1.0 / 120.0);
    let p67 = 1.0 / 720.0 + r * (1.0 / 5040.0);
    let p89 = 1.0 / 40_320.0 + r * (1.0 / 362_880.0);
    let p1011 = 1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0);
    let p1213 = 1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0);
    let low = p01 + r2 * p23;
    let middle = p45 + r2 * p67;
    let high = (p89 + r2 * p1011) + r4 * p1213;
    let polynomial = low + r4 * (middle + r4 * high);
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let value = polynomial * scale;
    let value = if x > 709.0 { f64::INFINITY } else { value };
    if x < -708.0 { 0.0 } else { value }
}

/// Returns the natural logarithm of a normal positive number; -infinity at 0 and below the normal range, NaN for
/// negative numbers.
///
/// 2 artanh((m - 1)/(m + 1)) with m in [sqrt(1/2), sqrt(2)].
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    ln_of_quotient(x, ln_quotient(x))
}

/// The first half of [`ln`], its quotient (m - 1)/(m + 1): a loop over each half is faster than one over the whole, since
/// a processor has more elements under way when each is soon done.
#[inline(always)]
pub fn ln_quotient(x: f64) -> f64 {
    let (_, above, below) = ln_parts(x);
    above / below
}

/// The second half: `ln(x)`, given its [quotient](ln_quotient).
#[inline(always)]
pub fn ln_of_quotient(x: f64, quotient: f64) -> f64 {
    let (exponent, ..) = ln_parts(x);
    ln_of_parts(x, exponent, quotient)
}

/// Returns -ln(1 - x) for `x` of (0, 1/2], with its digits where it is small.
#[inline(always)]
pub fn minus_ln_of_rest(x: f64) -> f64 {
    let rest = 1.0 - x;
    let (exponent, above, below) = ln_parts(rest);
    // Here 1 - x is a mantissa itself, and its distance from 1 is known to all digits.
    let near = x < 0.25;
    let (exponent, above, below) = if near { (0.0, -x, 2.0 - x) } else { (exponent, above, below) };
    -ln_of_parts(rest, exponent, above / below)
}

/// Returns the exponent e of x = m 2^e with m in [sqrt(1/2), sqrt(2)], m - 1 and m + 1.
#[inline(always)]
fn ln_parts(x: f64) -> (f64, f64, f64) {
    // The kernels' twin chooses between two mantissas; this has the same numbers by fewer operations. The upper bits of the
    // distance from sqrt(1/2) are the exponent, and without them x is the mantissa.
    let bits = x.to_bits();
    let distance = bits.wrapping_sub(SQRT_2.to_bits() + 1 - (1 << 52));
    let m = f64::from_bits(bits.wrapping_sub(distance & 0xfff0_0000_0000_0000));
    // The exponent as a real number through the same rounding trick as in `exp`: integer conversions of
    // 64 bits are no vector instruction before AVX-512.
    let above_zero = distance.wrapping_add(1024 << 52) >> 52;
    let e = f64::from_bits(above_zero | 0x4338_0000_0000_0000) - (ROUND + 1024.0);
    (e, m - 1.0, m + 1.0)
}

/// Returns ln x, given the exponent of its parts and the quotient `s` of the others.
#[inline(always)]
fn ln_of_parts(x: f64, e: f64, s: f64) -> f64 {
    let z = s * s;
    let z2 = z * z;
    let z4 = z2 * z2;
    let low = (1.0 / 3.0 + z * (1.0 / 5.0)) + z2 * (1.0 / 7.0 + z * (1.0 / 9.0));
    let high = (1.0 / 11.0 + z * (1.0 / 13.0)) + z2 * (1.0 / 15.0 + z * (1.0 / 17.0));
    let tail = 1.0 / 19.0 + z * (1.0 / 21.0);
    let series = z * (low + z4 * (high + z4 * tail));
    let value = e * LN2_HIGH + (2.0 * s + (2.0 * s * series + e * LN2_LOW));
    let value = if x < f64::MIN_POSITIVE { f64::NEG_INFINITY } else { value };
    let value = if x == f64::INFINITY { x } else { value };
    if x >= 0.0 { value } else { f64::NAN }
}

/// Computes the hyperbolic tangent, within 2.5 units in the last place.
///
/// With t = e^(2|x|) - 1 it is t / (t + 2), and t is made without the 1: near 0 no digit is lost.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    // From 20 on the nearest number is 1. A NaN is not above, and stays.
    let size = x.abs();
    let size = if size > 20.0 { 20.0 } else { size };
    let grown = exp_minus_one(size + size);
    let value = grown / (grown + 2.0);
    f64::from_bits(value.to_bits() | (x.to_bits() & 0x8000_0000_0000_0000))
}

/// Computes e^x - 1 for x in [0, 80]: 2^n (e^r - 1) + (2^n - 1), the polynomial being that of [`exp`] without its 1.
#[inline(always)]
pub fn exp_minus_one(x: f64) -> f64 {
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let r2 = r * r;
    let r4 = r2 * r2;
    let p23 = 1.0 / 2.0 + r * (1.0 / 6.0);
    let p45 = 1.0 / 24.0 + r * (1.0 / 120.0);
    let p67 = 1.0 / 720.0 + r * (1.0 / 5040.0);
    let p89 = 1.0 / 40_320.0 + r * (1.0 / 362_880.0);
    let p1011 = 1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0);
    let p1213 = 1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0);
    let low = p23 + r2 * p45;
    let high = (p67 + r2 * p89) + r4 * (p1011 + r2 * p1213);
    let polynomial = r + r2 * (low + r4 * high);
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    scale * polynomial + (scale - 1.0)
}

/// Computes the logistic function 1 / (1 + e^-x), within 2.5 units in the last place; 0 below -708.
///
/// Only e^-|x| is asked for, which is at most 1: on the left of 0 it is above the line as well.
#[inline(always)]
pub fn sigmoid(x: f64) -> f64 {
    let small = exp(-x.abs());
    let above = if x < 0.0 { small } else { 1.0 };
    above / (1.0 + small)
}

/// Returns the quantile function of the standard normal distribution at `p` in (0, 1).
///
/// Wichura's algorithm AS 241 (PPND16, Applied Statistics 37, 1988), relative accuracy about 1e-16.
///
/// `octopus-diag` has the algorithm too, for statistics that are ArviZ's to the last digits: it may know no crate that
/// draws, and this one, whose bits are those of the kernels, adds in another order with another logarithm.
#[inline(always)]
pub fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 { quantile_center(q) } else { quantile_tail(p) }
}

/// AS 241 for |p - 1/2| <= 0.425, given q = p - 1/2.
#[inline(always)]
pub(crate) fn quantile_center(q: f64) -> f64 {
    let r = 0.180625 - q * q;
    let numerator = polynomial(
        r,
        [
            3.387_132_872_796_366_5,
            1.331_416_678_917_843_8e2,
            1.971_590_950_306_551_4e3,
            13_731.693_765_509_46,
            4.592_195_393_154_987e4,
            67_265.770_927_008_7,
            33_430.575_583_588_13,
            2.509_080_928_730_122_7e3,
        ],
    );
    let denominator = polynomial(
        r,
        [
            1.0,
            4.231_333_070_160_091e1,
            6.871_870_074_920_579e2,
            5.394_196_021_424_751e3,
            2.121_379_430_158_659_7e4,
            3.930_789_580_009_271e4,
            2.872_908_573_572_194_3e4,
            // The paper has 5.226_495_278_852_854_561e3. All draws have the bits of this one, and the quotient moves by
            // 2e-17 of itself at most, so that it stays.
            5.226_495_278_852_545e3,
        ],
    );
    q * numerator / denominator
}

/// AS 241 in the tails.
#[inline]
fn quantile_tail(p: f64) -> f64 {
    let upper = p > 0.5;
    let r = tail_radius(p);
    let value = if r <= FAR { quantile_near_tail(r) } else { quantile_far_tail(r) };
    if upper { value } else { -value }
}

/// Beyond this radius, |x| > 6.7, the third approximation of AS 241 holds.
pub(crate) const FAR: f64 = 5.0;

/// sqrt(-ln(min(p, 1 - p)))
#[inline(always)]
pub(crate) fn tail_radius(p: f64) -> f64 {
    (-ln(if p > 0.5 { 1.0 - p } else { p })).sqrt()
}

/// |x| at a radius up to [`FAR`].
#[inline(always)]
pub(crate) fn quantile_near_tail(r: f64) -> f64 {
    let r = r - 1.6;
    polynomial(
        r,
        [
            1.423_437_110_749_683_5,
            4.630_337_846_156_546,
            5.769_497_221_460_691,
            3.647_848_324_763_204_5,
            1.270_458_252_452_368_4,
            2.417_807_251_774_506e-1,
            2.272_384_498_926_918_4e-2,
            7.745_450_142_783_414e-4,
        ],
    ) / polynomial(
        r,
        [
            1.0,
            2.053_191_626_637_759,
            1.676_384_830_183_803_8,
            6.897_673_349_851e-1,
            1.481_039_764_274_800_8e-1,
            1.519_866_656_361_645_7e-2,
            5.475_938_084_995_345e-4,
            1.050_750_071_644_416_9e-9,
        ],
    )
}

/// |x| at a radius above [`FAR`].
#[inline]
pub(crate) fn quantile_far_tail(r: f64) -> f64 {
    let r = r - 5.0;
    polynomial(
        r,
        [
            6.657_904_643_501_103,
            5.463_784_911_164_114,
            1.784_826_539_917_291_3,
            2.965_605_718_285_048_7e-1,
            2.653_218_952_657_612_4e-2,
            1.242_660_947_388_078_4e-3,
            2.711_555_568_743_487_6e-5,
            2.010_334_399_292_288_1e-7,
        ],
    ) / polynomial(
        r,
        [
            1.0,
            5.998_322_065_558_88e-1,
            1.369_298_809_227_358e-1,
            1.487_536_129_085_061_5e-2,
            7.868_691_311_456_133e-4,
            1.846_318_317_510_054_8e-5,
            1.421_511_758_316_446e-7,
            2.044_263_103_389_939_8e-15,
        ],
    )
}

/// A polynomial of degree 7, lowest coefficient first, in Estrin's order.
#[inline(always)]
fn polynomial(x: f64, c: [f64; 8]) -> f64 {
    let x2 = x * x;
    let x4 = x2 * x2;
    ((c[0] + c[1] * x) + (c[2] + c[3] * x) * x2) + ((c[4] + c[5] * x) + (c[6] + c[7] * x) * x2) * x4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(a: f64, b: f64) -> f64 {
        (a - b).abs() / b.abs().max(1e-300)
    }

    #[test]
    fn exp_is_accurate() {
        let worst = (-70_000..70_000)
            .map(|i| f64::from(i) * 0.010_101)
            .filter(|x| (-707.0..708.0).contains(x))
            .map(|x| relative(exp(x), x.exp()))
            .fold(0.0, f64::max);
        assert!(worst < 5e-16, "{worst:e}");
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1000.0), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(1000.0), f64::INFINITY);
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn ln_is_accurate() {
        let worst = (1..200_000)
            .map(|i| f64::from(i) * 1.000_37e-4)
            .chain((-1000..1000).map(|k| 2f64.powi(k) * 1.3))
            .map(|x| (ln(x) - x.ln()).abs() / x.ln().abs().max(1e-3))
            .fold(0.0, f64::max);
        assert!(worst < 6e-16, "{worst:e}");
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
        assert!(ln(-1.0).is_nan());
        assert!(ln(f64::NAN).is_nan());
    }

    /// On both sides of each power of two, and of the root of 2 between two of them.
    #[test]
    fn the_parts_of_a_logarithm_are_those_of_the_kernels_twin() {
        let twin = |x: f64| {
            let mantissa = f64::from_bits(x.to_bits() & 0x000f_ffff_ffff_ffff | 1f64.to_bits());
            let exponent = f64::from((x.to_bits() >> 52) as u32) - 1023.0;
            let (e, m) = if mantissa > SQRT_2 { (exponent + 1.0, 0.5 * mantissa) } else { (exponent, mantissa) };
            (e, m - 1.0, m + 1.0)
        };
        for power in [-1000, -53, -2, -1, 0, 1, 7, 1000] {
            for middle in [1.0, SQRT_2] {
                for step in 0..5 {
                    let x = f64::from_bits((middle * 2f64.powi(power)).to_bits() + step - 2);
                    assert_eq!(ln_parts(x), twin(x), "{x:e}");
                }
            }
        }
    }

    /// Returns the distance of `got` to `expected` in units of the last place of `expected`.
    fn units(got: f64, expected: f64) -> f64 {
        let near = expected.abs();
        (got - expected).abs() / (f64::from_bits(near.to_bits() + 1) - near)
    }

    #[test]
    fn tanh_is_accurate() {
        let near = (1..200_000).map(|i| f64::from(i) * 1.000_37e-4);
        let tiny = (-1020..0).flat_map(|k| [1.0, 1.3, 1.9].map(|m| m * 2f64.powi(k)));
        let worst = near.chain(tiny).map(|x| units(tanh(x), x.tanh())).fold(0.0, f64::max);
        // The library's own error, of 1 unit at most, is in it.
        assert!(worst < 3.5, "{worst}");
        assert_eq!(tanh(0.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(tanh(-0.0).to_bits(), (-0.0_f64).to_bits());
        assert_eq!((tanh(19.5), tanh(1e300), tanh(f64::INFINITY)), (1.0, 1.0, 1.0));
        assert_eq!((tanh(-0.3), tanh(f64::NEG_INFINITY)), (-tanh(0.3), -1.0));
        assert_eq!(tanh(5e-324), 5e-324);
        assert!(tanh(f64::NAN).is_nan());
    }

    #[test]
    fn exp_minus_one_is_accurate() {
        let near = (1..160_000).map(|i| f64::from(i) * 5.000_37e-4);
        let tiny = (-1020..0).flat_map(|k| [1.0, 1.3, 1.9].map(|m| m * 2f64.powi(k)));
        let worst = near.clone().chain(tiny).map(|x| units(exp_minus_one(x), x.exp_m1())).fold(0.0, f64::max);
        assert!(worst < 3.5, "{worst}");
        let of_f32 = |x: f64| relative(single::exp_minus_one(x as f32).into(), f64::from(x as f32).exp_m1());
        let worst = near.map(of_f32).fold(0.0, f64::max);
        assert!(worst < 3e-7, "{worst:e}");
        assert_eq!((exp_minus_one(0.0), single::exp_minus_one(0.0)), (0.0, 0.0));
    }

    #[test]
    fn sigmoid_is_accurate() {
        let reference = |x: f64| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
        let points = (-70_700..70_700).map(|i| f64::from(i) * 0.01);
        let worst = points.map(|x| units(sigmoid(x), reference(x))).fold(0.0, f64::max);
        assert!(worst < 4.5, "{worst}");
        assert_eq!((sigmoid(0.0), sigmoid(-0.0)), (0.5, 0.5));
        assert_eq!((sigmoid(f64::INFINITY), sigmoid(f64::NEG_INFINITY), sigmoid(-709.0)), (1.0, 0.0, 0.0));
        assert!(sigmoid(f64::NAN).is_nan());
    }

    /// Values of mpmath 1.3 at 40 digits, to the nearest f64.
    #[test]
    fn tanh_and_sigmoid_are_those_of_mpmath() {
        let cases = [
            (1.0e-300, 1.0e-300, 0.5),
            (1.0e-08, 1.0e-08, 0.500_000_002_5),
            (0.01, 0.009_999_666_679_999_46, 0.502_499_979_166_874_9),
            (0.3, 0.291_312_612_451_590_9, 0.574_442_516_811_659),
            (0.35, 0.336_375_544_336_332_2, 0.586_617_578_917_33),
            (0.5, 0.462_117_157_260_009_74, 0.622_459_331_201_854_6),
            (1.0, 0.761_594_155_955_764_9, 0.731_058_578_630_004_9),
            (2.5, 0.986_614_298_151_430_3, 0.924_141_819_978_756_4),
            (5.0, 0.999_909_204_262_595_1, 0.993_307_149_075_715_2),
            (-7.5, -0.999_999_388_195_546_1, 0.000_552_778_636_923_599_6),
            (18.5, 0.999_999_999_999_999_8, 0.999_999_990_762_550_4),
            (-0.125, -0.124_353_001_771_596_21, 0.468_790_626_626_243_77),
            (-40.0, -1.0, 4.248_354_255_291_589e-18),
            (-700.0, -1.0, 9.859_676_543_759_77e-305),
            (30.0, 1.0, 0.999_999_999_999_906_4),
        ];
        for (x, of_tanh, of_sigmoid) in cases {
            assert!(units(tanh(x), of_tanh) <= 2.5, "tanh({x}): {} {of_tanh}", tanh(x));
            assert!(units(sigmoid(x), of_sigmoid) <= 2.5, "sigmoid({x}): {} {of_sigmoid}", sigmoid(x));
        }
    }

    /// Values of mpmath: sqrt(2) * erfinv(2 p - 1) at 40 digits.
    #[test]
    fn quantile_is_accurate() {
        let cases = [
            (0.5, 0.0),
            (0.6, 0.253_347_103_135_799_8),
            (0.9, 1.281_551_565_544_600_4),
            (0.975, 1.959_963_984_540_054),
            (0.05, -1.644_853_626_951_472_7),
            (1e-3, -3.090_232_306_167_813_5),
            (1e-10, -6.361_340_902_404_056),
            (1e-16, -8.222_082_216_130_436),
        ];
        for (p, expected) in cases {
            let got = normal_quantile(p);
            assert!((got - expected).abs() <= 1e-15 * f64::max(1.0, expected.abs()) * 2.0, "{p}: {got} {expected}");
        }
    }
}
