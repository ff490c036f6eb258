//! Tails of the binomial distribution and probabilities of the Poisson distribution.

use crate::numbers::tails::{binomial_above, binomial_at_most, ln_gamma};

/// P(X <= x) of X ~ Bin(n, p), 0 below 0.
pub(super) fn at_most(x: i64, n: u64, p: f64) -> f64 {
    u64::try_from(x).map_or(0.0, |x| binomial_at_most(x, n, p))
}

/// P(X >= x) of X ~ Bin(n, p), 1 for x <= 0.
pub(super) fn at_least(x: i64, n: u64, p: f64) -> f64 {
    u64::try_from(x - 1).map_or(1.0, |x| binomial_above(x, n, p))
}

/// Returns the smallest x with P(X <= x) at least `probability`: R's `qbinom`.
pub(super) fn quantile(probability: f64, n: u64, p: f64) -> u64 {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if at_most(middle as i64, n, p) >= probability {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// P(X = k), k = 0, 1, ..., `most`, of X ~ Poisson(mean).
pub(super) fn poisson(mean: f64, most: u64) -> Vec<f64> {
    (0..=most).map(|k| (k as f64 * mean.ln() - mean - ln_gamma(k as f64 + 1.0)).exp()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.binom 1.17: cdf, sf(x - 1), ppf.
    #[test]
    fn tails_and_quantiles_of_scipy() {
        for (x, n, p, below, above) in [
            (3, 10, 0.25, 0.775_875_091_552_734_4, 0.474_407_196_044_921_9),
            (5, 1000, 0.01, 0.066_139_511_607_251_4, 0.971_313_600_000_995_5),
            (30, 1000, 0.01, 0.999_999_935_800_714, 2.059_988_850_971_949e-7),
            (400, 1000, 0.5, 1.364_232_078_032_973_5e-10, 0.999_999_999_909_915_8),
            (99_600, 100_000, 0.995, 0.999_998_437_936_589, 1.972_645_876_720_662_8e-6),
            (0, 50, 0.3, 1.798_465_042_647_415_7e-8, 1.0),
        ] {
            let (found_below, found_above) = (at_most(x, n, p), at_least(x, n, p));
            assert!((found_below - below).abs() < 1e-9 * below, "{x} {n} {p}: {found_below}");
            assert!((found_above - above).abs() < 1e-9 * above, "{x} {n} {p}: {found_above}");
        }
        for (probability, n, p, expected) in [
            (0.025, 1000, 0.01, 4),
            (0.975, 1000, 0.01, 17),
            (1e-4, 1000, 0.5, 441),
            (0.5, 7, 0.3, 2),
            (0.025, 50, 1.0 / 64.0, 0),
        ] {
            assert_eq!(quantile(probability, n, p), expected);
        }
        assert_eq!(
            (at_most(-1, 5, 0.5), at_most(5, 5, 0.5), at_least(0, 5, 0.5), at_least(6, 5, 0.5)),
            (0.0, 1.0, 1.0, 0.0)
        );
    }

    #[test]
    fn poisson_probabilities_sum_to_one_with_the_right_mean() {
        let probabilities = poisson(7.5, 80);
        let sum: f64 = probabilities.iter().sum();
        let mean: f64 = probabilities.iter().zip(0u32..).map(|(p, k)| p * f64::from(k)).sum();
        assert!((sum - 1.0).abs() < 1e-13 && (mean - 7.5).abs() < 1e-12, "{sum} {mean}");
    }
}
