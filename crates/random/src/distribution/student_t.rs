//! Student's t distribution.

use super::beta::{BATCH, PlainOrLn};
use super::gamma::Gamma;
use super::normal::Normal;
use super::proposals::{self, PART};
use super::{
    Draw, Family, LARGEST_NORMAL, ParameterError, TurnsExhausted, beyond, finite, largest_number, no_draw_infinite,
    positive,
};
use crate::{FloatingPoint, Key};

/// Student's t distribution: a standard normal draw over the root of a chi-squared one by its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentT<T> {
    df: T,
    half: T,
    loc: T,
    scale: T,
    normal: Normal<T>,
    gamma: PlainOrLn<T>,
}

const NAME: &str = "Student t";

impl<T: FloatingPoint> StudentT<T> {
    /// Makes the distribution of `loc + scale t` with `df` degrees of freedom.
    ///
    /// # Errors
    /// When a parameter is not finite, `df` or `scale` is not positive, or a draw could be infinite: with 0.01 degrees of
    /// freedom one in 1200 would be in f64.
    pub fn new(df: T, loc: T, scale: T) -> Result<Self, ParameterError> {
        let one = T::from_f64(1.0);
        let df = positive(NAME, "df", df)?;
        let most = 0.5 * largest_number::<T>();
        if df.to_f64() > most {
            return Err(beyond((NAME, "df"), df, ("at most", 0.99 * most)));
        }
        let half = T::from_f64(0.5) * df;
        let (loc, scale) = (finite(NAME, "loc", loc)?, positive(NAME, "scale", scale)?);
        let gamma = PlainOrLn { gamma: Gamma::new(half, one)?, ln: half < one };
        let largest = largest(&gamma.gamma);
        if !T::from_f64(largest).is_finite() {
            return Err(beyond((NAME, "df"), df, ("at least", least_df::<T>())));
        }
        let scale = no_draw_infinite(NAME, loc, (scale, largest))?;
        Ok(Self { df, half, loc, scale, normal: Normal::new(T::default(), one)?, gamma })
    }

    #[inline(always)]
    fn quotient(&self, normal: T, gamma: T) -> T {
        let t = if self.gamma.ln {
            normal * (T::from_f64(0.5) * (self.half.ln() - gamma)).exp()
        } else {
            normal * (self.half / gamma).sqrt()
        };
        self.loc + self.scale * t
    }
}

/// Returns a number that no draw of loc 0 and scale 1 is farther from 0 than; `gamma` is that of half the degrees of
/// freedom.
fn largest<T: FloatingPoint>(gamma: &Gamma<T>) -> f64 {
    LARGEST_NORMAL * (0.5 * (gamma.shape.to_f64().ln() - gamma.least_ln())).exp()
}

/// Returns the fewest degrees of freedom with which no draw of scale 1 is infinite.
fn least_df<T: FloatingPoint>() -> f64 {
    let fits = |df: f64| {
        let gamma = Gamma::new(T::from_f64(0.5 * df), T::from_f64(1.0));
        gamma.is_ok_and(|gamma| T::from_f64(largest(&gamma)).is_finite())
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if fits(middle) { high = middle } else { low = middle }
    }
    1.01 * high
}

impl<T: FloatingPoint> Draw<T> for StudentT<T> {
    fn family(&self) -> (Family, [T; 3]) {
        (Family::StudentT, [self.df, self.loc, self.scale])
    }

    fn fill(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted> {
        T::fill(self, key, first, out)
    }
}

impl<T: FloatingPoint> StudentT<T> {
    pub(super) fn fill_here(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted> {
        let mut gammas = [T::default(); BATCH];
        for (number, out) in out.chunks_mut(BATCH).enumerate() {
            let (first, gammas) = (first + (number * BATCH) as u64, &mut gammas[..out.len()]);
            proposals::fill(&self.gamma, (key, first, 0), gammas)?;
            proposals::fill(&self.normal, (key, first, PART), out)?;
            out.iter_mut().zip(gammas).for_each(|(out, gamma)| *out = self.quotient(*out, *gamma));
        }
        Ok(())
    }
}

/// With a generator of `rand`: NaN where it refuses [`MOST_TURNS`](super::MOST_TURNS) times in a row, as none does whose
/// numbers are random.
impl<T: FloatingPoint> rand::distr::Distribution<T> for StudentT<T> {
    fn sample<R: rand::Rng + ?Sized>(&self, generator: &mut R) -> T {
        let gamma = proposals::draw_with(&self.gamma, generator);
        self.quotient(proposals::draw_with(&self.normal, generator), gamma)
    }
}
