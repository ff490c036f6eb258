//! The generalised Pareto distribution: its fit to a sample, with the prior on its shape k, and its quantiles.
//!
//! Zhang, J., Stephens, M. A. (2009). A new and efficient estimation method for the generalized Pareto distribution.
//! Technometrics 51(3), 316-325. The prior on the shape comes from Vehtari, Simpson, Gelman, Yao, Gabry (2024). Pareto
//! smoothed importance sampling. JMLR 25(72), appendix C.

use crate::numbers::exp::exp_all;
use crate::numbers::lanes;
use crate::numbers::ln::{exponent, ln_all, power_of_two};
use pulp::{Arch, Simd, WithSimd};
use std::f64::consts::LN_2;

/// Weight, in observations, and mean of the prior on the shape.
const PRIOR: (f64, f64) = (10.0, 0.5);

/// Fits, keeping its buffers between calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fit {
    /// The points at which the likelihood is evaluated: `b = -k / sigma`.
    grid: Vec<f64>,
    means: LogMeans,
    profile: Vec<f64>,
}

impl Fit {
    /// Returns the shape k (with the prior) and the scale of a sample of excesses in ascending order, all positive, at
    /// least two. Not finite where the sample cannot be fitted.
    pub(crate) fn fit(&mut self, excesses: &[f64]) -> (f64, f64) {
        let n = excesses.len() as f64;
        let points = 30 + n.sqrt() as usize;
        let quartile = excesses[((n / 4.0 + 0.5) as usize).saturating_sub(1)];
        let largest = excesses[excesses.len() - 1];
        let point = |i| (1.0 - (points as f64 / (i as f64 - 0.5)).sqrt()) / (3.0 * quartile) + 1.0 / largest;
        self.grid.clear();
        self.grid.extend((1..=points).map(point));
        // The profile log likelihood at each point of the grid, and from it the posterior mean of b.
        let means = self.means.compute(excesses, &self.grid);
        self.profile.clear();
        self.profile.extend(self.grid.iter().zip(means).map(|(b, k)| -(b / k)));
        ln_all(&mut self.profile);
        self.profile.iter_mut().zip(means).for_each(|(l, k)| *l = n * (*l - k - 1.0));
        let peak = self.profile.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.profile.iter_mut().for_each(|l| *l -= peak);
        exp_all(&mut self.profile);
        let total: f64 = self.profile.iter().sum();
        let (mut weights, mut b) = (0.0, 0.0);
        for (likelihood, point) in self.profile.iter().zip(&self.grid) {
            let weight = likelihood / total;
            if weight >= 10.0 * f64::EPSILON {
                weights += weight;
                b += weight * point;
            }
        }
        b /= weights;
        let k = self.means.compute(excesses, &[b])[0];
        ((n * k + PRIOR.0 * PRIOR.1) / (n + PRIOR.0), -k / b)
    }
}

/// Means of `ln(1 - b x)`.
#[derive(Clone, Debug, Default)]
struct LogMeans {
    minus_b: Vec<f64>,
    products: Vec<f64>,
    powers: Vec<f64>,
}

impl LogMeans {
    /// Returns the mean over `excesses`, sorted, for each `b` of `grid`; every `b x` is below 1.
    fn compute(&mut self, excesses: &[f64], grid: &[f64]) -> &[f64] {
        // Where the mean is small, so are the terms, and a product of factors near 1 loses their digits.
        const SMALL: f64 = 0.02;
        let (n, largest) = (excesses.len() as f64, excesses[excesses.len() - 1]);
        self.multiply(excesses, grid, largest);
        ln_all(&mut self.products);
        self.products.truncate(grid.len());
        for ((mean, power), &b) in self.products.iter_mut().zip(&self.powers).zip(grid) {
            *mean = power.mul_add(LN_2, *mean) / n;
            if mean.abs() <= SMALL {
                *mean = if (b * largest).abs() <= NEAR {
                    Arch::new().dispatch(NearLogs { excesses, b }) / n
                } else {
                    excesses.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n
                };
            }
        }
        &self.products
    }

    /// One logarithm for many factors: `products` times two to the `powers` are the products of all `1 - b x`.
    fn multiply(&mut self, excesses: &[f64], grid: &[f64], largest: f64) {
        let room = grid.len().next_multiple_of(POINTS);
        let fill = |values: &mut Vec<f64>, value| {
            values.clear();
            values.resize(room, value);
        };
        fill(&mut self.minus_b, 0.0);
        fill(&mut self.products, 1.0);
        fill(&mut self.powers, 0.0);
        self.minus_b.iter_mut().zip(grid).for_each(|(minus, b)| *minus = -b);
        // So many factors can be multiplied before one of the products may overflow.
        let bits = self.minus_b.iter().map(|b| exponent(1.0 + b * largest).unsigned_abs() + 1).max();
        for part in excesses.chunks((1000 / bits.unwrap_or(1) as usize).max(1)) {
            let (products, powers) = (&mut self.products, &mut self.powers);
            Arch::new().dispatch(Multiply { excesses: part, minus_b: &self.minus_b, products, powers });
        }
    }
}

/// The largest `|y|` at which [`ATANH`] gives `ln(1 + y)`.
const NEAR: f64 = 1.0 / 3.0;

/// `atanh(s) / s` in powers of `s^2`, from the constant term up: `ln(1 + y) = 2 atanh(y / (2 + y))`. With `|s| <= 1/5`
/// what is left out is below 1e-18.
const ATANH: [f64; 12] = {
    let mut series = [0.0; 12];
    let mut k = 0;
    while k < 12 {
        series[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    series
};

/// The sum of `ln(1 - b x)` where every `|b x|` is at most [`NEAR`].
struct NearLogs<'a> {
    excesses: &'a [f64],
    b: f64,
}

impl WithSimd for NearLogs<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let half = |x: f64| {
            let y = -self.b * x;
            let s = y / (2.0 + y);
            s * ATANH.iter().rev().fold(0.0, |sum, c| sum * (s * s) + c)
        };
        2.0 * lanes::sum::<LANES>(self.excesses, half)
    }
}

/// Sums kept side by side: enough for the machine to work on while one waits for the term before.
const LANES: usize = 32;

/// Points of the grid that are worked on together: two of the widest vectors.
const POINTS: usize = 16;

/// Multiplies each product by `1 - b x` for every excess x, and moves its power of 2 to `powers`.
struct Multiply<'a> {
    excesses: &'a [f64],
    minus_b: &'a [f64],
    products: &'a mut [f64],
    powers: &'a mut [f64],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let one = simd.splat_f64s(1.0);
        let (points, _) = S::as_simd_f64s(self.minus_b);
        let (products, _) = S::as_mut_simd_f64s(self.products);
        for (b, products) in points.as_chunks::<2>().0.iter().zip(products.as_chunks_mut::<2>().0) {
            // Four products, so that one factor need not wait for the one before.
            let (mut even, mut odd) = (*products, [one; 2]);
            let pairs = self.excesses.as_chunks::<2>();
            for pair in pairs.0 {
                let x = pair.map(|x| simd.splat_f64s(x));
                for k in 0..2 {
                    even[k] = simd.mul_f64s(even[k], simd.mul_add_f64s(b[k], x[0], one));
                    odd[k] = simd.mul_f64s(odd[k], simd.mul_add_f64s(b[k], x[1], one));
                }
            }
            for &x in pairs.1 {
                for k in 0..2 {
                    even[k] = simd.mul_f64s(even[k], simd.mul_add_f64s(b[k], simd.splat_f64s(x), one));
                }
            }
            for k in 0..2 {
                products[k] = simd.mul_f64s(even[k], odd[k]);
            }
        }
        for (product, power) in self.products.iter_mut().zip(self.powers) {
            // 0, infinity and NaN stay what they are.
            let exponent = exponent(*product).clamp(-1022, 1022);
            *product *= power_of_two(-exponent);
            *power += exponent as f64;
        }
    }
}

/// `ln(1 - p)` at `p = (i + 1/2) / n`, n values: what [`quantiles`] needs.
pub(crate) fn log_tails(n: usize, out: &mut Vec<f64>) {
    out.clear();
    out.extend((0..n).map(|i| (-((i as f64 + 0.5) / n as f64)).ln_1p()));
}

/// Writes the quantiles of the distribution with shape `k` and scale `sigma` at the probabilities of `log_tails` to `out`. NaN
/// unless the scale is positive.
pub(crate) fn quantiles(k: f64, sigma: f64, log_tails: &[f64], out: &mut Vec<f64>) {
    /// Below it, `expm1` keeps digits that `exp(x) - 1` loses.
    const SMALL: f64 = 0.01;
    out.clear();
    if sigma.is_nan() || sigma <= 0.0 {
        out.resize(log_tails.len(), f64::NAN);
    } else if k.abs() < f64::EPSILON {
        out.extend(log_tails.iter().map(|l| -sigma * l));
    } else if k.abs() < SMALL {
        out.extend(log_tails.iter().map(|l| sigma * (-k * l).exp_m1() / k));
    } else {
        out.extend(log_tails.iter().map(|l| -k * l));
        exp_all(out);
        out.iter_mut().for_each(|q| *q = sigma * (*q - 1.0) / k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantiles(k: f64, sigma: f64, n: usize, out: &mut Vec<f64>) {
        let mut tails = Vec::new();
        log_tails(n, &mut tails);
        super::quantiles(k, sigma, &tails, out);
    }

    #[test]
    fn recovers_the_shape() {
        for k in [-0.4, 0.0, 0.3, 0.7, 1.4] {
            let (n, sigma) = (4000, 2.5);
            let mut sample = Vec::new();
            quantiles(k, sigma, n, &mut sample);
            let (found, scale) = Fit::default().fit(&sample);
            assert!((found - k).abs() < 0.01 && (scale / sigma - 1.0).abs() < 0.02, "{k}: {found} {scale}");
        }
    }

    #[test]
    fn products_are_sums_of_logarithms() {
        for (n, b) in [
            (5, -0.3),
            (33, 0.01),
            (268, -8.0),
            (268, -1e-9),
            (300, -1e30),
            (270, 0.0999),
            (268, -0.0333),
            (268, 0.0333),
            (31, 1e-3),
            (300, 0.004),
        ] {
            let sample: Vec<f64> = (1..=n).map(|i| 10.0 * f64::from(i) / f64::from(n)).collect();
            let expected = sample.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / f64::from(n);
            let found = LogMeans::default().compute(&sample, &[b])[0];
            assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{n} {b}: {found} {expected}");
        }
    }

    /// The mean is small and one term is not: the series for terms near 0 does not reach so far.
    #[test]
    fn one_large_term_among_small_ones_keeps_its_digits() {
        for (largest, b) in [(10.0, 0.09), (10.0, 0.06), (2.0, -2.2_f64)] {
            let mut sample = vec![1e-6; 299];
            sample.push(largest);
            let expected = sample.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / 300.0;
            let found = LogMeans::default().compute(&sample, &[b])[0];
            assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{largest} {b}: {found} {expected}");
        }
    }

    /// A thousand equal factors, whose product is far beyond the range of numbers.
    #[test]
    fn long_products_neither_overflow_nor_vanish() {
        for factor in [2f64.powi(-40), 2.4, 2.5, 7.0] {
            let found = LogMeans::default().compute(&[1.0; 1000], &[1.0 - factor; POINTS]).to_vec();
            assert!(found.iter().all(|mean| (mean / factor.ln() - 1.0).abs() < 1e-13), "{factor}: {found:?}");
        }
    }

    #[test]
    fn many_points_at_once_are_as_one() {
        // Two of the widest vectors, which hold 8.
        assert!(POINTS.is_multiple_of(16));
        for n in [5, 30, 270, 3000] {
            let sample: Vec<f64> = (1..=n).map(|i| 10.0 * f64::from(i * i) / f64::from(n * n)).collect();
            let grid: Vec<f64> = (0..50).map(|i| 0.0999 - 1e-4 * 1.5f64.powi(i)).collect();
            let found = LogMeans::default().compute(&sample, &grid).to_vec();
            for (found, b) in found.into_iter().zip(grid) {
                let expected = sample.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / f64::from(n);
                assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{n} {b}: {found} {expected}");
            }
        }
    }

    /// Factors that overflow or vanish end as the logarithm of their product.
    #[test]
    fn extreme_factors() {
        let means = |sample: &[f64], b: f64| LogMeans::default().compute(sample, &[b])[0];
        assert_eq!(means(&[1e300, 1e300], -1e300), f64::INFINITY);
        assert_eq!(means(&[0.5, 1.0], 1.0), f64::NEG_INFINITY);
        let huge = means(&[1e153, 1e154], -1e154);
        assert!((huge - 307.5 * 10f64.ln()).abs() < 1e-12 * huge, "{huge}");
        assert!(means(&[1.0, 2.0], f64::NAN).is_nan());
    }

    #[test]
    fn quantiles_by_hand() {
        let mut found = Vec::new();
        quantiles(1.0, 2.0, 2, &mut found);
        // 2 ((1 - p)^-1 - 1) at 1/4 and 3/4.
        assert!((found[0] - 2.0 / 3.0).abs() < 1e-15 && (found[1] - 6.0).abs() < 1e-14, "{found:?}");
        let (mut near, mut exponential) = (Vec::new(), Vec::new());
        quantiles(1e-9, 2.0, 9, &mut near);
        quantiles(0.0, 2.0, 9, &mut exponential);
        assert!(near.iter().zip(&exponential).all(|(a, b)| (a / b - 1.0).abs() < 1e-8));
        quantiles(0.5, -1.0, 3, &mut found);
        assert!(found.iter().all(|q| q.is_nan()));
    }

    /// ArviZ 0.23.4, `_gpdfit` of the sorted `s ((7919 i mod 1009 + 1) / 1010)^p`.
    #[test]
    fn shapes_and_scales_of_arviz() {
        for (n, p, s, k, scale) in [
            (5, 1.0, 1.0, 1.548_396_276_971_094_4, 0.023_940_531_227_147_43),
            (17, 3.0, 0.5, 1.140_890_117_861_279_8, 0.027_279_388_370_775_79),
            (95, 6.0, 2.0, 4.391_853_934_130_076, 0.000_762_069_195_027_684_4),
            (96, 0.5, 1.0, -1.303_566_767_114_099_4, 1.495_818_628_892_254),
            (270, 12.0, 1e-3, 8.241_223_608_924_32, 1.575_112_424_845_581e-10),
            (269, 2.0, 1e6, -0.323_415_212_112_602_7, 462_275.015_325_785_76),
        ] {
            let value = |i: u32| s * (f64::from(i * 7919 % 1009 + 1) / 1010.0).powf(p);
            let mut sample: Vec<f64> = (0..n).map(value).collect();
            sample.sort_by(f64::total_cmp);
            let found = Fit::default().fit(&sample);
            for (found, expected) in [(found.0, k), (found.1, scale)] {
                assert!((found / expected - 1.0).abs() < 1e-10, "{n} {p}: {found} {expected}");
            }
        }
    }

    /// ArviZ 0.23.4, `_gpinv` at 1/8, 3/8, 5/8 and 7/8.
    #[test]
    fn quantiles_of_arviz() {
        for (k, sigma, expected) in [
            (
                0.3,
                2.0,
                [0.272_484_124_686_410_9, 1.009_506_010_842_164_7, 2.280_784_991_296_728_4, 5.773_773_220_490_666],
            ),
            (
                -0.4,
                0.5,
                [0.065_013_959_600_167_7, 0.214_233_119_581_254_16, 0.405_649_975_924_616_6, 0.705_905_897_939_922_4],
            ),
            (
                0.005,
                1.0,
                [0.133_575_979_128_841_14, 0.470_556_320_634_628_04, 0.983_238_254_492_590_4, 2.090_289_297_352_756],
            ),
            (
                -0.015,
                3.0,
                [0.400_193_256_357_916_7, 1.405_052_220_778_742_4, 2.920_947_937_325_683, 6.142_036_612_987_004],
            ),
            (
                1.2,
                1e-3,
                [
                    1.448_248_448_470_016e-4,
                    6.314_140_577_414_904e-4,
                    0.001_870_508_186_192_025_2,
                    0.009_271_443_776_735_987,
                ],
            ),
            (
                0.0,
                2.0,
                [0.267_062_785_249_045_25, 0.940_007_258_491_471_2, 1.961_658_506_023_452_4, 4.158_883_083_359_671_5],
            ),
        ] {
            let mut found = Vec::new();
            quantiles(k, sigma, 4, &mut found);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-12, "{k} {sigma}: {found} {expected}");
            }
        }
        for sigma in [0.0, -1.0, f64::NAN] {
            let mut found = Vec::new();
            quantiles(0.5, sigma, 3, &mut found);
            assert!(found.len() == 3 && found.iter().all(|q| q.is_nan()), "{sigma}");
        }
    }
}
