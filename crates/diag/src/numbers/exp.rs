//! The exponential function over whole arrays, in vectors of whatever width the machine has.
//!
//! The arithmetic is the same on every machine and for every width, and so are the results: where a product and a sum are
//! rounded as one, they are so everywhere (a processor without that instruction is slow, not different).

use crate::numbers::lanes;
use pulp::{Arch, Simd, WithSimd};

/// Adding it to a small number leaves the nearest integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts; multiples of the first, up to 2^20, are exact.
const LN2: [f64; 2] = [0.693_146_705_627_441_4, 4.749_325_039_031_672_6e-7];

/// `(e^r - 1 - r) / r^2` for |r| <= ln(2) / 2, from the constant term up: interpolated at Chebyshev's nodes with 60
/// digits, relative error of e^r 1.6e-17.
const SERIES: [f64; 10] = [
    0.500_000_000_000_000_1,
    0.166_666_666_666_666_69,
    0.041_666_666_666_624_13,
    0.008_333_333_333_330_062,
    0.001_388_888_891_721_371_7,
    0.000_198_412_698_630_536_18,
    2.480_152_129_595_437_6e-5,
    2.755_726_845_999_706_4e-6,
    2.762_008_844_540_974_6e-7,
    2.510_038_549_551_032e-8,
];

/// `(cosh(r) - 1) / r^2` and `(sinh(r) - r) / r^3` in powers of `r^2` for |r| <= ln(2) / 2: interpolated at Chebyshev's nodes
/// with 60 digits, relative error of e^r 1.6e-17.
const COSH: [f64; 5] = [
    0.500_000_000_000_000_1,
    0.041_666_666_666_624_164,
    0.001_388_888_891_719_689,
    2.480_152_132_210_459e-5,
    2.762_007_600_563_138e-7,
];
const SINH: [f64; 5] = [
    0.166_666_666_666_666_69,
    0.008_333_333_333_330_065,
    0.000_198_412_698_630_406_75,
    2.755_726_848_010_692_6e-6,
    2.510_037_592_918_592_5e-8,
];

/// Sums kept side by side, so that additions need not wait for each other.
const LANES: usize = 16;

/// `e^x` to 2 units in the last place; 0 below -708.5, infinite above 709, NaN of NaN.
#[inline(always)]
fn exp(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN2[0]) - k * LN2[1];
    let c = &SERIES;
    // Estrin's scheme: short chains of dependent operations.
    let (r2, r4) = (r * r, (r * r) * (r * r));
    let low = (c[0] + c[1] * r) + (c[2] + c[3] * r) * r2;
    let high = (c[4] + c[5] * r) + (c[6] + c[7] * r) * r2;
    let series = low + (high + (c[8] + c[9] * r) * r4) * r4;
    let fraction = 1.0 + (r + r2 * series);
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0f64.to_bits()));
    let finite = if x > 709.0 { f64::INFINITY } else { fraction * power };
    if x < -708.5 { 0.0 } else { finite }
}

/// Returns the sum of `exp(sign x - max)` over `values`; `sign` is 1 or -1.
pub(crate) fn sum_exp(values: &[f64], sign: f64, max: f64) -> f64 {
    sum_exp_upto(values, sign, max, f64::INFINITY)
}

/// Returns the sum of `exp(sign x - max)` over those values whose `sign x - max` is at most `limit`, and NaN if a value
/// is NaN.
pub(crate) fn sum_exp_upto(values: &[f64], sign: f64, max: f64, limit: f64) -> f64 {
    Arch::new().dispatch(Sum { values, sign, max, limit })
}

/// Replaces each value by its exponential.
pub(crate) fn exp_all(values: &mut [f64]) {
    lanes::replace_each(values, exp);
}

/// A number as a fraction, near 1, times a power of 2: the product can be left to an addition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled {
    pub(crate) fraction: f64,
    pub(crate) power: f64,
}

/// `e^x` and `e^-x` to 2 units in the last place, for |x| at most 700, NaN of NaN and of infinity: cosh and sinh of what is left
/// of x serve both.
#[inline(always)]
pub(crate) fn exp_both(x: f64) -> [Scaled; 2] {
    let shifted = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2[1], k.mul_add(-LN2[0], x));
    let s = r * r;
    let s2 = s * s;
    let series = |c: &[f64; 5]| {
        let low = c[1].mul_add(s, c[0]);
        let middle = c[3].mul_add(s, c[2]);
        c[4].mul_add(s2, middle).mul_add(s2, low)
    };
    // 1 + s cosh +- (r + r s sinh): the largest part is added last.
    let (even, odd) = (s * series(&COSH), (r * s).mul_add(series(&SINH), r));
    let (one, step) = (1.0f64.to_bits(), shifted.to_bits() << 52);
    let power = f64::from_bits;
    [
        Scaled { fraction: 1.0 + (even + odd), power: power(one.wrapping_add(step)) },
        Scaled { fraction: 1.0 + (even - odd), power: power(one.wrapping_sub(step)) },
    ]
}

struct Sum<'a> {
    values: &'a [f64],
    sign: f64,
    max: f64,
    limit: f64,
}

impl WithSimd for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let term = |x: f64| {
            let x = self.sign * x - self.max;
            if x > self.limit { 0.0 } else { exp(x) }
        };
        lanes::sum::<LANES>(self.values, term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        let mut worst = 0.0f64;
        for i in 0..200_000 {
            let x = -707.9 + f64::from(i) * (1416.0 / 200_000.0);
            worst = worst.max((exp(x) / x.exp() - 1.0).abs());
        }
        assert!(worst < 5e-16, "{worst:e}");
        assert_eq!((exp(0.0), exp(-800.0), exp(f64::NEG_INFINITY), exp(800.0)), (1.0, 0.0, 0.0, f64::INFINITY));
        assert!(exp(f64::NAN).is_nan());
        for last in [709.0, -708.5f64] {
            assert!((exp(last) / last.exp() - 1.0).abs() < 1e-15, "{last}");
        }
    }

    #[test]
    fn both_signs_agree_with_the_standard_library() {
        let mut worst = 0.0f64;
        for i in 0..200_000 {
            let x = -699.9 + f64::from(i) * (1399.8 / 200_000.0);
            let [up, down] = exp_both(x).map(|e| e.fraction * e.power);
            worst = worst.max((up / x.exp() - 1.0).abs()).max((down / (-x).exp() - 1.0).abs());
        }
        assert!(worst < 5e-16, "{worst:e}");
        assert_eq!(exp_both(0.0).map(|e| e.fraction * e.power), [1.0, 1.0]);
        for x in [f64::NAN, f64::from_bits(0x7ff8_0000_0000_07a2), f64::INFINITY, f64::NEG_INFINITY] {
            assert!(exp_both(x).iter().all(|e| (e.fraction * e.power).is_nan()), "{x}");
        }
    }

    #[test]
    fn sums_of_every_length() {
        for n in 0..70 {
            let mut values: Vec<f64> = (0..n).map(|i| f64::from(i * 37 % 41) / 3.0 - 9.0).collect();
            let expected: f64 = values.iter().map(|v| (-v - 9.0).exp()).sum();
            assert!((sum_exp(&values, -1.0, 9.0) - expected).abs() <= 1e-14 * expected, "{n}");
            let expected: Vec<f64> = values.iter().map(|v| v.exp()).collect();
            exp_all(&mut values);
            assert!(values.iter().zip(expected).all(|(found, e)| (found - e).abs() <= 1e-15 * e), "{n}");
        }
    }
}
