//! The largest importance weights, and what a generalised Pareto distribution makes of them.

use super::pareto;
use crate::exp::exp_all;

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
    /// What takes their places, ascending, at most 1; as `raw` where the fit failed.
    pub(crate) smoothed: Vec<f64>,
    /// The shape of the fitted distribution; infinite where there is too little to fit.
    pub(crate) pareto_k: f64,
    largest: Vec<f64>,
    /// How many of `largest` are in use.
    kept: usize,
    /// Of the tail, from the largest log weight, as bits.
    distances: Vec<u64>,
    excesses: Vec<f64>,
    log_tails: Vec<f64>,
}

/// The number of draws in the tail: `min(S / 5, 3 sqrt(S / reff))`, rounded up (Vehtari et al. 2024, section 3.2).
pub(crate) fn tail_length(samples: usize, reff: f64) -> usize {
    let samples = samples as f64;
    // f64::min passes over a NaN, as Python's min does here.
    (samples / 5.0).min(3.0 * (samples / reff).sqrt()).ceil() as usize
}

impl Tail {
    /// Finds the tail of the log weights `sign * values` and smooths it. False when there is no weight to speak of: a log
    /// weight is NaN or infinitely large, or there are fewer than two.
    pub(crate) fn fit(&mut self, values: &[f64], sign: f64, reff: f64) -> bool {
        self.range = crate::order::range(values);
        self.max = if sign > 0.0 { self.range.1 } else { -self.range.0 };
        self.pareto_k = f64::INFINITY;
        self.raw.clear();
        self.smoothed.clear();
        if values.len() < 2 || !self.max.is_finite() || crate::chains::has_nan(values) {
            return false;
        }
        let length = tail_length(values.len(), reff).min(values.len() - 1);
        let cutoff = self.select(values, sign, length + 1) - self.max;
        // The logarithm of the smallest normal number: weights below it are 0.
        self.cutoff = cutoff.max(f64::MIN_POSITIVE.ln());
        let (cutoff, max) = (self.cutoff, self.max);
        // Numbers that are not negative are in the order of their bits, and integers are sorted faster.
        self.distances.clear();
        let distances = self.largest[..self.kept].iter().map(|w| max - w).filter(|&d| -d > cutoff);
        self.distances.extend(distances.map(f64::to_bits));
        self.distances.sort_unstable();
        self.raw.extend(self.distances.iter().rev().map(|&bits| -f64::from_bits(bits)));
        exp_all(&mut self.raw);
        self.smooth();
        true
    }

    /// The `count`-th largest log weight; afterwards the first `kept` of `largest` are all that are not smaller, and perhaps others.
    fn select(&mut self, values: &[f64], sign: f64, count: usize) -> f64 {
        let from = guess(values, sign, count, &mut self.excesses);
        self.collect(values, sign, from);
        if self.kept < count {
            self.collect(values, sign, f64::NEG_INFINITY);
        }
        let place = self.kept - count;
        *self.largest[..self.kept].select_nth_unstable_by(place, f64::total_cmp).1
    }

    fn collect(&mut self, values: &[f64], sign: f64, from: f64) {
        self.largest.resize(values.len(), 0.0);
        // Every value is written and few are kept: no branch to predict.
        self.kept = 0;
        for &value in values {
            let weight = sign * value;
            self.largest[self.kept] = weight;
            self.kept += usize::from(weight >= from);
        }
    }

    fn smooth(&mut self) {
        if self.raw.len() < FEWEST {
            self.smoothed.extend_from_slice(&self.raw);
            return;
        }
        let base = self.cutoff.exp();
        self.excesses.clear();
        self.excesses.extend(self.raw.iter().map(|w| w - base));
        let (k, sigma) = pareto::fit(&self.excesses);
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

/// A log weight that is likely to be below the `count`-th largest one, but not by much: read off every so many-th draw.
fn guess(values: &[f64], sign: f64, count: usize, buffer: &mut Vec<f64>) -> f64 {
    let stride = values.len() / SAMPLE;
    if stride < 2 {
        return f64::NEG_INFINITY;
    }
    buffer.clear();
    buffer.extend(values.iter().step_by(stride).map(|value| sign * value));
    let expected = buffer.len() as f64 * count as f64 / values.len() as f64;
    let place = buffer.len() as f64 - expected - 3.0 * expected.sqrt() - 1.0;
    if place < 0.0 {
        return f64::NEG_INFINITY;
    }
    *buffer.select_nth_unstable_by(place as usize, f64::total_cmp).1
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
}
