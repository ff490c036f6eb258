//! Series of zeros and ones, a bit for each draw: products over a lag are counted, 64 at a time and exactly.

use crate::estimators::autocov::FourierTransform;
use pulp::{Arch, Simd, WithSimd};

/// Draws in a word.
const BITS: usize = u64::BITS as usize;

/// Lags counted before all of them are computed by Fourier transform: this number of counts costs as much.
const COUNTED: usize = 256;

/// Rows of as many draws.
#[derive(Clone, Debug, Default)]
pub(crate) struct Indicators {
    draws: usize,
    /// Row after row, each with a word of zeros behind it.
    words: Vec<u64>,
    rows: Vec<Row>,
    lags: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Row {
    /// Ones among all draws, among the first and among the last so many as the lag is.
    ones: usize,
    first: usize,
    last: usize,
}

impl Indicators {
    /// Keeps where `is` is true of `values`, chains of `whole` draws: of their first and last `draws` draws, the middle one of
    /// an odd number left out, as rows.
    pub(crate) fn fill(&mut self, values: &[f64], whole: usize, draws: usize, is: impl Fn(f64) -> bool) {
        self.draws = draws;
        self.words.clear();
        self.rows.clear();
        self.lags.clear();
        for chain in values.chunks_exact(whole) {
            for half in [&chain[..draws], &chain[whole - draws..]] {
                let start = self.words.len();
                self.words.resize(start + self.stride(), 0);
                let words = &mut self.words[start..];
                Arch::new().dispatch(Pack { values: half, is: &is, words });
                let ones = words.iter().map(|word| word.count_ones() as usize).sum();
                self.rows.push(Row { ones, first: 0, last: 0 });
            }
        }
    }

    /// Returns whether all are zeros, or all ones.
    pub(crate) fn constant(&self) -> bool {
        let ones: usize = self.rows.iter().map(|row| row.ones).sum();
        ones == 0 || ones == self.len()
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() * self.draws
    }

    /// Returns the mean of each row.
    pub(crate) fn means(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().map(|row| row.ones as f64 / self.draws as f64)
    }

    /// Returns the autocovariance at a lag below the number of draws, averaged over rows (divisor `draws` at every
    /// lag).
    pub(crate) fn mean_autocov(&mut self, lag: usize, transform: &mut FourierTransform) -> f64 {
        while lag >= self.lags.len() {
            if self.lags.len() < COUNTED {
                let next = self.count(self.lags.len());
                self.lags.push(next);
            } else {
                let centered = self.centered();
                transform.mean_autocov(&centered, &mut self.lags);
            }
        }
        self.lags[lag]
    }

    /// Counts at the lag after the last one.
    fn count(&mut self, lag: usize) -> f64 {
        let (draws, stride) = (self.draws, self.stride());
        let mut sum = 0.0;
        for (row, words) in self.rows.iter_mut().zip(self.words.chunks_exact(stride)) {
            if lag > 0 {
                row.first += bit(words, lag - 1);
                row.last += bit(words, draws - lag);
            }
            let both = Arch::new().dispatch(Both { words, lag });
            // sum (x_i - mean) (x_{i+t} - mean), of zeros and ones.
            let mean = row.ones as f64 / draws as f64;
            let (early, late) = ((row.ones - row.last) as f64, (row.ones - row.first) as f64);
            sum += both as f64 - mean * (early + late - mean * (draws - lag) as f64);
        }
        sum / self.len() as f64
    }

    /// Returns the series as numbers, each row's mean subtracted.
    fn centered(&self) -> Vec<f64> {
        let rows = self.words.chunks_exact(self.stride()).zip(self.means());
        rows.flat_map(|(words, mean)| (0..self.draws).map(move |i| bit(words, i) as f64 - mean)).collect()
    }

    fn stride(&self) -> usize {
        self.draws.div_ceil(BITS) + 1
    }
}

fn bit(words: &[u64], i: usize) -> usize {
    (words[i / BITS] >> (i % BITS)) as usize & 1
}

/// Sets the bits of the values of which `is` is true.
struct Pack<'a, F> {
    values: &'a [f64],
    is: F,
    words: &'a mut [u64],
}

impl<F: Fn(f64) -> bool> WithSimd for Pack<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (word, values) in self.words.iter_mut().zip(self.values.chunks(BITS)) {
            *word = values.iter().zip(0..).fold(0, |word, (&v, i)| word | u64::from((self.is)(v)) << i);
        }
    }
}

/// Counts the ones that have another one `lag` draws later.
struct Both<'a> {
    words: &'a [u64],
    lag: usize,
}

impl WithSimd for Both<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let (skip, shift) = (self.lag / BITS, self.lag % BITS);
        let later = self.words[skip..].windows(2).map(|pair| pair[0] >> shift | pair[1] << 1 << (BITS - 1 - shift));
        self.words.iter().zip(later).map(|(&here, later)| u64::from((here & later).count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimators::autocov::autocov;

    /// Compares counts of bits with `autocov` of this crate, which `autocov.rs` holds to the definition and
    /// `tests/suite/arviz.rs` to ArviZ's numbers.
    #[test]
    fn counts_agree_with_the_definition() {
        for whole in [4, 9, 64, 129, 130, 700, 1300] {
            let draws = whole / 2;
            let values: Vec<f64> = (0..3 * whole).map(|i| ((i * i * 7 + i * 3) % 101) as f64).collect();
            let mut indicators = Indicators::default();
            indicators.fill(&values, whole, draws, |v| v <= 40.0);
            assert_eq!((indicators.len(), indicators.constant()), (6 * draws, false));
            let mut expected = vec![0.0; draws];
            for chain in values.chunks_exact(whole) {
                for half in [&chain[..draws], &chain[whole - draws..]] {
                    let ones: Vec<f64> = half.iter().map(|&v| f64::from(u8::from(v <= 40.0))).collect();
                    expected.iter_mut().zip(autocov(&ones)).for_each(|(sum, lag)| *sum += lag / 6.0);
                }
            }
            let mut transform = FourierTransform::new(draws);
            for (lag, expected) in expected.into_iter().enumerate() {
                let found = indicators.mean_autocov(lag, &mut transform);
                assert!((found - expected).abs() < 1e-14, "{whole} {lag}: {found} {expected}");
            }
        }
    }

    #[test]
    fn all_alike() {
        let mut indicators = Indicators::default();
        for bound in [f64::NAN, 2.0] {
            indicators.fill(&[1.0; 20], 10, 5, |v| v <= bound);
            assert!(indicators.constant());
        }
        indicators.fill(&[1.0, 2.0, 3.0, 4.0], 4, 2, |v| v <= 1.0);
        assert!(!indicators.constant() && indicators.means().eq([0.5, 0.0]));
    }
}
