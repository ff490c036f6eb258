//! Importance weights: what they say of the evidence and of themselves, and draws by them.

use crate::error::SamplerError;
use octopus_diag::psis;
use octopus_random::{Stream, exact};

/// Weights whose logarithms differ by less are equal: what is left are rounding errors, which have no tail.
const EQUAL: f64 = 1e-6;

/// What importance weights say together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WeightMoments {
    /// Logarithm of the mean weight.
    pub(super) log_mean: f64,
    /// Variance of the weights over the square of their mean.
    pub(super) relative_variance: f64,
    /// Kish's effective sample size: the square of the sum over the sum of squares.
    pub(super) ess: f64,
}

impl WeightMoments {
    /// Returns those of weights given by their logarithms, minus infinity for a weight of 0; `None` where all are 0.
    pub(super) fn of(log_weights: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let largest = log_weights.clone().fold(f64::NEG_INFINITY, f64::max);
        if !largest.is_finite() {
            return None;
        }
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for log_weight in log_weights {
            let weight = exact::exp(log_weight - largest);
            count += 1.0;
            sum += weight;
            squares += weight * weight;
        }
        let mean = sum / count;
        let relative_variance = (squares / count / (mean * mean) - 1.0).max(0.0);
        Some(Self { log_mean: largest + exact::ln(mean), relative_variance, ess: sum * sum / squares })
    }
}

/// Returns the logarithms of the Pareto smoothed weights, which sum to 1, with the shape k; k is 0 where all weights are
/// equal but for rounding.
pub(super) fn smoothed(log_weights: &[f64]) -> Result<(Vec<f64>, f64), SamplerError> {
    let bounds =
        log_weights.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &w| (low.min(w), high.max(w)));
    let smoothed = psis(log_weights, 1.0).ok().filter(|_| bounds.1.is_finite()).ok_or(SamplerError::NoWeights)?;
    let k = if bounds.1 - bounds.0 < EQUAL { 0.0 } else { smoothed.pareto_k };
    Ok((smoothed.log_weights, k))
}

/// Returns the numbers of `count` particles, each as often as its weight says to within 1 (systematic resampling, Kitagawa
/// 1996), in ascending order. The weights sum to 1; `uniform` is in (0, 1).
pub(super) fn systematic(weights: impl Iterator<Item = f64>, count: usize, uniform: f64) -> Vec<usize> {
    // A particle is written where its places begin. Of several that begin there all but the last have no place, so the last
    // one may overwrite the others: no branch depends on the weights.
    let mut chosen = vec![0; count + 1];
    let (mut below, mut begin, mut last) = (0.0, 0, 0);
    for (particle, weight) in weights.enumerate() {
        if let Some(place) = chosen.get_mut(begin) {
            *place = particle;
        }
        below += weight * count as f64;
        // The number of places k with k + uniform < below.
        let whole = (below - uniform) as usize;
        begin = (whole + usize::from((whole as f64) < below - uniform)).min(count);
        last = if weight > 0.0 { particle } else { last };
    }
    // Rounding may leave the sum of the weights below 1.
    if let Some(place) = chosen.get_mut(begin) {
        *place = last;
    }
    chosen.truncate(count);
    let mut own = 0;
    for place in &mut chosen {
        own = own.max(*place);
        *place = own;
    }
    chosen
}

/// Returns the numbers of `count` particles, each drawn by the weights on its own, in ascending order. The weights sum to 1.
pub(super) fn multinomial(weights: impl Iterator<Item = f64>, count: usize, random: &mut Stream) -> Vec<usize> {
    let mut places: Vec<f64> = (0..count).map(|_| random.uniform()).collect();
    places.sort_by(f64::total_cmp);
    let mut places = places.into_iter().peekable();
    let (mut chosen, mut below, mut last) = (Vec::with_capacity(count), 0.0, 0);
    for (particle, weight) in weights.enumerate() {
        below += weight;
        while places.next_if(|place| *place < below).is_some() {
            chosen.push(particle);
        }
        if weight > 0.0 {
            last = particle;
        }
    }
    chosen.resize(count, last);
    chosen
}

/// Puts items into a random order (Fisher and Yates).
pub(super) fn shuffle(items: &mut [usize], random: &mut Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, (random.uniform() * (last + 1) as f64) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::Purpose;

    #[test]
    fn moments_by_hand() {
        let shift = 700.0;
        let weights = [1.0f64, 2.0, 3.0].map(|w| w.ln() + shift).into_iter().chain([f64::NEG_INFINITY]);
        let moments = WeightMoments::of(weights).unwrap();
        assert!((moments.log_mean - (1.5f64.ln() + shift)).abs() < 1e-12);
        assert!((moments.ess - 36.0 / 14.0).abs() < 1e-12);
        assert!((moments.relative_variance - (14.0 / 4.0 / 2.25 - 1.0)).abs() < 1e-12);
        assert_eq!(WeightMoments::of([f64::NEG_INFINITY; 2].into_iter()), None);
    }

    /// Each particle as often as `count` times its weight, rounded up or down.
    #[test]
    fn particles_are_chosen_as_their_weights_say() {
        let weights = [0.1, 0.0, 0.35, 0.05, 0.5];
        for uniform in [1e-9, 0.3, 0.5, 1.0 - 1e-9] {
            let chosen = systematic(weights.into_iter(), 10, uniform);
            assert_eq!(chosen.len(), 10);
            for (particle, weight) in weights.into_iter().enumerate() {
                let times = chosen.iter().filter(|&&chosen| chosen == particle).count() as f64;
                assert!((times - 10.0 * weight).abs() < 1.0, "{particle}: {times}");
            }
        }
        // The last with a weight stands in where the weights' sum is short of 1.
        assert_eq!(systematic([0.5, 0.4, 0.0].into_iter(), 2, 0.9), [0, 1]);
    }

    /// Every order of three items is as likely as another: 600 of 3600 each, to 5 standard errors.
    #[test]
    fn orders_are_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for turn in 0..3600 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut Stream::new(1, 0, turn, Purpose::User));
            *counts.entry(items).or_insert(0) += 1;
        }
        assert!(counts.len() == 6 && counts.values().all(|n| (480..720).contains(n)), "{counts:?}");
    }

    #[test]
    fn equal_weights_have_no_tail() {
        let (log_weights, k) = smoothed(&[-3.0; 1000]).unwrap();
        assert!(k == 0.0 && log_weights.iter().all(|w| (w + 1000f64.ln()).abs() < 1e-12));
        assert!(smoothed(&[f64::NEG_INFINITY; 5]).is_err() && smoothed(&[]).is_err());
    }
}
