//! Autocovariances and autocorrelations: by definition for the first few lags, by Fourier transform for all.

use crate::numbers::moments::mean;
use pulp::{Arch, Simd, WithSimd};
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// Lags computed at once by definition.
const BLOCK: usize = 8;

/// Sets of running sums of a product over lags.
const SETS: usize = 4;

/// Values that one step of all sets reads.
const WINDOW: usize = BLOCK + SETS - 1;

/// Lags computed by definition before all of them are computed by Fourier transform. Well-mixed chains
/// need fewer than this many, and eight lags by definition cost a fraction of the transforms.
const DIRECT: usize = 32;

/// Returns the autocovariance of `series` at every lag: `c_t = 1/n sum_i (x_i - mean) (x_{i+t} - mean)`, as
/// `az.autocov` (biased: divisor `n` at every lag). Empty for an empty series.
pub fn autocov(series: &[f64]) -> Vec<f64> {
    if series.is_empty() {
        return Vec::new();
    }
    let center = mean(series);
    let centered: Vec<f64> = series.iter().map(|v| v - center).collect();
    let mut lags = Vec::new();
    FourierTransform::new(series.len()).mean_autocov(&centered, &mut lags);
    lags
}

/// Returns the autocorrelation of `series` at every lag: [`autocov`] over its value at lag 0, as `az.autocorr`; NaN
/// where the series is constant.
pub fn autocorr(series: &[f64]) -> Vec<f64> {
    let mut lags = autocov(series);
    if let Some(&variance) = lags.first() {
        lags.iter_mut().for_each(|lag| *lag /= variance);
    }
    lags
}

/// Fourier transforms of one length. They are planned when they are first needed: well-mixed chains never need them.
#[derive(Clone)]
pub(crate) struct FourierTransform {
    draws: usize,
    plan: Option<FftPlan>,
}

impl FourierTransform {
    /// Makes a transform of rows of `draws` values.
    pub(crate) fn new(draws: usize) -> Self {
        Self { draws, plan: None }
    }

    /// Writes to `lags` the autocovariance at lags `0..draws`, averaged over the rows of `centered`
    /// (`chains x draws`, each row with mean 0). The transform is linear: the rows' power spectra are
    /// summed and one inverse serves all.
    pub(crate) fn mean_autocov(&mut self, centered: &[f64], lags: &mut Vec<f64>) {
        let draws = self.draws;
        let plan = self.plan.get_or_insert_with(|| FftPlan::new(draws));
        plan.power.fill(Complex::default());
        for row in centered.chunks_exact(draws) {
            plan.padded[..draws].copy_from_slice(row);
            plan.padded[draws..].fill(0.0);
            plan.forward
                .process_with_scratch(&mut plan.padded, &mut plan.spectrum, &mut plan.scratch)
                .expect("the buffers were made for this plan");
            for (power, value) in plan.power.iter_mut().zip(&plan.spectrum) {
                power.re += value.norm_sqr();
            }
        }
        plan.inverse
            .process_with_scratch(&mut plan.power, &mut plan.padded, &mut plan.scratch)
            .expect("a power spectrum is real at both ends");
        let scale = 1.0 / (plan.padded.len() as f64 * centered.len() as f64);
        lags.clear();
        lags.extend(plan.padded[..draws].iter().map(|v| v * scale));
    }
}

/// The transforms in both directions, with their buffers.
#[derive(Clone)]
struct FftPlan {
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    padded: Vec<f64>,
    spectrum: Vec<Complex<f64>>,
    power: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
}

impl FftPlan {
    /// Rows are padded so that the ends do not wrap around.
    fn new(draws: usize) -> Self {
        let len = fast_length(2 * draws);
        let mut planner = RealFftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(len), planner.plan_fft_inverse(len));
        let scratch = forward.get_scratch_len().max(inverse.get_scratch_len());
        Self {
            padded: vec![0.0; len],
            spectrum: vec![Complex::default(); len / 2 + 1],
            power: vec![Complex::default(); len / 2 + 1],
            scratch: vec![Complex::default(); scratch],
            forward,
            inverse,
        }
    }
}

/// Returns the smallest number of the form 2^a or 3 2^a that is not below `n`: fast, and at most a third too long.
fn fast_length(n: usize) -> usize {
    let power = n.next_power_of_two();
    if power >= 8 && power / 4 * 3 >= n { power / 4 * 3 } else { power }
}

/// A correlation that, when left after a block of lags, takes more lags to vanish than the transforms cost.
const SLOW: f64 = 0.3;

/// Autocovariances averaged over chains, computed as far as they are asked for.
pub(crate) struct MeanAutocov<'a> {
    transform: &'a mut FourierTransform,
    centered: &'a [f64],
    lags: &'a mut Vec<f64>,
}

impl<'a> MeanAutocov<'a> {
    /// Prepares the autocovariances of the rows of `centered` (`chains x draws`, each with mean 0); `lags` is a buffer.
    pub(crate) fn new(transform: &'a mut FourierTransform, centered: &'a [f64], lags: &'a mut Vec<f64>) -> Self {
        lags.clear();
        Self { transform, centered, lags }
    }

    /// Returns the value at lag `lag`, which is below the number of draws.
    pub(crate) fn at(&mut self, lag: usize) -> f64 {
        while lag >= self.lags.len() {
            if self.lags.len() >= DIRECT || self.decays_slowly() {
                self.transform.mean_autocov(self.centered, self.lags);
            } else {
                self.extend_by_definition();
            }
        }
        self.lags[lag]
    }

    /// Returns whether the lags known so far say that many more will be asked for.
    fn decays_slowly(&self) -> bool {
        matches!((self.lags.first(), self.lags.last()), (Some(&variance), Some(&last)) if last > SLOW * variance)
    }

    fn extend_by_definition(&mut self) {
        let (first, draws) = (self.lags.len(), self.transform.draws);
        let mut sums = [0.0; BLOCK];
        Arch::new().dispatch(Products { centered: self.centered, draws, first, sums: &mut sums });
        let scale = 1.0 / self.centered.len() as f64;
        self.lags.extend(sums.iter().take(draws - first).map(|sum| sum * scale));
    }
}

/// Adds to `sums[k]` the sum over all rows of `sum_i x_i x_{i+t}` for `t = first + k`. Compiled for each width
/// of vector; the lags are the lanes, so that the order of additions, and the sums, are the same on all.
struct Products<'a> {
    centered: &'a [f64],
    draws: usize,
    first: usize,
    sums: &'a mut [f64; BLOCK],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in self.centered.chunks_exact(self.draws) {
            add_products(simd, row, self.first, self.sums);
        }
    }
}

#[inline(always)]
fn add_products<S: Simd>(simd: S, x: &[f64], first: usize, sums: &mut [f64; BLOCK]) {
    // Four sets of sums hide the latency of an addition; each has as many vectors as hold a block.
    let vectors = BLOCK / S::F64_LANES;
    let mut partial = [[simd.splat_f64s(0.0); BLOCK]; SETS];
    let full = x.len().saturating_sub(first + WINDOW - 1) / SETS * SETS;
    let later = x.get(first..).unwrap_or_default().windows(WINDOW).step_by(SETS);
    for (here, later) in x[..full].chunks_exact(SETS).zip(later) {
        for (set, partial) in partial.iter_mut().enumerate() {
            let value = simd.splat_f64s(here[set]);
            let (lanes, _) = S::as_simd_f64s(&later[set..set + BLOCK]);
            for (sum, &lanes) in partial[..vectors].iter_mut().zip(lanes) {
                *sum = simd.add_f64s(*sum, simd.mul_f64s(value, lanes));
            }
        }
    }
    let mut lags = [[0.0; BLOCK]; SETS];
    for (lags, partial) in lags.iter_mut().zip(&partial) {
        S::as_mut_simd_f64s(lags).0.copy_from_slice(&partial[..vectors]);
    }
    for (k, sum) in sums.iter_mut().enumerate() {
        let tail: f64 = (full..x.len().saturating_sub(first + k)).map(|i| x[i] * x[i + first + k]).sum();
        *sum += (lags[0][k] + lags[1][k]) + (lags[2][k] + lags[3][k]) + tail;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_definition(series: &[f64]) -> Vec<f64> {
        let n = series.len();
        let center = mean(series);
        (0..n)
            .map(|t| (0..n - t).map(|i| (series[i] - center) * (series[i + t] - center)).sum::<f64>() / n as f64)
            .collect()
    }

    fn series(n: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * i * 7 + i * 3) % 101) as f64 / 10.0 + (i as f64 * 0.1).sin()).collect()
    }

    #[test]
    fn every_length_agrees_with_the_definition() {
        for n in (1..70).chain([127, 128, 129, 500]) {
            let series = series(n);
            for (t, (found, expected)) in autocov(&series).iter().zip(by_definition(&series)).enumerate() {
                assert!((found - expected).abs() < 1e-12, "n {n} lag {t}: {found} {expected}");
            }
        }
    }

    #[test]
    fn lags_on_demand_agree_with_the_transform() {
        for n in [2, 3, 9, 40, 41, 200] {
            let rows: Vec<Vec<f64>> = [series(n), series(n).into_iter().map(|v| v * v).collect()].into();
            let expected: Vec<f64> =
                (0..n).map(|t| rows.iter().map(|row| by_definition(row)[t]).sum::<f64>() / 2.0).collect();
            let centered: Vec<f64> = rows
                .iter()
                .flat_map(|row| {
                    let center = mean(row);
                    row.iter().map(move |v| v - center)
                })
                .collect();
            let (mut transform, mut lags) = (FourierTransform::new(n), Vec::new());
            let mut found = MeanAutocov::new(&mut transform, &centered, &mut lags);
            for (t, expected) in expected.into_iter().enumerate() {
                let found = found.at(t);
                assert!((found - expected).abs() < 1e-11, "n {n} lag {t}: {found} {expected}");
            }
        }
    }

    #[test]
    fn constant_and_empty() {
        assert!(autocov(&[]).is_empty());
        assert_eq!(autocov(&[2.0; 5]), [0.0; 5]);
        assert!(autocorr(&[2.0; 5]).iter().all(|v| v.is_nan()));
        assert_eq!(autocorr(&[1.0, 2.0, 5.0])[0], 1.0);
    }

    #[test]
    fn lengths_are_fast() {
        for (n, expected) in [(1, 1), (2, 2), (5, 6), (6, 6), (7, 8), (1000, 1024), (1400, 1536), (2000, 2048)] {
            assert_eq!(fast_length(n), expected);
        }
    }

    #[test]
    fn short_lengths_are_even_and_long_enough() {
        let found: Vec<usize> = (1..=13).map(fast_length).collect();
        assert_eq!(found, [1, 2, 4, 4, 6, 6, 8, 8, 12, 12, 12, 12, 16]);
    }
}
