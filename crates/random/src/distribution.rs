//! Distributions whose draws are addressed: draw `i` depends on the [`Key`] and on `i` alone.
//!
//! So the draws are the same for any batch, number of threads or devices; and as each is made of operations that are
//! rounded once, CPU and GPU give the same bits (`kernels/include/octopus/draws.cuh` is the twin).
//!
//! | Distribution | Parameters | How it is drawn |
//! |--|--|--|
//! | [`Uniform`] | low, high | scaled |
//! | [`Normal`] | loc, scale | quantile, Wichura's AS 241 |
//! | [`Exponential`] | scale | minus the logarithm |
//! | [`Gamma`] | shape, scale | Marsaglia and Tsang (2000), its test without cancellation |
//! | [`Beta`] | a, b | of two gammas |
//! | [`StudentT`] | degrees of freedom, loc, scale | of a normal and a gamma |
//! | [`VonMises`] | loc, concentration | Best and Fisher (1979), by half-angles |
//! | [`VonMisesFisher`] | direction, concentration | Wood (1994), by half-angles; a draw is a unit vector |
//! | [`WrappedNormal`] | loc, scale | a normal, wrapped |
//!
//! ```
//! use octopus_random::{Draw, Key, VonMises};
//!
//! let wind = VonMises::<f32>::new(0.0, 5.0)?;
//! let mut angles = vec![0.0; 1000];
//! wind.fill(Key::new(42), 0, &mut angles)?;
//! // Any part of it is the same on its own:
//! assert_eq!(angles[17], wind.draw(Key::new(42), 17)?);
//!
//! let error = VonMises::new(0.0, -1.0).unwrap_err();
//! assert_eq!(error.to_string(), "von Mises: concentration is -1; it must be at least 0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beta;
mod compiled;
mod exponential;
mod gamma;
mod normal;
mod proposals;
mod student_t;
mod uniform;
mod von_mises;
mod von_mises_fisher;
mod wrapped;

pub use beta::Beta;
pub(crate) use compiled::DrawnByAll;
pub use exponential::Exponential;
pub use gamma::Gamma;
pub use normal::Normal;
pub(crate) use proposals::SPAN;
pub use student_t::StudentT;
pub use uniform::Uniform;
pub use von_mises::VonMises;
pub(crate) use von_mises::{checked_concentration, checked_loc, fill_von_mises_each};
pub use von_mises_fisher::{MOST_DIMENSIONS, VonMisesFisher};
pub use wrapped::WrappedNormal;

use crate::{FloatingPoint, Key};
use std::borrow::Cow;
use thiserror::Error;

/// Turns that a draw has at the most: each is refused with a probability of at most 0.35.
pub const MOST_TURNS: u32 = 128;

/// A parameter with which there is no such distribution.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{distribution}: {parameter} is {value}; it must be {must}")]
pub struct ParameterError {
    /// The distribution, in words.
    pub distribution: &'static str,
    /// The parameter's name.
    pub parameter: &'static str,
    /// The value that was given.
    pub value: f64,
    /// What it must be.
    pub must: Cow<'static, str>,
}

/// A draw all of whose turns were refused: one in 10^58, unless the generator is broken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{distribution}: draw {index} was refused {MOST_TURNS} times; please report it, with seed and parameters")]
pub struct TurnsExhausted {
    /// The distribution, in words.
    pub distribution: &'static str,
    /// The number of the draw.
    pub index: u64,
}

/// The kind of a distribution: each has a kernel on GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// [`Uniform`]: low and width.
    Uniform,
    /// [`Normal`]: loc and scale.
    Normal,
    /// [`Exponential`]: scale.
    Exponential,
    /// [`Gamma`]: shape and scale.
    Gamma,
    /// [`Beta`]: a and b.
    Beta,
    /// [`StudentT`]: degrees of freedom, loc and scale.
    StudentT,
    /// [`VonMises`]: loc on the circle and concentration.
    VonMises,
    /// [`VonMisesFisher`]: concentration, and a [direction](Draw::direction).
    VonMisesFisher,
    /// [`WrappedNormal`]: loc on the circle and scale.
    WrappedNormal,
}

/// A distribution that makes draws by their number: each is a number, or a row of as many as there are dimensions.
pub trait Draw<T: FloatingPoint>: Send + Sync {
    /// Returns the kind of distribution, and its parameters as its kernel takes them: those that [`Family`] names, then
    /// zeros.
    fn family(&self) -> (Family, [T; 3]);

    /// Returns the parameter that is a vector, the mean direction of [`VonMisesFisher`]; others have none.
    fn direction(&self) -> &[T] {
        &[]
    }

    /// Returns how many numbers a draw is: those of a vector, or 1.
    fn dimensions(&self) -> usize {
        self.direction().len().max(1)
    }

    /// Fills `out` with draws `first`, `first + 1`, ..., on this thread, vectors one after the other. A last one that has
    /// no room is cut off.
    ///
    /// # Errors
    /// When all turns of a draw were refused; what is in `out` then means nothing.
    fn fill(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted>;

    /// Fills `out` with draws `first`, `first + 1`, ..., on all threads of rayon's pool.
    ///
    /// # Errors
    /// When all turns of a draw were refused; what is in `out` then means nothing.
    fn par_fill(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted> {
        T::fill_shares(self.dimensions(), first, out, &|first, out| self.fill(key, first, out))
    }
}

/// Returns `value` if it is finite and `allowed`.
fn checked<T: FloatingPoint>(
    (distribution, parameter, must): (&'static str, &'static str, &'static str),
    value: T,
    allowed: impl FnOnce(T) -> bool,
) -> Result<T, ParameterError> {
    if value.is_finite() && allowed(value) {
        Ok(value)
    } else {
        Err(ParameterError { distribution, parameter, value: value.to_f64(), must: must.into() })
    }
}

/// Returns a finite `value`.
fn finite<T: FloatingPoint>(
    distribution: &'static str,
    parameter: &'static str,
    value: T,
) -> Result<T, ParameterError> {
    checked((distribution, parameter, "a finite number"), value, |_| true)
}

/// Returns a finite `value` that is positive.
fn positive<T: FloatingPoint>(
    distribution: &'static str,
    parameter: &'static str,
    value: T,
) -> Result<T, ParameterError> {
    checked((distribution, parameter, "a finite number above 0"), value, |value| value > T::default())
}

/// No standard normal or exponential draw is larger than these, and no uniform one has a logarithm farther from 0 than the
/// latter, in either type.
const LARGEST_NORMAL: f64 = 9.0;
const LARGEST_EXPONENTIAL: f64 = 38.0;

/// Returns the error of a parameter that is on the wrong side of `limit`, beyond which a draw may be infinite or NaN.
fn beyond<T: FloatingPoint>(
    (distribution, parameter): (&'static str, &'static str),
    value: T,
    (side, limit): (&str, f64),
) -> ParameterError {
    let must = format!("{side} {limit:.2e}, so that every draw is a number of {}", T::NAME).into();
    ParameterError { distribution, parameter, value: value.to_f64(), must }
}

/// Returns the largest number of a type.
fn largest_number<T: FloatingPoint>() -> f64 {
    if T::from_f64(f64::MAX).is_finite() { f64::MAX } else { f64::from(f32::MAX) }
}

/// Returns `scale`, if draws that are up to `largest` in its unit are finite at a distance from `loc`.
fn no_draw_infinite<T: FloatingPoint>(
    distribution: &'static str,
    loc: T,
    (scale, largest): (T, f64),
) -> Result<T, ParameterError> {
    let reach = |scale: f64| loc.to_f64().abs() + scale * largest;
    if T::from_f64(reach(scale.to_f64())).is_finite() {
        return Ok(scale);
    }
    // A little less than the largest number, for what rounding adds.
    let most = largest_number::<T>();
    let room = 0.99 * most - loc.to_f64().abs();
    if room <= 0.0 {
        return Err(beyond((distribution, "loc"), loc, ("no farther from 0 than", 0.99 * most)));
    }
    Err(beyond((distribution, "scale"), scale, ("at most", 0.99 * room / largest)))
}

/// Distributions whose draws are numbers.
macro_rules! draws_are_numbers {
    ($($distribution:ident),*) => {$(
        impl<T: FloatingPoint> $distribution<T> {
            /// Returns draw `index`.
            ///
            /// # Errors
            /// When all turns of the draw were refused.
            pub fn draw(&self, key: Key, index: u64) -> Result<T, TurnsExhausted> {
                let mut one = [T::default()];
                self.fill(key, index, &mut one)?;
                Ok(one[0])
            }

            /// Returns a draw made of a stream's next numbers, as many as it needs; NaN where [`MOST_TURNS`] in a row were
            /// refused, as none does whose numbers are random.
            pub fn draw_from(&self, random: &mut crate::Stream) -> T {
                rand::distr::Distribution::sample(self, random)
            }
        }
    )*};
}

draws_are_numbers!(Uniform, Normal, Exponential, Gamma, Beta, StudentT, VonMises, WrappedNormal);

/// Distributions that are drawn by proposals of one kind.
macro_rules! drawn_by_proposals {
    ($($distribution:ident($($parameter:ident),*)),*) => {$(
        impl<T: FloatingPoint> Draw<T> for $distribution<T> {
            fn family(&self) -> (Family, [T; 3]) {
                let mut parameters = [T::default(); 3];
                for (place, value) in parameters.iter_mut().zip([$(self.$parameter),*]) {
                    *place = value;
                }
                (Family::$distribution, parameters)
            }

            fn fill(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted> {
                T::fill(self, key, first, out)
            }
        }

        impl<T: FloatingPoint> $distribution<T> {
            fn fill_here(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted> {
                proposals::fill(self, (key, first, 0), out)
            }
        }

        /// With a generator of `rand`: NaN where it refuses [`MOST_TURNS`] times in a row, as none does whose numbers are
        /// random.
        impl<T: FloatingPoint> rand::distr::Distribution<T> for $distribution<T> {
            fn sample<R: rand::Rng + ?Sized>(&self, generator: &mut R) -> T {
                proposals::draw_with(self, generator)
            }
        }
    )*};
}

drawn_by_proposals!(
    Uniform(low, width),
    Normal(loc, scale),
    Exponential(scale),
    Gamma(shape, scale),
    VonMises(loc, concentration),
    WrappedNormal(loc, scale)
);
