//! R-hat: the potential scale reduction factor, `sqrt((B / W + n - 1) / n)` with B the variance between
//! and W that within chains of n draws.
//!
//! Vehtari et al. (2021), Bayesian Analysis 16(2), 667-718, equations 1 to 4 (split chains), 14 (rank
//! normalisation) and section 4 (folding).

use crate::chains::Chains;
use crate::numbers::fold::fold;
use crate::numbers::moments::{mean, variance, variance_about};
use crate::numbers::normal::NormalScores;
use crate::numbers::order::{Sorted, median, rank_normalize};
use crate::numbers::scale;

/// Returns R-hat as it is to be used: the larger of the R-hats of the rank-normalised split chains (location) and of
/// the rank-normalised folded split chains (scale). 1 when chains agree; above 1.01 they do not. NaN for one chain,
/// fewer than 4 draws, a NaN among the values, or when all values are equal. `az.rhat(method="rank")`.
pub fn rhat(chains: &Chains) -> f64 {
    if !chains.valid(2) {
        return f64::NAN;
    }
    let mut buffer = Vec::new();
    let split = chains.split(&mut buffer);
    let bulk = scale_reduction(&rank_normalized(split), split.draws());
    let tail = rank_normalized_folded(split).map_or(f64::NAN, |z| scale_reduction(&z, split.draws()));
    greater(bulk, tail)
}

/// Returns R-hat of the split chains without ranks: the classical one, undefined where the variance is. NaN as
/// [`rhat`]. `az.rhat(method="split")`.
pub fn rhat_split(chains: &Chains) -> f64 {
    if !chains.valid(2) {
        return f64::NAN;
    }
    let mut buffer = Vec::new();
    let split = chains.split(&mut buffer);
    scale_reduction(split.values(), split.draws())
}

/// Returns R-hat of the rank-normalised split chains: sensitive to chains at different places. NaN where [`rhat`] is.
/// `az.rhat(method="z_scale")`.
pub fn rhat_z_scale(chains: &Chains) -> f64 {
    if !chains.valid(2) {
        return f64::NAN;
    }
    let mut buffer = Vec::new();
    let split = chains.split(&mut buffer);
    scale_reduction(&rank_normalized(split), split.draws())
}

/// Returns R-hat of the rank-normalised distances from the median of the split chains: sensitive to chains with
/// different scales. NaN where [`rhat`] is. `az.rhat(method="folded")`.
pub fn rhat_folded(chains: &Chains) -> f64 {
    if !chains.valid(2) {
        return f64::NAN;
    }
    let mut buffer = Vec::new();
    let split = chains.split(&mut buffer);
    rank_normalized_folded(split).map_or(f64::NAN, |z| scale_reduction(&z, split.draws()))
}

/// Returns R-hat of the whole chains, neither split nor ranked (Gelman and Rubin 1992). NaN where [`rhat`] is.
/// `az.rhat(method="identity")`.
pub fn rhat_identity(chains: &Chains) -> f64 {
    if !chains.valid(2) {
        return f64::NAN;
    }
    scale_reduction(chains.values(), chains.draws())
}

/// Normal scores of the pooled ranks of valid chains, each at its value's place.
pub(crate) fn rank_normalized(chains: Chains) -> Vec<f64> {
    let sorted = Sorted::of(chains.values());
    let mut normal = vec![0.0; chains.values().len()];
    rank_normalize(&sorted, &NormalScores::new(normal.len()), &mut normal, &mut Sorted::default());
    normal
}

/// Returns normal scores of the pooled ranks of distances from the median; `None` when the median is infinite.
pub(crate) fn rank_normalized_folded(chains: Chains) -> Option<Vec<f64>> {
    let (mut sorted, mut folded) = (Sorted::of(chains.values()), Sorted::default());
    let center = median(&sorted.values);
    if !fold(&mut sorted, center, &mut folded) {
        return None;
    }
    let mut normal = vec![0.0; chains.values().len()];
    rank_normalize(&folded, &NormalScores::new(normal.len()), &mut normal, &mut Sorted::default());
    Some(normal)
}

/// Returns R-hat of `values` (`chains x draws`) as they are; NaN when one of them is.
pub(crate) fn scale_reduction(values: &[f64], draws: usize) -> f64 {
    let unit = scale::unit(values);
    if unit != 1.0 {
        return scale_reduction(&values.iter().map(|value| value * unit).collect::<Vec<f64>>(), draws);
    }
    let n = draws as f64;
    let means: Vec<f64> = values.chunks_exact(draws).map(mean).collect();
    let variances: Vec<f64> =
        values.chunks_exact(draws).zip(&means).map(|(row, &mean)| variance_about(row, mean)).collect();
    let between = n * variance(&means);
    let within = mean(&variances);
    ((between / within + n - 1.0) / n).sqrt()
}

/// Python's `max(a, b)`: `a` unless `b` is larger, so that NaN stays where it stands.
pub(crate) fn greater(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Means 2 and 4, variances 1 and 1: B = 3 * 2, W = 1, so R-hat^2 = (6 + 2) / 3.
        let chains = scale_reduction(&[1.0, 2.0, 3.0, 3.0, 4.0, 5.0], 3);
        assert!((chains - (8.0f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn scale_differences_show_when_folded() {
        let values: Vec<f64> =
            (0..400).map(|i| ((i * 37 % 101) as f64 - 50.0) * if i < 200 { 1.0 } else { 10.0 }).collect();
        let chains = Chains::new(&values, 2, 200).unwrap();
        assert!(rhat_folded(&chains) > 1.3, "{}", rhat_folded(&chains));
        assert!(rhat_split(&chains) < 1.01, "{}", rhat_split(&chains));
        assert_eq!(rhat(&chains), rhat_folded(&chains));
    }

    #[test]
    fn undefined_cases() {
        let one = Chains::new(&[1.0, 2.0, 3.0, 4.0], 1, 4).unwrap();
        assert!(rhat(&one).is_nan() && rhat_identity(&one).is_nan());
        let short = Chains::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3).unwrap();
        assert!(rhat(&short).is_nan() && rhat_split(&short).is_nan());
        let constant = Chains::new(&[1.0; 8], 2, 4).unwrap();
        assert!(rhat(&constant).is_nan() && rhat_folded(&constant).is_nan());
    }
}
