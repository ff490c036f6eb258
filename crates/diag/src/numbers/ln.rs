//! The natural logarithm over whole arrays, in vectors of whatever width the machine has; the same arithmetic on every one.
//!
//! The method and the coefficients come from `e_log.c` (FreeBSD's msun, Sun Microsystems 1993).

use crate::numbers::lanes;

/// ln 2 in two parts; multiples of the first, up to 2^20, are exact.
const LN2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// `(2 atanh(s) - 2 s) / s` in powers of `s^2` from the first up, for `|s| <= 0.1716`; error below 2^-58.
const SERIES: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_942e-1,
    2.857_142_874_366_239e-1,
    2.222_219_843_214_978_4e-1,
    1.818_357_216_161_805e-1,
    1.531_383_769_920_937_3e-1,
    1.479_819_860_511_658_6e-1,
];

/// Returns the exponent of the largest power of 2 that is not above `x`, positive and normal.
#[inline(always)]
pub(crate) fn exponent(x: f64) -> i64 {
    (x.to_bits() >> 52) as i64 - 1023
}

/// `2^k`, for |k| at most 1022.
#[inline(always)]
pub(crate) fn power_of_two(k: i64) -> f64 {
    f64::from_bits(((k + 1023) as u64) << 52)
}

/// `ln x` to 1 unit in the last place; minus infinity of 0 and of numbers that are not normal, NaN of negative ones.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    // x = 2^k m with m between the roots of 1/2 and 2.
    let above = x.to_bits().wrapping_sub(std::f64::consts::FRAC_1_SQRT_2.to_bits());
    let k = (above as i64) >> 52;
    let f = f64::from_bits(x.to_bits().wrapping_sub((k << 52) as u64)) - 1.0;
    let k = k as f64;
    let s = f / (2.0 + f);
    let z = s * s;
    let series = z * SERIES.iter().rev().fold(0.0, |sum: f64, &c| sum.mul_add(z, c));
    let half = 0.5 * f * f;
    let found = k * LN2[0] - ((half - (s * (half + series) + k * LN2[1])) - f);
    let found = if x < f64::MIN_POSITIVE { f64::NEG_INFINITY } else { found };
    let found = if x < 0.0 || x.is_nan() { f64::NAN } else { found };
    if x == f64::INFINITY { x } else { found }
}

/// Replaces each value by its logarithm.
pub(crate) fn ln_all(values: &mut [f64]) {
    lanes::replace_each(values, ln);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        // Every size, and near 1, where logarithms are small.
        let sizes = (0..200_000).map(|i| (-708.0 + f64::from(i) * (1417.0 / 200_000.0)).exp());
        let near = (0..200_000).map(|i| 1.0 + (f64::from(i) - 100_000.0) * 4e-6);
        let mut values: Vec<f64> = sizes.chain(near).collect();
        let expected: Vec<f64> = values.iter().map(|x| x.ln()).collect();
        ln_all(&mut values);
        let off = |(found, expected): (&f64, &f64)| (found - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
        let worst = values.iter().zip(&expected).map(off).fold(0.0, f64::max);
        assert!(worst < 3e-16, "{worst:e}");
        assert_eq!((ln(1.0), ln(0.0), ln(f64::INFINITY)), (0.0, f64::NEG_INFINITY, f64::INFINITY));
        assert!((ln(f64::MIN_POSITIVE) + 1022.0 * std::f64::consts::LN_2).abs() < 1e-12);
        assert!(ln(f64::NAN).is_nan() && ln(-1.0).is_nan() && ln(f64::NEG_INFINITY).is_nan());
    }

    #[test]
    fn powers_of_two_and_back() {
        for k in -1022..=1022 {
            assert_eq!((power_of_two(k), exponent(power_of_two(k) * 1.5)), (2f64.powi(k as i32), k));
        }
    }
}
