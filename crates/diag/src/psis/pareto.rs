//! The generalised Pareto distribution: its fit to a sample and its quantiles.
//!
//! Zhang, J., Stephens, M. A. (2009). A new and efficient estimation method for the generalized Pareto distribution.
//! Technometrics 51(3), 316-325. The prior on the shape is that of Vehtari, Simpson, Gelman, Yao, Gabry (2024). Pareto
//! smoothed importance sampling. JMLR 25(72), appendix C.

use crate::exp::exp_all;
use crate::lanes;
use pulp::{Arch, Simd, WithSimd};

/// Weight, in observations, and mean of the prior on the shape.
const PRIOR: (f64, f64) = (10.0, 0.5);

/// The shape k (with the prior) and the scale of a sample of excesses in ascending order, all positive, at least two.
/// Not finite where the sample cannot be fitted.
pub(crate) fn fit(excesses: &[f64]) -> (f64, f64) {
    let n = excesses.len() as f64;
    let points = 30 + n.sqrt() as usize;
    let quartile = excesses[((n / 4.0 + 0.5) as usize).saturating_sub(1)];
    let largest = excesses[excesses.len() - 1];
    let grid: Vec<f64> = (1..=points)
        .map(|i| (1.0 - (points as f64 / (i as f64 - 0.5)).sqrt()) / (3.0 * quartile) + 1.0 / largest)
        .collect();
    // The profile log likelihood at each point of the grid, and from it the posterior mean of b = -k / sigma.
    let profile: Vec<f64> = grid
        .iter()
        .map(|&b| {
            let k = mean_log1p(excesses, b);
            n * ((-(b / k)).ln() - k - 1.0)
        })
        .collect();
    let peak = profile.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let likelihoods: Vec<f64> = profile.iter().map(|l| (l - peak).exp()).collect();
    let total: f64 = likelihoods.iter().sum();
    let (mut weights, mut b) = (0.0, 0.0);
    for (likelihood, point) in likelihoods.iter().zip(&grid) {
        let weight = likelihood / total;
        if weight >= 10.0 * f64::EPSILON {
            weights += weight;
            b += weight * point;
        }
    }
    b /= weights;
    let k = mean_log1p(excesses, b);
    ((n * k + PRIOR.0 * PRIOR.1) / (n + PRIOR.0), -k / b)
}

/// The mean of `ln(1 - b x)` over `excesses`, sorted, with every `b x` below 1.
fn mean_log1p(excesses: &[f64], b: f64) -> f64 {
    // Where the mean is small, so are the terms, and a product of factors near 1 loses their digits.
    const SMALL: f64 = 0.02;
    let n = excesses.len() as f64;
    let largest = b * excesses[excesses.len() - 1];
    let extreme = (1.0 - largest).log2().abs();
    // So many factors can be multiplied before their product overflows: one logarithm serves them all.
    let factors = 1000.0 / extreme.max(1.0);
    if factors >= (2 * LANES) as f64 {
        let mean = Arch::new().dispatch(LogProducts { excesses, b, rows: factors as usize / LANES }) / n;
        if mean.abs() > SMALL {
            return mean;
        }
    }
    if largest.abs() <= NEAR {
        return Arch::new().dispatch(NearLogs { excesses, b }) / n;
    }
    excesses.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n
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

/// Sums or products kept side by side: enough for the machine to work on while one waits for the factor before.
const LANES: usize = 32;

/// The sum of `ln(1 - b x)`, one logarithm for `rows` times [`LANES`] factors.
struct LogProducts<'a> {
    excesses: &'a [f64],
    b: f64,
    rows: usize,
}

impl WithSimd for LogProducts<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut sum = 0.0;
        for group in self.excesses.chunks(self.rows * LANES) {
            let mut products = [1.0; LANES];
            let rows = group.chunks_exact(LANES);
            let rest = rows.remainder();
            for row in rows {
                for (product, x) in products.iter_mut().zip(row) {
                    *product *= 1.0 - self.b * x;
                }
            }
            for (product, x) in products.iter_mut().zip(rest) {
                *product *= 1.0 - self.b * x;
            }
            sum += lanes::halve(products, |a, b| a * b).ln();
        }
        sum
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
            let (found, scale) = fit(&sample);
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
            let found = mean_log1p(&sample, b);
            assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{n} {b}: {found} {expected}");
        }
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
}
