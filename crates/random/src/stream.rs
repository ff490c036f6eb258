//! Random numbers addressed by what they are for: seed, chain, iteration and purpose.
//!
//! How bits become uniform and normal numbers is decided here.

use crate::exact::{FAR, normal_quantile, quantile_center, quantile_far_tail, quantile_near_tail, tail_radius};
use crate::philox::philox4x32_10;
use pulp::{Arch, Simd, WithSimd};

/// Lanes worked on at a time.
const SPAN: usize = 32;
/// Numbers turned into normal ones at a time.
const CHUNK: usize = 128;

/// The purpose of a random number: streams of different purposes never share numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Starting points.
    Init = 1,
    /// Momenta of transitions.
    Momentum = 2,
    /// Directions and acceptances of NUTS.
    Tree = 3,
    /// Momenta of the search for a first step size.
    StepSize = 4,
    /// Start vectors of the search for the metric's directions.
    Metric = 5,
    /// Posterior predictive draws.
    Predictive = 6,
    /// Anything of the user's own.
    User = 7,
    /// Parameters, data and seeds of a calibration.
    Calibration = 8,
    /// Draws of a prior, and of observations from it.
    Prior = 9,
    /// Draws of a [distribution](crate::distribution) by a [`Key`](crate::Key).
    Draws = 10,
    /// Keys made of other keys.
    Key = 11,
    /// Signs of the directions in which a density is looked at beside a point.
    Probe = 12,
    /// Lengths of trajectories, the same for all chains of an iteration.
    Length = 13,
    /// Particles of a population, their moves and their resampling.
    Particle = 14,
    /// Draws of a proposal that bridges to a posterior.
    Bridge = 15,
}

/// The random numbers of one (seed, chain, iteration, purpose): as many as are asked for, each addressed
/// by its index, so that they do not depend on who asks, when, or in which order.
///
/// Key: the seed. Counter: (index, iteration, chain, purpose).
///
/// Read them one after another ([`uniform`](Self::uniform), [`normal`](Self::normal)), by index
/// ([`uniform_at`](Self::uniform_at)), or whole vectors at once ([`fill_normal`](Self::fill_normal)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    key: [u32; 2],
    rest: [u32; 3],
    next: u64,
}

/// [`Stream::fill_normal`] compiled for each level of vector instructions. (A closure would not do: the call
/// through which it is dispatched is compiled for the lowest.)
struct Fill<'a> {
    stream: &'a Stream,
    lanes: usize,
    out: &'a mut [f64],
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.stream.fill(self.lanes, self.out);
    }
}

impl Stream {
    /// Makes the stream of `purpose` in iteration `iteration` of chain `chain`.
    pub fn new(seed: u64, chain: u32, iteration: u32, purpose: Purpose) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], rest: [iteration, chain, purpose as u32], next: 0 }
    }

    /// Returns the `index`-th uniform number of the stream, in (0, 1).
    #[inline(always)]
    pub fn uniform_at(&self, index: u64) -> f64 {
        let words = self.block((index / 2) as u32);
        if index.is_multiple_of(2) { open01(words[0], words[1]) } else { open01(words[2], words[3]) }
    }

    /// Returns uniform numbers `2 block` and `2 block + 1`.
    #[inline(always)]
    pub fn uniform_pair_at(&self, block: u32) -> [f64; 2] {
        let words = self.block(block);
        [open01(words[0], words[1]), open01(words[2], words[3])]
    }

    /// Returns the next uniform number, in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.next += 1;
        self.uniform_at(self.next - 1)
    }

    /// Returns the 64 bits of which the next uniform number is made.
    pub fn next_bits(&mut self) -> u64 {
        let words = self.block((self.next / 2) as u32);
        let [high, low] = if self.next.is_multiple_of(2) { [words[0], words[1]] } else { [words[2], words[3]] };
        self.next += 1;
        u64::from(high) << 32 | u64::from(low)
    }

    /// Returns the next standard normal number.
    pub fn normal(&mut self) -> f64 {
        normal_quantile(self.uniform())
    }

    /// Fills a vector with standard normal numbers, laid out in rows of `lanes`: lane `l` of rows `2 k` and `2 k + 1`
    /// takes the two numbers of block `k * lanes + l`, so that each lane of a GPU warp uses both halves of its own
    /// blocks. Does not advance the stream.
    ///
    /// # Panics
    /// When `lanes` is no multiple of 16 or `out` is not made of whole rows.
    pub fn fill_normal(&self, lanes: usize, out: &mut [f64]) {
        assert!(lanes > 0 && lanes.is_multiple_of(16), "{lanes} lanes: a multiple of 16 is needed");
        assert!(out.len().is_multiple_of(lanes), "{} values in rows of {lanes}", out.len());
        Arch::new().dispatch(Fill { stream: self, lanes, out });
    }

    #[inline(always)]
    fn fill(&self, lanes: usize, out: &mut [f64]) {
        let mut words = [[0u32; SPAN]; 4];
        for (pair, rows) in out.chunks_mut(2 * lanes).enumerate() {
            let (even, odd) = rows.split_at_mut(lanes);
            for first in (0..lanes).step_by(SPAN) {
                let span = SPAN.min(lanes - first);
                self.blocks((pair * lanes + first) as u32, span, &mut words);
                uniforms(&words[0][..span], &words[1][..span], &mut even[first..first + span]);
                if !odd.is_empty() {
                    uniforms(&words[2][..span], &words[3][..span], &mut odd[first..first + span]);
                }
            }
        }
        let mut tails = Tails { p: [0.0; CHUNK], at: [0; CHUNK], radius: [0.0; CHUNK], size: [0.0; CHUNK] };
        for chunk in out.chunks_mut(CHUNK) {
            quantiles(chunk, &mut tails);
        }
    }

    /// Blocks `first .. first + span`, word by word.
    #[inline(always)]
    fn blocks(&self, first: u32, span: usize, words: &mut [[u32; SPAN]; 4]) {
        let [w0, w1, w2, w3] = words;
        let (w0, w1, w2, w3) = (&mut w0[..span], &mut w1[..span], &mut w2[..span], &mut w3[..span]);
        for l in 0..span {
            [w0[l], w1[l], w2[l], w3[l]] = self.block(first.wrapping_add(l as u32));
        }
    }

    #[inline(always)]
    fn block(&self, index: u32) -> [u32; 4] {
        philox4x32_10([index, self.rest[0], self.rest[1], self.rest[2]], self.key)
    }
}

/// The numbers of a chunk that lie in the tails, and where they are from.
struct Tails {
    p: [f64; CHUNK],
    at: [u32; CHUNK],
    radius: [f64; CHUNK],
    size: [f64; CHUNK],
}

#[inline(always)]
fn uniforms(high: &[u32], low: &[u32], out: &mut [f64]) {
    let n = out.len();
    let (high, low) = (&high[..n], &low[..n]);
    for l in 0..n {
        out[l] = open01(high[l], low[l]);
    }
}

/// Normal numbers in the place of uniform ones. The tails, which cost a logarithm, a root and a quotient more, are
/// gathered and done together: they are three in twenty.
///
/// One loop for each step, of a length that the compiler does not know: each becomes vector code, which one loop
/// for all steps, or one that can be unrolled, does not.
#[inline(always)]
fn quantiles(values: &mut [f64], tails: &mut Tails) {
    let mut count = 0;
    for (l, &p) in values.iter().enumerate() {
        // Written always and kept only if counted: no branch that cannot be foretold.
        tails.p[count] = p;
        tails.at[count] = l as u32;
        count += usize::from((p - 0.5).abs() > 0.425);
    }
    for value in values.iter_mut() {
        *value = quantile_center(*value - 0.5);
    }
    let Tails { p, at, radius, size } = tails;
    let (p, at, radius, size) = (&p[..count], &at[..count], &mut radius[..count], &mut size[..count]);
    for t in 0..count {
        radius[t] = tail_radius(p[t]);
    }
    for t in 0..count {
        size[t] = quantile_near_tail(radius[t]);
    }
    for t in 0..count {
        // The far tail is one number in 10^11.
        let size = if radius[t] > FAR { quantile_far_tail(radius[t]) } else { size[t] };
        values[at[t] as usize] = if p[t] > 0.5 { size } else { -size };
    }
}

/// 52 random bits as (k + 1/2) / 2^52: never 0 and never 1. (With 53 bits the half would round up to 1.)
#[inline(always)]
pub(crate) fn open01(high: u32, low: u32) -> f64 {
    let bits = ((u64::from(high) << 32) | u64::from(low)) >> 12;
    // The bits become the mantissa of a number in [1, 2): exact, and vector code everywhere.
    (f64::from_bits(bits | 0x3ff0_0000_0000_0000) - 1.0) + 0.5 * f64::EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniforms_stay_inside_the_open_interval() {
        assert_eq!(open01(0, 0), 0.5 / 2f64.powi(52));
        assert!(open01(u32::MAX, u32::MAX) < 1.0);
    }

    #[test]
    fn filled_vectors_are_the_addressed_numbers() {
        let stream = Stream::new(42, 3, 7, Purpose::Momentum);
        for lanes in [32, 256] {
            let mut out = vec![0.0; 3 * lanes];
            stream.fill_normal(lanes, &mut out);
            for (i, value) in out.iter().enumerate() {
                let (row, lane) = (i / lanes, i % lanes);
                let index = 2 * ((row / 2) * lanes + lane) as u64 + (row % 2) as u64;
                assert_eq!(value.to_bits(), normal_quantile(stream.uniform_at(index)).to_bits(), "{i}");
            }
        }
    }

    #[test]
    fn streams_differ_in_every_part_of_their_address() {
        let first = |seed, chain, iteration, purpose| Stream::new(seed, chain, iteration, purpose).uniform();
        let base = first(1, 2, 3, Purpose::Init);
        assert_ne!(base, first(2, 2, 3, Purpose::Init));
        assert_ne!(base, first(1 << 32 | 1, 2, 3, Purpose::Init));
        assert_ne!(base, first(1, 3, 3, Purpose::Init));
        assert_ne!(base, first(1, 2, 4, Purpose::Init));
        assert_ne!(base, first(1, 2, 3, Purpose::Tree));
    }

    /// Mean, variance and the Kolmogorov-Smirnov distance of 100,000 numbers.
    #[test]
    fn normals_are_standard_normal() {
        let mut stream = Stream::new(5, 0, 0, Purpose::User);
        let n = 100_000;
        let mut draws: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 4.0 / f64::from(n).sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 4.0 * (2.0 / f64::from(n)).sqrt(), "{variance}");
        // Uniformity of the same draws before the quantile, against which the distance is exact.
        draws.sort_by(f64::total_cmp);
        let distance = draws
            .iter()
            .enumerate()
            .map(|(i, &x)| (normal_cdf(x) - (i as f64 + 0.5) / f64::from(n)).abs())
            .fold(0.0, f64::max);
        assert!(distance < 1.95 / f64::from(n).sqrt(), "{distance}");
    }

    /// By Marsaglia's series: independent of the quantile.
    fn normal_cdf(x: f64) -> f64 {
        let (mut term, mut sum, mut k) = (x, x, 1.0);
        while term.abs() > 1e-17 {
            k += 2.0;
            term *= x * x / k;
            sum += term;
        }
        0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }
}
