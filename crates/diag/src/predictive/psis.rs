//! Pareto smoothed importance sampling (PSIS), and what its shape parameter k says: the Pareto k threshold.
//!
//! Vehtari, A., Simpson, D., Gelman, A., Yao, Y., Gabry, J. (2024). Pareto smoothed importance sampling. Journal of Machine
//! Learning Research 25(72), 1-58.

mod pareto;
mod sort;
mod tail;

pub(crate) use tail::{Tail, nearest, sample};

use crate::error::DiagError;
use crate::numbers::exp::sum_exp;

/// Smoothed importance weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Psis {
    /// Logarithms of the smoothed weights, in the order of the draws; the weights sum to 1.
    pub log_weights: Vec<f64>,
    /// The shape of the generalised Pareto distribution fitted to the largest weights: 1/k moments exist. Infinite where
    /// fewer than 5 weights exceed the rest.
    pub pareto_k: f64,
}

/// Smooths importance weights given by their logarithms, up to a constant, one for each draw: the largest
/// `min(S / 5, 3 sqrt(S / reff))` of S are replaced by the quantiles of the generalised Pareto distribution fitted to them.
/// `reff` is the relative effective sample size of the draws, 1 for independent ones ([`relative_eff`](crate::relative_eff));
/// NaN when it is not known, S / 5 being replaced then.
/// A NaN or an infinitely large weight makes all NaN, with `k` infinite. `az.psislw`; equal weights get their smoothed
/// values in the order of the draws.
///
/// # Errors
/// [`DiagError::Empty`] without weights, [`DiagError::Positive`] when `reff` is 0 or negative.
pub fn psis(log_weights: &[f64], reff: f64) -> Result<Psis, DiagError> {
    if log_weights.is_empty() {
        return Err(DiagError::Empty { chains: 1, draws: 0 });
    }
    check_reff(reff)?;
    let mut tail = Tail::default();
    let mut smoothed = log_weights.to_vec();
    if tail.fit(log_weights, 1.0, reff) {
        write_log_weights(&tail, &mut smoothed);
    } else if log_weights.len() == 1 && log_weights[0].is_finite() {
        smoothed[0] = 0.0;
    } else {
        smoothed.fill(f64::NAN);
    }
    Ok(Psis { log_weights: smoothed, pareto_k: tail.pareto_k })
}

/// NaN stands for a `reff` that is not known.
pub(crate) fn check_reff(reff: f64) -> Result<(), DiagError> {
    if reff <= 0.0 { Err(DiagError::Positive { name: "reff", value: reff }) } else { Ok(()) }
}

/// Turns the log weights that `tail` was fitted to into the smoothed, normalised ones.
pub(crate) fn write_log_weights(tail: &Tail, log_weights: &mut [f64]) {
    log_weights.iter_mut().for_each(|w| *w -= tail.max);
    if tail.pareto_k.is_finite() {
        let mut places: Vec<usize> = (0..log_weights.len()).filter(|&i| log_weights[i] > tail.cutoff).collect();
        places.sort_by(|&a, &b| log_weights[a].total_cmp(&log_weights[b]));
        for (place, weight) in places.into_iter().zip(&tail.smoothed) {
            log_weights[place] = weight.ln();
        }
    }
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_sum = largest + sum_exp(log_weights, 1.0, largest).ln();
    log_weights.iter_mut().for_each(|w| *w -= log_sum);
}

/// Returns the largest `k` at which an estimate from `samples` draws can be relied on: `min(1 - 1 / log10(S), 0.7)`.
/// The `good_k` of ArviZ (Vehtari et al. 2024, section 3.2.4).
pub fn pareto_k_threshold(samples: usize) -> f64 {
    (1.0 - 1.0 / (samples as f64).log10()).min(0.7)
}

/// Returns the draws needed for a reliable estimate when the shape is `k`: `10^(1 / (1 - max(0, k)))`; infinite from `k
/// = 1` on, NaN of NaN. `posterior::pareto_min_ss` (Vehtari et al. 2024, equation 10).
pub fn pareto_min_ss(k: f64) -> f64 {
    if k < 1.0 {
        10f64.powf(1.0 / (1.0 - k.max(0.0)))
    } else if k >= 1.0 {
        f64::INFINITY
    } else {
        f64::NAN
    }
}

/// Returns how fast the error falls with the number of draws, relative to `1 / sqrt(S)`: 1 for `k` up to 0, 0 from 1
/// on, at `samples` draws. `posterior::pareto_convergence_rate` (Vehtari et al. 2024, appendix B).
pub fn pareto_convergence_rate(k: f64, samples: usize) -> f64 {
    let s = samples as f64;
    if k <= 0.0 {
        return 1.0;
    }
    if k >= 1.0 {
        return 0.0;
    }
    if (k - 0.5).abs() < 1e-9 {
        return s / (s - 1.0) - 1.0 / s.ln();
    }
    let power = s.powf(2.0 * k);
    let numerator = 2.0 * (k - 1.0) * s * power + (1.0 - 2.0 * k) * power + s * s;
    numerator / ((s - 1.0) * (s - power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_by_hand() {
        assert_eq!(pareto_k_threshold(100), 0.5);
        assert_eq!(pareto_k_threshold(100_000), 0.7);
        assert_eq!((pareto_min_ss(-1.0), pareto_min_ss(0.5), pareto_min_ss(1.0)), (10.0, 100.0, f64::INFINITY));
        assert!(pareto_min_ss(f64::NAN).is_nan() && pareto_convergence_rate(f64::NAN, 100).is_nan());
        assert_eq!((pareto_convergence_rate(-0.1, 1000), pareto_convergence_rate(1.0, 1000)), (1.0, 0.0));
        let rates =
            (0..1000).flat_map(|i| [2, 3, 10, 1000, 100_000].map(|n| pareto_convergence_rate(f64::from(i) / 1e3, n)));
        assert!(rates.into_iter().all(|rate| (0.0..=1.0).contains(&rate)));
        // Both limits are continuous, and the rate falls with k.
        let rate = |k| pareto_convergence_rate(k, 1000);
        assert!((rate(0.5 + 1e-6) - rate(0.5)).abs() < 1e-4 && (rate(1e-9) - 1.0).abs() < 1e-6);
        assert!((1..20).all(|i| rate(f64::from(i) / 20.0) < rate(f64::from(i - 1) / 20.0)));
    }

    #[test]
    fn weights_sum_to_one() {
        let raw: Vec<f64> = (0..1000).map(|i| f64::from(i * 7919 % 1009) / 200.0).collect();
        let smoothed = psis(&raw, 1.0).unwrap();
        let sum: f64 = smoothed.log_weights.iter().map(|w| w.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-13 && smoothed.pareto_k.is_finite());
        // The order of the draws is the order of the weights.
        assert!((0..999).all(|i| (raw[i] < raw[i + 1]) == (smoothed.log_weights[i] < smoothed.log_weights[i + 1])));
    }

    #[test]
    fn odd_weights() {
        assert!(psis(&[], 1.0).is_err() && psis(&[1.0, 2.0], 0.0).is_err() && psis(&[1.0, 2.0], -1.0).is_err());
        assert_eq!(psis(&[3.0], 1.0).unwrap().log_weights, [0.0]);
        let equal = psis(&[-5.0; 100], 1.0).unwrap();
        assert!(equal.log_weights.iter().all(|w| (w + 100f64.ln()).abs() < 1e-14) && equal.pareto_k == f64::INFINITY);
        let broken = psis(&[0.0, f64::NAN, 1.0], 1.0).unwrap();
        assert!(broken.log_weights.iter().all(|w| w.is_nan()));
        let zero = psis(&[0.0, f64::NEG_INFINITY], 1.0).unwrap();
        assert_eq!(zero.log_weights, [0.0, f64::NEG_INFINITY]);
    }

    /// Exact values of the formulas, with 50 digits.
    #[test]
    fn rates_and_sizes_of_the_paper() {
        let near =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found}, not {expected}");
        near(pareto_convergence_rate(0.25, 1000), 0.984_673_284_984_142_2);
        near(pareto_convergence_rate(0.7, 1000), 0.574_063_036_571_584_6);
        near(pareto_convergence_rate(0.9, 50), 0.183_820_431_361_721_88);
        near(pareto_convergence_rate(0.1, 10), 0.960_439_873_898_412);
        near(pareto_convergence_rate(0.5, 1000), 0.856_236_173_699_917_1);
        assert_eq!([-2.0, 0.0].map(|k| pareto_convergence_rate(k, 1000)), [1.0; 2]);
        assert_eq!([1.0, 1.5, 3.0].map(|k| pareto_convergence_rate(k, 1000)), [0.0; 3]);
        near(pareto_min_ss(0.3), 26.826_957_952_797_258);
        near(pareto_min_ss(0.7), 2_154.434_690_031_883_7);
        assert_eq!([1.0, 1.5, 3.0].map(pareto_min_ss), [f64::INFINITY; 3]);
        near(pareto_k_threshold(200), 0.565_412_010_323_906_4);
        near(pareto_k_threshold(1000), 2.0 / 3.0);
        assert_eq!((pareto_k_threshold(10), pareto_k_threshold(3000)), (0.0, 0.7));
    }

    /// az.psislw (ArviZ 0.23.4) of `(7919 i mod 2617) / scale`: k, the largest and the smallest log weight, and the sum of
    /// squared weights.
    #[test]
    fn weights_of_arviz() {
        for (samples, scale, reff, expected) in [
            (
                19,
                100.0,
                1.0,
                [f64::INFINITY, -0.706_467_066_221_654_8, -12.946_467_066_221_654, 0.327_478_998_525_508_7],
            ),
            (
                25,
                100.0,
                1.0,
                [0.549_253_278_848_649_3, -0.612_022_613_641_482_9, -16.901_857_878_121_813, 0.357_296_708_319_875_2],
            ),
            (
                60,
                60.0,
                0.7,
                [2.522_681_120_046_117, -0.090_556_013_743_214_65, -41.691_222_813_957_58, 0.837_873_666_855_533_2],
            ),
            (
                400,
                200.0,
                1.0,
                [-0.281_203_917_256_378_67, -3.493_231_420_731_496, -16.453_231_420_731_5, 0.016_830_135_284_192_38],
            ),
            (
                1000,
                150.0,
                0.3,
                [-0.008_714_919_917_118_51, -4.067_950_446_687_908, -21.454_617_113_354_573, 0.008_291_642_923_232_277],
            ),
            (
                2600,
                300.0,
                0.9,
                [
                    -0.756_157_281_883_342_4,
                    -5.697_081_991_029_576_5,
                    -14.417_081_991_029_576,
                    0.001_701_588_089_154_629_4,
                ],
            ),
        ] {
            let raw: Vec<f64> = (0..samples).map(|i| f64::from(i * 7919 % 2617) / scale).collect();
            let found = psis(&raw, reff).unwrap();
            let of = |extreme: f64| {
                let place = raw.iter().position(|&v| v == extreme).unwrap();
                found.log_weights[place]
            };
            let (low, high) = crate::numbers::order::range(&raw);
            let squares = found.log_weights.iter().map(|w| (2.0 * w).exp()).sum();
            for (found, expected) in [found.pareto_k, of(high), of(low), squares].into_iter().zip(expected) {
                assert!(found == expected || (found / expected - 1.0).abs() < 1e-10, "{samples}: {found} {expected}");
            }
        }
    }

    #[test]
    fn what_cannot_be_smoothed_is_an_error() {
        assert_eq!(psis(&[], 1.0), Err(DiagError::Empty { chains: 1, draws: 0 }));
        assert!(psis(&[1.0, 2.0], 1e-9).is_ok() && psis(&[1.0, 2.0], f64::NAN).is_ok());
        assert_eq!(psis(&[1.0, 2.0], 0.0), Err(DiagError::Positive { name: "reff", value: 0.0 }));
        assert!(psis(&[f64::INFINITY], 1.0).unwrap().log_weights[0].is_nan());
        assert!(psis(&[f64::INFINITY, 1.0], 1.0).unwrap().log_weights.iter().all(|w| w.is_nan()));
    }
}
