//! Random numbers and elementary functions with the same bits on every machine, thread count and processor.
//!
//! | you want | use |
//! |--|--|
//! | random numbers that depend on nothing but what they are for | [`Stream`] |
//! | draws of distributions by their number, von Mises among them | [`distribution`], [`Key`] |
//! | Poisson, binomial and hypergeometric draws | [`counts`] |
//! | an array of von Mises draws, parameters broadcast | [`sample_von_mises`], [`fill_von_mises`] |
//! | unit vectors around a direction | [`sample_von_mises_fisher`] |
//! | density, distribution function, quantile and entropy on the circle | [`circular`], [`VonMises`] |
//! | modified Bessel functions without overflow | [`bessel`] |
//! | `rand`'s distributions with our random numbers | [`Stream`], which is a generator of `rand` |
//! | the generator underneath | [`philox4x32_10`] |
//! | exp, ln and the normal quantile with the same bits on CPU and GPU | [`exact`] |
//! | pow, ln Gamma, the normal distribution function and 30 more with the same bits everywhere | [`exact`] |
//! | the order in which numbers are added, the same on CPU and GPU | [`warp`] |
//! | NumPy's `np.random.seed(...)` data, bit for bit | [`numpy`] |
//!
//! ```
//! use octopus_random::{Purpose, Stream};
//!
//! // Chain 0, iteration 17 of the run with seed 42:
//! let mut momentum = Stream::new(42, 0, 17, Purpose::Momentum);
//! let first = momentum.normal();
//! // The same address gives the same number, wherever and whenever it is asked for.
//! assert_eq!(first, Stream::new(42, 0, 17, Purpose::Momentum).normal());
//! ```
#![forbid(unsafe_code)]

pub mod bessel;
pub mod circular;
pub mod counts;
pub mod distribution;
pub mod exact;
mod floating_point;
mod generator;
mod key;
pub mod numpy;
mod philox;
mod sample;
mod stream;
pub mod warp;

pub use distribution::{
    Beta, Draw, Exponential, Gamma, Normal, StudentT, Uniform, VonMises, VonMisesFisher, WrappedNormal,
};
pub use distribution::{Family, ParameterError, TurnsExhausted};
pub use floating_point::FloatingPoint;
pub use key::Key;
pub use philox::philox4x32_10;
pub use sample::{BroadcastParameter, SampleError, fill_von_mises, sample_von_mises, sample_von_mises_fisher};
pub use stream::{Purpose, Stream};
