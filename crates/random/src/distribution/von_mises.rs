//! The von Mises distribution of angles, by half-angles.
//!
//! Best and Fisher (1979, Applied Statistics 28) propose angles of a wrapped Cauchy distribution. They have its cosine w,
//! and the angle as acos w, which for large concentrations has lost all digits that matter. With r the envelope's mean
//! resultant length, h = (1 - r) / (1 + r), and v uniform in (0, 1), the same proposal is
//!
//! tan(angle / 2) = h tan(pi v / 2),
//!
//! of which nothing is ever subtracted; and their test, u < y exp(1 - y) with y = concentration (s - w), has
//! y = c (1 - r)^2 / (2 r) + 2 c sin^2(angle / 2). So one form holds for all concentrations, in f32 as in f64.

use super::proposals::{self, Propose, SPAN};
use super::{ParameterError, TurnsExhausted, finite};
use crate::{FloatingPoint, Key, circular};
use std::f64::consts::{PI, TAU};

/// The von Mises distribution of angles in radians, around `loc`; uniform on the circle for a concentration of 0.
///
/// Draws are in [-pi, pi].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VonMises<T> {
    pub(super) loc: T,
    pub(super) concentration: T,
    envelope: Envelope<T>,
}

/// The wrapped Cauchy distribution that proposes, and what its test needs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Envelope<T> {
    /// h, by which the tangent of half an angle is smaller than that of a uniform one.
    shrink: T,
    /// h squared.
    square: T,
    /// y at an angle of 0.
    least: T,
    /// 2 concentration h^2, by which y grows.
    growth: T,
}

const NAME: &str = "von Mises";

impl<T: FloatingPoint> VonMises<T> {
    /// Makes the distribution around the angle `loc`, in radians, of which any whole number of turns is taken away.
    ///
    /// An infinite concentration gives `loc` always.
    ///
    /// # Errors
    /// When `loc` is not finite, or `concentration` is negative or NaN.
    pub fn new(loc: T, concentration: T) -> Result<Self, ParameterError> {
        Ok(Self::of_checked(checked_loc(loc)?, checked_concentration(concentration)?))
    }

    /// Makes the distribution of parameters that were checked.
    #[inline(always)]
    fn of_checked(loc: T, concentration: T) -> Self {
        Self { loc, concentration, envelope: Envelope::of(concentration) }
    }

    /// Returns the mean direction, in [-pi, pi].
    #[must_use]
    pub fn loc(&self) -> T {
        self.loc
    }

    /// Returns the concentration.
    #[must_use]
    pub fn concentration(&self) -> T {
        self.concentration
    }
}

/// Returns the angle of [-pi, pi] that a finite `loc` is.
pub(crate) fn checked_loc<T: FloatingPoint>(loc: T) -> Result<T, ParameterError> {
    Ok(on_circle(finite(NAME, "loc", loc)?))
}

/// Returns a concentration that is not negative.
pub(crate) fn checked_concentration<T: FloatingPoint>(concentration: T) -> Result<T, ParameterError> {
    if concentration >= T::default() {
        return Ok(concentration);
    }
    let value = concentration.to_f64();
    Err(ParameterError { distribution: NAME, parameter: "concentration", value, must: "at least 0".into() })
}

/// Fills a span with draws `first`, `first + 1`, ... of parameters of their own, which were checked; `first` is a multiple
/// of the span's size.
pub(crate) fn fill_von_mises_each<T: FloatingPoint>(
    [loc, concentration]: [&[T; SPAN]; 2],
    (key, first): (Key, u64),
    out: &mut [T; SPAN],
) -> Result<(), TurnsExhausted> {
    let distribution_at = |place: usize| VonMises::of_checked(loc[place], concentration[place]);
    proposals::fill_each(distribution_at, (key, first), out)
}

/// Returns the angle of [-pi, pi] that is a whole number of turns away.
///
/// The remainder is exact, so that the error is that of 2 pi itself: 4e-17 of the angle.
pub(super) fn on_circle<T: FloatingPoint>(angle: T) -> T {
    let rest = angle.to_f64() % TAU;
    let rest = if rest > PI { rest - TAU } else { rest };
    T::from_f64(if rest < -PI { rest + TAU } else { rest })
}

/// Returns the sum of two angles of [-pi, pi], on the circle again.
#[inline(always)]
pub(super) fn turned<T: FloatingPoint>(loc: T, angle: T) -> T {
    let (pi, tau) = (T::from_f64(PI), T::from_f64(TAU));
    let sum = loc + angle;
    let sum = if sum > pi { sum - tau } else { sum };
    let sum = if sum < -pi { sum + tau } else { sum };
    // The sum's rounding may have left it a digit beyond.
    let sum = if sum > pi { pi } else { sum };
    if sum < -pi { -pi } else { sum }
}

impl<T: FloatingPoint> Envelope<T> {
    /// Every case is worked out, and one is chosen: so a loop over many concentrations becomes vector code.
    #[inline(always)]
    fn of(concentration: T) -> Self {
        let (zero, half) = (T::default(), T::from_f64(0.5));
        let (plain, huge) = (Self::plain(concentration), Self::huge(concentration));
        let finite = if concentration > T::from_f64(T::ROOT_IS_HUGE) { huge } else { plain };
        let infinite = Self { shrink: zero, square: zero, least: half, growth: zero };
        if concentration == T::from_f64(f64::INFINITY) { infinite } else { finite }
    }

    #[inline(always)]
    fn plain(concentration: T) -> Self {
        let number = T::from_f64;
        let (one, two, four) = (number(1.0), number(2.0), number(4.0));
        let double = two * concentration;
        let root = (one + double * double).sqrt();
        let tau = one + root;
        let mean = (two * tau).sqrt();
        // tau + mean - 2 concentration, which is (1 - r) (tau + mean).
        let apart = (one + one / (root + double)) + mean;
        let shrink = apart / ((tau + double) + mean);
        let least = apart * apart / (four * (tau + mean));
        Self { shrink, square: shrink * shrink, least, growth: double * shrink * shrink }
    }

    /// 1 is nothing beside the root of the concentration, whose square would be too large.
    #[inline(always)]
    fn huge(concentration: T) -> Self {
        let (one, two) = (T::from_f64(1.0), T::from_f64(2.0));
        let root = concentration.sqrt();
        let shrink = one / (two * root + one);
        let tangent = root * shrink;
        let least = root / (two * (root + one));
        Self { shrink, square: shrink * shrink, least, growth: two * tangent * tangent }
    }
}

impl<T: FloatingPoint> Propose<T> for VonMises<T> {
    #[inline(always)]
    fn propose(&self, bits: [T::Bits; 2]) -> ([T; 2], T) {
        let Envelope { shrink, square, least, growth } = self.envelope;
        let (negative, far, x) = T::halves(bits[0]);
        let (sine, cosine) = x.sin_cos_quarter();
        let (above, below) = (if far { cosine } else { sine }, if far { sine } else { cosine });
        let sides = above * above;
        let y = least + growth * sides / (below * below + square * sides);
        let tangent = shrink * above;
        ([if negative { -tangent } else { tangent }, below], y)
    }

    #[inline(always)]
    fn takes(&self, y: T, bits: [T::Bits; 2]) -> bool {
        T::uniform(bits[1]) <= y * (T::from_f64(1.0) - y).exp()
    }

    #[inline(always)]
    fn finish(&self, [above, below]: [T; 2], _: T::Bits) -> T {
        let half = T::arctangent(above.abs(), below);
        let angle = half + half;
        turned(self.loc, if above < T::default() { -angle } else { angle })
    }

    fn name(&self) -> &'static str {
        NAME
    }
}

/// What is known of the distribution, in f64 and of its parameters as their type holds them. The functions of
/// [`circular`](crate::circular) say how exact each is.
impl<T: FloatingPoint> VonMises<T> {
    fn numbers(&self) -> (f64, f64) {
        (self.loc.to_f64(), self.concentration.to_f64())
    }

    /// Returns the logarithm of the density at `angle`, in radians.
    #[must_use]
    pub fn log_density(&self, angle: f64) -> f64 {
        let (loc, concentration) = self.numbers();
        circular::von_mises_log_density(angle, loc, concentration)
    }

    /// Returns the probability of angles from `loc - pi` to `angle`.
    #[must_use]
    pub fn cdf(&self, angle: f64) -> f64 {
        let (loc, concentration) = self.numbers();
        circular::von_mises_cdf(angle, loc, concentration)
    }

    /// Returns the angle below which the probability is `p`, of [0, 1], from `loc - pi` to `loc + pi`.
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        let (loc, concentration) = self.numbers();
        circular::von_mises_quantile(p, loc, concentration)
    }

    /// Returns the entropy, in nats.
    #[must_use]
    pub fn entropy(&self) -> f64 {
        circular::von_mises_entropy(self.concentration.to_f64())
    }

    /// Returns the mean of cos(angle - loc), I1 over I0 of the concentration.
    #[must_use]
    pub fn mean_resultant_length(&self) -> f64 {
        circular::von_mises_mean_resultant_length(self.concentration.to_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By mpmath's quadrature at 30 digits, for a concentration of 3 around 0.25: at the angle 1, and of 0.9.
    #[test]
    fn what_is_known_of_a_distribution_is_exact() {
        let own = VonMises::new(0.25, 3.0).unwrap();
        for (got, expected) in [
            (own.log_density(1.0), EXACT[0]),
            (own.cdf(1.0), EXACT[1]),
            (own.quantile(0.9), EXACT[2]),
            (own.entropy(), EXACT[3]),
            (own.mean_resultant_length(), EXACT[4]),
        ] {
            assert!((got - expected).abs() < 1e-12 * expected.abs(), "{got} {expected}");
        }
    }

    /// What proposes is the same from where 1 is nothing beside the root on, and shrinks to a point.
    #[test]
    fn the_envelope_of_an_infinite_concentration_is_the_limit_of_large_ones() {
        fn compare<T: FloatingPoint>(large: f64) {
            let [large, infinite] = [large, f64::INFINITY].map(|value| Envelope::of(T::from_f64(value)));
            assert_eq!(large.least, infinite.least);
            for (near, limit) in [(large.shrink, infinite.shrink), (large.square, infinite.square)] {
                assert!(near.to_f64() < 1e-15 && limit == T::default(), "{near} {limit}");
            }
        }
        compare::<f64>(1e300);
        compare::<f32>(1e38);
    }

    const EXACT: [f64; 5] = [
        -1.2281180816013037,
        0.884_175_783_664_299_2,
        1.0573319209535407,
        0.993_228_806_353_252_8,
        0.809_985_293_956_504_5,
    ];
}
