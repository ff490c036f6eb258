//! The tail of the importance weights in PSIS: its length, its generalised Pareto fit, the smoothed weights.
//!
//! The fewest weights that are fitted stand here, too.

use super::pareto;
use super::sort::TailSorter;
use crate::numbers::exp::{exp_all, sum_exp};
use crate::numbers::lanes;
use crate::numbers::order::range_and_nan;
use pulp::{Arch, Simd, WithSimd};

/// Fewer weights than this cannot be fitted.
const FEWEST: usize = 5;

/// Draws that are sorted to guess where the tail begins.
const SAMPLE: usize = 512;

/// The tail of one set of weights; its buffers serve many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    /// The smallest and the largest of the values fitted to, as they were given.
    pub(crate) range: (f64, f64),
    /// The largest log weight.
    pub(crate) max: f64,
    /// The largest log weight that is not in the tail, less `max`.
    pub(crate) cutoff: f64,
    /// The weights of the tail over the largest one, ascending.
    pub(crate) raw: Vec<f64>,
    /// The smoothed weights in place of `raw`, ascending, at most 1; equal to `raw` where the fit failed.
    pub(crate) smoothed: Vec<f64>,
    /// The shape of the fitted distribution; infinite where there is too little to fit.
    pub(crate) pareto_k: f64,
    /// How far the largest log weights are from the largest one; the tail's come first, ascending.
    distances: Vec<f64>,
    sorter: TailSorter,
    excesses: Vec<f64>,
    log_tails: Vec<f64>,
    pareto: pareto::Fit,
}

/// Returns the number of draws in the tail: `min(S / 5, 3 sqrt(S / reff))`, rounded up (Vehtari et al. 2024, section
/// 3.2).
pub(crate) fn tail_length(samples: usize, reff: f64) -> usize {
    let samples = samples as f64;
    // f64::min passes over a NaN, as Python's min does here.
    (samples / 5.0).min(3.0 * (samples / reff).sqrt()).ceil() as usize
}

/// The weights to look at: the tail, and the largest one outside it.
pub(crate) fn nearest(samples: usize, reff: f64) -> usize {
    tail_length(samples, reff) + 1
}

/// Returns (stride, rank): draws up to the rank-th value of a sample with this stride are candidates for the `count`
/// nearest. `None` where all draws must be looked at.
pub(crate) fn sample(samples: usize, count: usize) -> Option<(usize, usize)> {
    let stride = samples / SAMPLE;
    if stride < 2 {
        return None;
    }
    let taken = samples.div_ceil(stride);
    let expected = taken as f64 * count as f64 / samples as f64;
    let place = (expected + 3.0 * expected.sqrt()).ceil() as usize;
    (place < taken).then_some((stride, place))
}

impl Tail {
    /// Finds the tail of the log weights `sign * values` and smooths it. False when there is no weight to speak of: a log
    /// weight is NaN or infinitely large, or there are fewer than two.
    pub(crate) fn fit(&mut self, values: &[f64], sign: f64, reff: f64) -> bool {
        let (low, high, nan) = range_and_nan(values);
        self.begin((low, high), if sign > 0.0 { high } else { -low });
        if values.len() < 2 || !self.max.is_finite() || nan {
            return false;
        }
        let count = nearest(values.len(), reff);
        let to = self.guess(values, sign, count);
        self.collect(values, sign, to);
        if self.distances.len() < count {
            self.collect(values, sign, f64::INFINITY);
        }
        self.smooth_nearest(count);
        true
    }

    /// Fits the log weights `-values`, all finite, of which only `range` and the smallest values are known: `smallest`
    /// holds at least `count` values, where [`nearest`] says how many are needed.
    pub(crate) fn fit_smallest(&mut self, range: (f64, f64), smallest: &[f64], count: usize) {
        self.begin(range, -range.0);
        self.distances.clear();
        self.distances.extend(smallest.iter().map(|value| value - range.0));
        self.smooth_nearest(count);
    }

    /// Forgets the weights before.
    fn begin(&mut self, range: (f64, f64), max: f64) {
        (self.range, self.max, self.pareto_k) = (range, max, f64::INFINITY);
        self.raw.clear();
        self.smoothed.clear();
    }

    /// Smooths what is nearer than the `count`-th distance.
    fn smooth_nearest(&mut self, count: usize) {
        self.sorter.sort_smallest(&mut self.distances, count);
        // The logarithm of the smallest normal number: weights below it are 0.
        self.cutoff = (-self.distances[count - 1]).max(f64::MIN_POSITIVE.ln());
        let cutoff = self.cutoff;
        let tail = self.distances[..count - 1].iter().rev().map(|distance| -distance);
        self.raw.extend(tail.filter(|&weight| weight > cutoff));
        exp_all(&mut self.raw);
        self.smooth();
    }

    /// Returns the sum of the weights that were looked at and left as they are, over the largest one.
    pub(crate) fn untouched(&self) -> f64 {
        let smoothed = if self.pareto_k.is_finite() { self.raw.len() } else { 0 };
        sum_exp(&self.distances[smoothed..], -1.0, 0.0)
    }

    /// How many times as large the smoothed weights are as they were, summed, and their sum, over the largest weight.
    pub(crate) fn raised(&self) -> (f64, f64) {
        Arch::new().dispatch(Raised { raw: &self.raw, smoothed: &self.smoothed })
    }

    /// Fills `distances` with those that are at most `to`.
    fn collect(&mut self, values: &[f64], sign: f64, to: f64) {
        self.distances.resize(values.len(), 0.0);
        let (max, distances) = (self.max, self.distances.as_mut_slice());
        // Every value is written and few are kept: no branch to predict.
        let mut kept = 0;
        for &value in values {
            let distance = max - sign * value;
            distances[kept] = distance;
            kept += usize::from(distance <= to);
        }
        self.distances.truncate(kept);
    }

    /// Returns a distance that is likely to be above the `count`-th smallest one, but not by much: read off every so
    /// many-th draw.
    fn guess(&mut self, values: &[f64], sign: f64, count: usize) -> f64 {
        let Some((stride, place)) = sample(values.len(), count) else {
            return f64::INFINITY;
        };
        let max = self.max;
        self.excesses.clear();
        self.excesses.extend(values.iter().step_by(stride).map(|value| max - sign * value));
        *self.excesses.select_nth_unstable_by(place, f64::total_cmp).1
    }

    fn smooth(&mut self) {
        if self.raw.len() < FEWEST {
            self.smoothed.extend_from_slice(&self.raw);
            return;
        }
        let base = self.cutoff.exp();
        self.excesses.clear();
        self.excesses.extend(self.raw.iter().map(|w| w - base));
        let (k, sigma) = self.pareto.fit(&self.excesses);
        self.pareto_k = k;
        if k.is_finite() {
            // Most sets of weights have tails of one length.
            if self.log_tails.len() != self.raw.len() {
                pareto::log_tails(self.raw.len(), &mut self.log_tails);
            }
            pareto::quantiles(k, sigma, &self.log_tails, &mut self.smoothed);
            self.smoothed.iter_mut().for_each(|w| *w = if *w + base > 1.0 { 1.0 } else { *w + base });
        } else {
            self.smoothed.extend_from_slice(&self.raw);
        }
    }
}

/// The sums of `smoothed / raw` and of `smoothed`.
struct Raised<'a> {
    raw: &'a [f64],
    smoothed: &'a [f64],
}

impl WithSimd for Raised<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (f64, f64) {
        const LANES: usize = 16;
        let ratio = lanes::sum_pairs::<LANES>(self.smoothed, self.raw, |smoothed, raw| smoothed / raw);
        (ratio, lanes::sum::<LANES>(self.smoothed, |smoothed| smoothed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    #[test]
    fn the_tail_is_what_a_sort_says() {
        for samples in [2, 3, 30, 400, 1500, 9001] {
            let mut random = Stream::new(1, 0, samples as u32, Purpose::Momentum);
            let values: Vec<f64> = (0..samples).map(|_| 2.0 * random.normal()).collect();
            let mut sorted: Vec<f64> = values.iter().map(|v| -v).collect();
            sorted.sort_by(f64::total_cmp);
            let mut tail = Tail::default();
            for reff in [1.0, 0.3] {
                assert!(tail.fit(&values, -1.0, reff));
                let length = tail_length(samples, reff).min(samples - 1);
                let (max, expected) = (sorted[samples - 1], &sorted[samples - length..]);
                assert_eq!((tail.max, tail.raw.len()), (max, length), "{samples}");
                assert_eq!(tail.cutoff, sorted[samples - length - 1] - max);
                assert!(tail.raw.iter().zip(expected).all(|(w, e)| (w / (e - max).exp() - 1.0).abs() < 1e-14));
                assert!(tail.smoothed.windows(2).all(|pair| pair[0] <= pair[1]) && tail.smoothed.len() == length);
            }
        }
    }

    /// Every fourth weight, of which the sample is, is large: it tells of fewer large ones than are needed.
    #[test]
    fn a_sample_that_misleads_costs_time_alone() {
        let near = |i: usize| if i.is_multiple_of(4) { 0.0 } else { -5.0 };
        let values: Vec<f64> = (0..2048).map(|i| near(i) - i as f64 / 2048.0).collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let mut tail = Tail::default();
        assert!(tail.fit(&values, 1.0, 1.0));
        // 3 sqrt(2048), rounded up.
        assert_eq!((tail.max, tail.raw.len(), tail.cutoff), (0.0, 136, sorted[2048 - 137]));
    }

    /// Half of 1024 draws are taken; of them `count / 2`, and three times its root more, stand before the place.
    #[test]
    fn where_all_would_pass_there_is_no_sample() {
        assert_eq!((sample(1024, 895), sample(1024, 896), sample(1023, 100)), (Some((2, 511)), None, None));
        // The first and every second of an odd number are one more than half.
        assert_eq!((sample(1025, 32), sample(1025, 896)), (Some((2, 29)), Some((2, 512))));
    }

    #[test]
    fn equal_weights_have_no_tail() {
        let mut tail = Tail::default();
        assert!(tail.fit(&[0.5; 1000], 1.0, 1.0));
        assert!(tail.raw.is_empty() && tail.pareto_k == f64::INFINITY);
    }

    #[test]
    fn weights_that_say_nothing() {
        let mut tail = Tail::default();
        for values in
            [vec![], vec![1.0], vec![1.0, f64::NAN, 2.0], vec![1.0, f64::INFINITY], vec![f64::NEG_INFINITY; 9]]
        {
            assert!(!tail.fit(&values, 1.0, 1.0), "{values:?}");
        }
        assert_eq!(tail_length(1000, f64::NAN), 200);
        assert_eq!(tail_length(8000, 1.0), 269);
    }

    /// A fifth of 20 weights are 4, of 21 to 25 are 5.
    #[test]
    fn five_weights_are_the_fewest_that_are_fitted() {
        for (samples, length, fitted) in [(20, 4, false), (21, 5, true), (25, 5, true), (26, 6, true)] {
            let values: Vec<f64> = (0..samples).map(|i| f64::from(i * i % 53) / 9.0).collect();
            let mut tail = Tail::default();
            assert!(tail.fit(&values, 1.0, 1.0));
            assert_eq!((tail.raw.len(), tail.pareto_k.is_finite()), (length, fitted), "{samples}");
            assert_eq!(tail.raw == tail.smoothed, !fitted, "{samples}");
            // What is left as it is: all but the tail, or all.
            let kept = |value: &&f64| !fitted || **value - tail.max <= tail.cutoff;
            let expected: f64 = values.iter().filter(kept).map(|value| (value - tail.max).exp()).sum();
            assert!((tail.untouched() / expected - 1.0).abs() < 1e-13, "{samples}");
            let ratios: f64 = tail.smoothed.iter().zip(&tail.raw).map(|(new, old)| new / old).sum();
            let (raised, sum) = tail.raised();
            assert!(
                (raised / ratios - 1.0).abs() < 1e-13 && (sum / tail.smoothed.iter().sum::<f64>() - 1.0).abs() < 1e-13
            );
        }
        assert_eq!([5, 6, 30, 225, 226, 1000].map(|samples| tail_length(samples, 1.0)), [1, 2, 6, 45, 46, 95]);
    }

    /// Smoothed weights reach 1 at most: the largest weight was 1.
    #[test]
    fn no_smoothed_weight_is_above_the_largest() {
        let values: Vec<f64> =
            (0..100).map(|i| if i == 17 { 3.0 } else { f64::from(i % 10) / 100.0 + f64::from(i) * 1e-3 }).collect();
        let mut tail = Tail::default();
        assert!(tail.fit(&values, 1.0, 1.0) && tail.pareto_k.is_finite());
        let largest = tail.smoothed.iter().copied().fold(0.0, f64::max);
        assert!(largest <= 1.0 && tail.smoothed.len() == 20, "{largest}");
    }
}
