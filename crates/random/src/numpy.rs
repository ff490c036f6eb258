//! NumPy's legacy generator, bit for bit: the data of `np.random.seed(seed)`.
//!
//! Only for data that must be the same as somebody's NumPy script makes; for everything else use
//! [`Stream`](crate::Stream), which needs no order of calls.
//!
//! ```
//! use octopus_random::numpy::LegacyRandom;
//!
//! // np.random.seed(42); np.random.normal(50, 10); np.random.random_sample()
//! let mut random = LegacyRandom::new(42);
//! assert_eq!(random.normal(50.0, 10.0), 54.96714153011233);
//! assert_eq!(LegacyRandom::new(42).random_sample(), 0.3745401188473625);
//! ```
//!
//! # Which bits
//! The uniform numbers are the same on all machines. A normal number passes through the logarithm of the C
//! library, which the C standard leaves free: NumPy itself gives other last bits on macOS or Windows than on
//! Linux. "NumPy's bits" here means NumPy on x86-64 Linux with glibc 2.28 or newer, on a processor with FMA
//! (2013 and later). Octopus gives these bits everywhere: this crate contains glibc's logarithm. `f64::ln`
//! would depend on the platform's C library. A correctly rounded logarithm would not do: it changes the last
//! bit of about one normal number in 2700.

mod log;
mod log_table;

use rand_mt::Mt;

/// `numpy.random.RandomState` seeded with an integer: MT19937, 53-bit uniform numbers and the polar normal.
///
/// Matsumoto and Nishimura (1998), doi:10.1145/272991.272995; Marsaglia and Bray (1964),
/// doi:10.1137/1006063. The stream is frozen by NumPy's compatibility promise (NEP 19).
#[derive(Clone, Debug)]
pub struct LegacyRandom {
    bits: Mt,
    /// The second number of the last polar pair.
    cached: Option<f64>,
}

impl LegacyRandom {
    /// Makes the generator after `np.random.seed(seed)`: MT19937's `init_genrand`.
    pub fn new(seed: u32) -> Self {
        Self { bits: Mt::new(seed), cached: None }
    }

    /// Returns a uniform number in [0, 1): a multiple of 2^-53 from two words, `np.random.random_sample()`.
    pub fn random_sample(&mut self) -> f64 {
        let high = f64::from(self.bits.next_u32() >> 5);
        let low = f64::from(self.bits.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// Returns a standard normal number: one point of the unit disc gives two, and the second is kept for the next
    /// call.
    ///
    /// The order matters and is NumPy's (`legacy_gauss`): the y coordinate's number comes first.
    pub fn standard_normal(&mut self) -> f64 {
        if let Some(cached) = self.cached.take() {
            return cached;
        }
        let (x, y, square) = loop {
            let x = 2.0 * self.random_sample() - 1.0;
            let y = 2.0 * self.random_sample() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square != 0.0 {
                break (x, y, square);
            }
        };
        let factor = (-2.0 * log::log(square) / square).sqrt();
        self.cached = Some(factor * x);
        factor * y
    }

    /// Returns a normal number with mean `loc` and standard deviation `scale`, `np.random.normal(loc, scale)`.
    pub fn normal(&mut self, loc: f64, scale: f64) -> f64 {
        loc + scale * self.standard_normal()
    }

    /// Fills `out` with normal numbers, `np.random.normal(loc, scale, size=len(out))`.
    pub fn fill_normal(&mut self, loc: f64, scale: f64, out: &mut [f64]) {
        for value in out {
            *value = self.normal(loc, scale);
        }
    }

    /// Fills `out` with uniform numbers, `np.random.random_sample(size=len(out))`.
    pub fn fill(&mut self, out: &mut [f64]) {
        for value in out {
            *value = self.random_sample();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator that gives these words next. Each is the word 397 places on in the state, with the two words at its own
    /// place mixed in, which are zeros.
    fn giving(words: &[u32]) -> LegacyRandom {
        let before =
            (0..624).map(|place: usize| place.checked_sub(397).and_then(|at| words.get(at).copied()).unwrap_or(0));
        LegacyRandom { bits: Mt::recover(before).expect("624 numbers"), cached: None }
    }

    /// The first pair of numbers is the centre, which has no direction, the second lies beyond the circle, the third is at
    /// (-1/2, -1/2): its square is 1/2, and it gives the number -sqrt(ln 2) twice.
    #[test]
    fn the_centre_of_the_disc_is_refused_and_what_lies_beyond_it() {
        let halves = [1 << 31, 0, 1 << 31, 0];
        let words = [halves, [0; 4], [1 << 30, 0, 1 << 30, 0]].concat();
        let mut uniform = [1.0; 6];
        giving(&words).fill(&mut uniform);
        assert_eq!(uniform, [0.5, 0.5, 0.0, 0.0, 0.25, 0.25]);
        let mut random = giving(&words);
        let expected = -std::f64::consts::LN_2.sqrt();
        for _ in 0..2 {
            let found = random.standard_normal();
            assert!((found - expected).abs() < 1e-15, "{found}");
        }
    }
}
