//! The beta distribution.

use super::gamma::Gamma;
use super::proposals::{self, PART, Propose};
use super::{Draw, Family, LARGEST_EXPONENTIAL, ParameterError, TurnsExhausted, beyond, largest_number, positive};
use crate::{FloatingPoint, Key};

/// The beta distribution: the share that one draw of a gamma distribution has in the sum of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta<T> {
    first: PlainOrLn<T>,
    second: PlainOrLn<T>,
}

/// A gamma distribution's draw, or its logarithm: two draws that are too small for their type still have a quotient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlainOrLn<T> {
    pub(super) gamma: Gamma<T>,
    pub(super) ln: bool,
}

const NAME: &str = "beta";

/// Draws that are combined at a time.
pub(super) const BATCH: usize = 512;

impl<T: FloatingPoint> Beta<T> {
    /// Makes the distribution with density proportional to x^(a - 1) (1 - x)^(b - 1).
    ///
    /// # Errors
    /// When a parameter is not finite or not positive, or so small or large that the draws of both gamma distributions
    /// could be beyond their type, whose quotient is then not defined.
    pub fn new(a: T, b: T) -> Result<Self, ParameterError> {
        let one = T::from_f64(1.0);
        let (a, b) = (positive(NAME, "a", a)?, positive(NAME, "b", b)?);
        // Logarithms have fewer digits, and are taken only where the draws themselves may be 0.
        let ln = a < one || b < one;
        let part = |parameter, shape: T| {
            let most = largest_number::<T>();
            let (least, most) = (1.01 * LARGEST_EXPONENTIAL / most, most / 1e3);
            if shape.to_f64() < least {
                return Err(beyond((NAME, parameter), shape, ("at least", least)));
            }
            if shape.to_f64() > most {
                return Err(beyond((NAME, parameter), shape, ("at most", most)));
            }
            Ok(PlainOrLn { gamma: Gamma::new(shape, one)?, ln })
        };
        Ok(Self { first: part("a", a)?, second: part("b", b)? })
    }

    #[inline(always)]
    fn share(&self, first: T, second: T) -> T {
        let one = T::from_f64(1.0);
        if self.first.ln { one / (one + (second - first).exp()) } else { first / (first + second) }
    }
}

impl<T: FloatingPoint> Propose<T> for PlainOrLn<T> {
    #[inline(always)]
    fn propose(&self, bits: [T::Bits; 2]) -> ([T; 2], T) {
        self.gamma.propose(bits)
    }

    #[inline(always)]
    fn takes(&self, test: T, bits: [T::Bits; 2]) -> bool {
        self.gamma.takes(test, bits)
    }

    #[inline(always)]
    fn finish(&self, taken: [T; 2], extra: T::Bits) -> T {
        if self.ln { self.gamma.ln_of(taken[0], extra) } else { self.gamma.finish(taken, extra) }
    }

    fn name(&self) -> &'static str {
        self.gamma.name()
    }

    fn needs_extra(&self) -> bool {
        self.gamma.needs_extra()
    }
}

impl<T: FloatingPoint> Draw<T> for Beta<T> {
    fn family(&self) -> (Family, [T; 3]) {
        (Family::Beta, [self.first.gamma.shape, self.second.gamma.shape, T::default()])
    }

    fn fill(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted> {
        T::fill(self, key, first, out)
    }
}

impl<T: FloatingPoint> Beta<T> {
    pub(super) fn fill_here(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted> {
        let mut others = [T::default(); BATCH];
        for (number, out) in out.chunks_mut(BATCH).enumerate() {
            let (first, others) = (first + (number * BATCH) as u64, &mut others[..out.len()]);
            proposals::fill(&self.first, (key, first, 0), out)?;
            proposals::fill(&self.second, (key, first, PART), others)?;
            out.iter_mut().zip(others).for_each(|(out, other)| *out = self.share(*out, *other));
        }
        Ok(())
    }
}

/// With a generator of `rand`: NaN where it refuses [`MOST_TURNS`](super::MOST_TURNS) times in a row, as none does whose
/// numbers are random.
impl<T: FloatingPoint> rand::distr::Distribution<T> for Beta<T> {
    fn sample<R: rand::Rng + ?Sized>(&self, generator: &mut R) -> T {
        let first = proposals::draw_with(&self.first, generator);
        self.share(first, proposals::draw_with(&self.second, generator))
    }
}
